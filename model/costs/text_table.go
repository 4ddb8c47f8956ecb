package costs

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// textTable is rows of texts in columns; the last column is as long as it is.
type textTable struct {
	rows  [][]string
	right []bool // columns of numbers
}

// column adds a column by its title.
func (t *textTable) column(title string, right bool) {
	if len(t.rows) == 0 {
		t.rows = append(t.rows, nil)
	}
	t.rows[0] = append(t.rows[0], title)
	t.right = append(t.right, right)
}

// add adds a row of as many cells as there are columns.
func (t *textTable) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *textTable) write(out io.Writer) {
	widths := make([]int, len(t.right))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			blanks := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == len(row)-1 {
				blanks = ""
			}
			line.WriteString("  ")
			if t.right[i] {
				line.WriteString(blanks + cell)
			} else {
				line.WriteString(cell + blanks)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}
