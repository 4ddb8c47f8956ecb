package themes

import "testing"

func TestPalette256(t *testing.T) {
	for n, want := range map[uint8]uint32{
		0: 0x000000, 9: 0xff0000, 15: 0xffffff, 16: 0x000000, 21: 0x0000ff, 67: 0x5f87af,
		196: 0xff0000, 231: 0xffffff, 232: 0x080808, 255: 0xeeeeee,
	} {
		if got := Palette256(n); got != want {
			t.Errorf("Palette256(%d) = %06x, want %06x", n, got, want)
		}
	}
}

func TestNearestFindsWhatIsThere(t *testing.T) {
	for n := 16; n < 256; n++ {
		hex := Palette256(uint8(n))
		if got := Palette256(Nearest256(hex)); got != hex {
			t.Errorf("Nearest256(%06x) is %06x", hex, got)
		}
	}
	for n, hex := range palette16 {
		if got := Nearest16(hex); got != uint8(n) {
			t.Errorf("Nearest16(%06x) = %d, want %d", hex, got, n)
		}
	}
}

func TestParseColor(t *testing.T) {
	for _, c := range []struct {
		text string
		want Color
	}{
		{"default", Color{}},
		{"#ff0000", Color{RGB(0xff0000), Index(196), Index(9)}},
		{"11", Color{Index(11), Index(11), Index(11)}},
		{"231", Color{Index(231), Index(231), Index(15)}},
	} {
		if got, err := ParseColor(c.text); err != nil || got != c.want {
			t.Errorf("ParseColor(%q) = %v, %v, want %v", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", "red", "#fff", "#ggggggg", "#1234567", "256", "-1", "#+12345"} {
		if got, err := ParseColor(text); err == nil {
			t.Errorf("ParseColor(%q) = %v, want an error", text, got)
		}
	}
}

func TestValueForms(t *testing.T) {
	if !Value(0).IsDefault() || Index(0).IsDefault() || RGB(0).IsDefault() {
		t.Error("only the zero value is the default")
	}
	if n, ok := Index(200).Index(); !ok || n != 200 {
		t.Errorf("Index(200) reads back as %d, %v", n, ok)
	}
	if r, g, b, ok := RGB(0x010203).RGB(); !ok || r != 1 || g != 2 || b != 3 {
		t.Errorf("RGB(0x010203) reads back as %d %d %d %v", r, g, b, ok)
	}
	if _, ok := RGB(5).Index(); ok {
		t.Error("a 24-bit colour is no palette number")
	}
}

func TestColorInProfile(t *testing.T) {
	c := hue(0x112233, 44, 5)
	for profile, want := range map[Profile]Value{NoColor: 0, Ansi16: Index(5), Ansi256: Index(44), TrueColor: RGB(0x112233)} {
		if got := c.In(profile); got != want {
			t.Errorf("in %s: %x, want %x", profile, got, want)
		}
	}
}
