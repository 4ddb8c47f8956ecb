package main

import (
	"os"
	"strings"
	"testing"

	"vramscope/ui/keymap"
)

// TestReadmeListsTheKeys holds the README's table of keys to the one list that
// dispatch, hints and help come from.
func TestReadmeListsTheKeys(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if keys := strings.TrimSpace(keymap.Markdown()); !strings.Contains(string(readme), keys) {
		t.Error("README.md does not hold the table of keys as ui/keymap has it; put in what keymap.Markdown returns")
	}
}

// TestReadmeNamesTheTestCommand: .ci/run and the README run the same command.
func TestReadmeNamesTheTestCommand(t *testing.T) {
	for file, command := range map[string]string{"README.md": "\nmake test ", ".ci/run": "\nexec make test\n"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), command) {
			t.Errorf("%s does not run make test", file)
		}
	}
}

// TestReadmeNamesEveryCommand: what the program can do is in its README.
func TestReadmeNamesEveryCommand(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	p := &program{settings: defaultSettings(), lookup: os.LookupEnv}
	for _, command := range p.rootCommand().Commands() {
		if !strings.Contains(string(readme), "vramscope "+command.Name()) {
			t.Errorf("README.md does not name vramscope %s", command.Name())
		}
	}
}

// TestBareStartIsTold: where a start without a program or a GPU leads, say the
// README and the help.
func TestBareStartIsTold(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	help, _, _ := run(t, "--help")
	for name, text := range map[string]string{"README.md": string(readme), "the help": help} {
		text = strings.Join(strings.Fields(strings.ReplaceAll(text, "`", "")), " ")
		if !strings.Contains(text, "it starts a demo render and shows that; c then goes to a real program that appears") {
			t.Errorf("%s does not say what a start without a program shows", name)
		}
	}
}
