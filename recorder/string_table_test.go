package recorder

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A table that is built from what an interner hands out gives every number its
// string, and a copy of the table does not change.
func TestInternerAndTableAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, table := NewInterner(), StringTable{}
		numbers := map[string]uint32{}
		type view struct {
			table StringTable
			said  string
		}
		say := func(table *StringTable) string {
			var text strings.Builder
			for number := range uint32(table.Len()) + 3 {
				fmt.Fprintf(&text, "%q ", table.String(number))
			}
			return text.String()
		}
		var views []view
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			text := randomText.Draw(t, "text")
			number := in.Number(text)
			if known, ok := numbers[text]; ok && known != number || (number == 0) != (text == "") {
				t.Fatalf("%q has the number %d and %d", text, known, number)
			}
			numbers[text] = number
			if rapid.Bool().Draw(t, "flush") {
				lost := rapid.IntRange(0, 5).Draw(t, "lost") == 0
				in.Flush(Head{}, func(record *Strings) {
					if !lost {
						table.Add(record)
					}
				})
				views = append(views, view{table, say(&table)})
			}
		}
		in.All(Head{}, func(record *Strings) { table.Add(record) })
		for text, number := range numbers {
			if got, known := table.Lookup(number); !known || got != text || in.Text(number) != text {
				t.Fatalf("number %d is %q, want %q", number, got, text)
			}
		}
		for i, v := range views {
			if said := say(&v.table); said != v.said {
				t.Fatalf("view %d changed from %s to %s", i, v.said, said)
			}
		}
	})
}

func TestStringTable(t *testing.T) {
	var table StringTable
	if err := table.Add(&Strings{First: 3, Strings: []string{"c", ""}}); err != nil {
		t.Fatal(err)
	}
	table.Add(&Strings{First: 3, Strings: []string{"another c"}}) // a number keeps its string
	for number, want := range map[uint32]string{0: "", 1: "#1", 3: "c", 4: "", 5: "#5", FoldedName: "…"} {
		if got := table.String(number); got != want {
			t.Errorf("%d: got %q, want %q", number, got, want)
		}
	}
	table.Add(&Strings{First: FoldedName, Strings: []string{"no", "no"}}) // not a number of a string
	table.Reset()
	if table.Len() != 0 || table.String(3) != "#3" {
		t.Error("a table that was reset knows strings")
	}
}

func TestStringsAreBounded(t *testing.T) {
	var table StringTable
	if err := table.Add(&Strings{First: MaxStrings, Strings: []string{"last", "too many"}}); !errors.Is(err, ErrTooManyStrings) {
		t.Errorf("got %v", err)
	}
	long := strings.Repeat("x", 1<<20)
	var err error
	for number := uint32(1); number < 40 && err == nil; number++ {
		err = table.Add(&Strings{First: number, Strings: []string{long}})
	}
	if !errors.Is(err, ErrTooManyStrings) || table.bytes > MaxStringBytes {
		t.Errorf("%d bytes are kept, %v", table.bytes, err)
	}
	in := NewInterner()
	number := in.Number(long)
	if text := in.Text(number); len(text) > maxInternedString+len(foldedText) || in.Number(long) != number {
		t.Errorf("a long string has %d bytes", len(text))
	}
	for n := range 20_000 {
		in.Number(fmt.Sprint(strings.Repeat("y", 4000), n))
	}
	if in.Number("one more") != FoldedName && in.bytes > MaxStringBytes {
		t.Errorf("%d bytes of strings are kept", in.bytes)
	}
	in.All(Head{Src: "pid:1"}, func(record *Strings) {
		if line := mustLine(t, record); len(line) > MaxLine {
			t.Fatalf("a line of %d bytes", len(line))
		}
	})
}
