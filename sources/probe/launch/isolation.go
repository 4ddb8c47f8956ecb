package launch

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Isolation is an option of Python's that keeps the probe out.
type Isolation struct {
	Interpreter string // as it is called: python3
	Option      string // I, E or S
	Script      string // the script whose first line says so, "" where the command does
}

// String is one sentence that says why and what to do.
func (i *Isolation) String() string {
	where := ""
	if i.Script != "" {
		where = ", in the first line of " + i.Script + ","
	}
	why := "leaves PYTHONPATH aside"
	if i.Option == "S" {
		why = "runs no sitecustomize"
	}
	return fmt.Sprintf("the probe cannot enter, since %s -%s%s %s: leave -%s out, or let the program import vramscope_probe, which vramscope probe prints",
		i.Interpreter, i.Option, where, why, i.Option)
}

// interpreter is what a Python is called.
var interpreter = regexp.MustCompile(`^(python|pypy)[0-9.]*[dt]?$`)

// Isolated says which option keeps the probe out of the Python that a command
// starts, nil if none does. It looks at the command, and at the first line of a
// script that is the command.
func Isolated(argv []string) *Isolation {
	if found, isPython := isolatedBy(argv); isPython {
		return found
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil
	}
	found, _ := isolatedBy(firstLine(path))
	if found != nil {
		found.Script = argv[0]
	}
	return found
}

// IsolatedPython says which option keeps the probe out of a Python that runs, by
// its command line, nil if none does.
func IsolatedPython(command []string) *Isolation {
	if len(command) == 0 {
		return nil
	}
	option := isolatingOption(command[1:])
	if option == "" {
		return nil
	}
	return &Isolation{Interpreter: filepath.Base(command[0]), Option: option}
}

// isolatedBy looks for a Python in a command, whatever stands before it (env,
// nice, uv run), and at its options.
func isolatedBy(words []string) (found *Isolation, isPython bool) {
	for i, word := range words {
		name := filepath.Base(word)
		if !interpreter.MatchString(name) {
			continue
		}
		if option := isolatingOption(words[i+1:]); option != "" {
			return &Isolation{Interpreter: name, Option: option}, true
		}
		return nil, true
	}
	return nil, false
}

// isolatingOption goes through Python's own options, up to the program.
func isolatingOption(options []string) string {
	for i := 0; i < len(options); i++ {
		word := options[i]
		if word == "--check-hash-based-pycs" {
			i++
			continue
		}
		if strings.HasPrefix(word, "--") && word != "--" {
			continue
		}
		if len(word) < 2 || word[0] != '-' || word == "--" {
			return ""
		}
		for at, letter := range word[1:] {
			switch letter {
			case 'I', 'E', 'S':
				return string(letter)
			case 'c', 'm':
				return "" // the program, or its name, follows
			}
			if letter == 'W' || letter == 'X' {
				if at == len(word)-2 {
					i++ // its value is the next word
				}
				break
			}
		}
	}
	return ""
}

// firstLine is the command in the first line of a script, nil if the file is
// none.
func firstLine(path string) []string {
	line, _ := scriptLine(path)
	return strings.Fields(line)
}
