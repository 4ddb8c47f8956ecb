package main

import (
	"regexp"
	"testing"

	"vramscope/pool/cuda"
)

// The version says whether the local GPU can be used, and by which headers.
func TestCUDAIsInTheVersion(t *testing.T) {
	out, _, code := run(t, "--version")
	want := `^vramscope \S+ \(CUDA: no\)\n$`
	if cuda.Included {
		want = `^vramscope \S+ \(CUDA: yes, headers 1[1-9]\.\d\)\n$`
	}
	if code != exitFine || !regexp.MustCompile(want).MatchString(out) {
		t.Errorf("--version: %d %q", code, out)
	}
}
