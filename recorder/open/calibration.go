package open

import (
	"io"
	"os"
	"regexp"
	"strings"

	"vramscope/recorder"
	"vramscope/recorder/algan"
)

// alganTable is an assignment that a module of algan's tables has, and hardly
// another module of Python. The whole of them has its head in front of the
// tables.
var alganTable = regexp.MustCompile(`(?m)^(SCHEMA_FINGERPRINT|ENV_FINGERPRINT|TRACES|DENSITY_SAFETY|NONARENA)[ \t]*=[^=]`)

func isAlganModule(c *content) bool { return len(c.layers) == 0 && alganTable.MatchString(c.text) }

func isAlganProbe(c *content) bool {
	keys := topKeys(c.text)
	return len(c.layers) == 0 && keys["trace"] && (keys["fingerprint"] || keys["key"])
}

func isAlganBenchmark(c *content) bool {
	return strings.HasPrefix(c.text, "[") && strings.Contains(c.text, `"peak_alloc_mb"`)
}

func readAlganModule(path string) (*recorder.Costs, error) { return readCosts(path, algan.ReadModule) }

func readAlganProbe(path string) (*recorder.Costs, error) { return readCosts(path, algan.ReadProbe) }

func readCosts(path string, read func(io.Reader) (*recorder.Costs, error)) (*recorder.Costs, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &recorder.FileError{Path: path, Do: "open", Err: err}
	}
	defer file.Close()
	return read(file)
}
