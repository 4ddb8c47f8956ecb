package main

import "testing"

func TestByteSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "123": 123, "1k": 1024, "1KiB": 1024, "1kB": 1000, "2GiB": 2 << 30, "2 GiB": 2 << 30,
		"1.5G": 3 << 29, "2GB": 2e9, "512MiB": 512 << 20, "1T": 1 << 40, " 7b ": 7,
	} {
		var size byteSize
		if err := size.Set(text); err != nil || int64(size) != want {
			t.Errorf("%q: got %d, %v; want %d", text, size, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "1e3", "NaN", "GiB", "1.2.3", "9999999999G", "1 GiB GiB", "0x10"} {
		var size byteSize
		if err := size.Set(text); err == nil {
			t.Errorf("%q: taken as %d", text, size)
		}
	}
	size := byteSize(3 << 20)
	if got := size.String(); got != "3MiB" {
		t.Errorf("3 MiB prints as %q", got)
	}
}
