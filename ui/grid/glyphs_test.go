package grid

import (
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"vramscope/themes"
)

// Every character that the program draws with is one column wide however one
// counts, stands by itself, and is none that terminals may show as a picture.
func TestGlyphsAreOneColumn(t *testing.T) {
	value := reflect.ValueOf(*themes.UnicodeGlyphs())
	check := func(name string, char rune) {
		text := string(char)
		switch {
		case simpleWidth(char) != 1:
			t.Errorf("%s is %q (%U), which Set does not draw", name, char, char)
		case ansi.StringWidth(text) != 1 || ansi.StringWidthWc(text) != 1:
			t.Errorf("%s is %q (%U), which is not one column wide", name, char, char)
		case strings.ContainsRune(pictures, char):
			t.Errorf("%s is %q (%U), which may be shown as a picture", name, char, char)
		}
	}
	for i := range value.NumField() {
		name := value.Type().Field(i).Name
		switch field := value.Field(i); field.Kind() {
		case reflect.Int32:
			check(name, rune(field.Int()))
		case reflect.Array:
			for j := range field.Len() {
				check(name, rune(field.Index(j).Int()))
			}
		}
	}
	for dots := range 256 {
		check("braille", braille+rune(dots))
	}
}

// pictures are the runes of the ranges that Set draws that Unicode calls
// emoji.
const pictures = "©®‼⁉↔↕↖↗↘↙↩↪▪▫▶◀◻◼◽◾✂✔✖✝✡⤴⤵⬅⬆⬇"
