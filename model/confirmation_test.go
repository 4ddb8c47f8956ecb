package model

import (
	"strings"
	"testing"

	"vramscope/recorder"
)

// TestARebuildInPython: torch's allocator cannot be built again, and the question
// promises nothing else.
func TestARebuildInPython(t *testing.T) {
	python := obedient()
	hello := *python.Hello
	hello.Python = "3.12.3"
	python.Hello = &hello
	for _, check := range []struct {
		view *SourceView
		want bool
	}{{obedient(), false}, {python, true}} {
		if text := Confirmation(recorder.CommandRebuild, []*SourceView{check.view}); strings.Contains(text, "its caches are emptied instead") != check.want {
			t.Errorf("%q", text)
		}
	}
}

// TestADeviceHasItsNameBefore it was told: a program that says hello again once
// it has seen its GPUs. It has its number where there is another one of the name.
func TestADeviceHasItsNameBefore(t *testing.T) {
	newest := &SourceView{Hello: &recorder.Hello{GPUs: []recorder.GPU{{Ordinal: 1, UUID: "GPU-4f2e", Name: "H200"}}}}
	past := &SourceView{Hello: &recorder.Hello{}, Past: true, newest: newest}
	if h := HeadroomOf(past, nil, "GPU-4f2e", 0); h.Name != "H200" {
		t.Errorf("it is called %q", h.Name)
	}
	newest.Hello.GPUs = append(newest.Hello.GPUs, recorder.GPU{Ordinal: 0, UUID: "GPU-51aa", Name: "H200"})
	if h := HeadroomOf(past, nil, "GPU-4f2e", 0); h.Name != "H200 #1" {
		t.Errorf("beside another one it is called %q", h.Name)
	}
}
