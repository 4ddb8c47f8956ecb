package ui

import (
	"strings"
	"testing"

	"vramscope/arena"
	"vramscope/model"
	"vramscope/ui/layout"
)

// framesFixture is a program whose scope was run for some numbers of frames: 4
// items however many, and 3 for each.
func framesFixture(t *testing.T, frames ...int64) *fixture {
	f := newFixture(t)
	f.newArena("frames", 1*gib)
	for _, n := range frames {
		post := f.arena.Scope("postprocess", arena.Int(model.FramesParam, n), arena.Int("width", 480))
		f.must(f.arena.AllocTyped(arena.DTypeFloat32, false, 4+3*n))
		post.End()
	}
	return f
}

// TestScopeSizedForOtherFrames: a recorded scope says its peak for any number of
// frames where its runs tell, and else why not.
func TestScopeSizedForOtherFrames(t *testing.T) {
	for _, test := range []struct {
		name   string
		frames []int64
		want   string
	}{
		{"two numbers of frames", []int64{1, 3}, "own peak for 3 frames 52 B"},
		{"one frame alone", []int64{1, 1}, "own peak for 3 frames, at most 84 B"},
		{"as many frames always", []int64{4, 4}, "own peak for 3 frames all runs were for 4 frames: record another number"},
	} {
		d := newScreen(t, framesFixture(t, test.frames...).snapshot(), layout.Scopes, 140, 40)
		press(d, "home", "+", "+")
		if text := paneText(t, d, layout.ScopePane); !strings.Contains(text, test.want) {
			t.Errorf("%s: the scope says\n%s", test.name, text)
		}
		if !strings.Contains(d.message.text, "replayed for 3 frames") {
			t.Errorf("%s: the key is answered by %q", test.name, d.message.text)
		}
		d.focus[layout.Scopes] = layout.ScopePane
		press(d, "enter")
		if d.popup == nil || !strings.Contains(d.popup.title, "postprocess") {
			t.Errorf("%s: enter shows %+v", test.name, d.popup)
		}
	}
}

// TestWhyAScopeIsNotSizedIsWhole in a narrow terminal too.
func TestWhyAScopeIsNotSizedIsWhole(t *testing.T) {
	d := newScreen(t, framesFixture(t, 4, 4).snapshot(), layout.Scopes, 80, 40)
	press(d, "home", "+", "+")
	text := strings.Join(strings.Fields(paneText(t, d, layout.ScopePane)), " ")
	if want := "own peak for 3 frames all runs were for 4 frames: record another number"; !strings.Contains(text, want) {
		t.Errorf("the scope says\n%s", paneText(t, d, layout.ScopePane))
	}
}

// TestScopeWithoutFramesIsQuiet: a scope that never says for how many frames it
// ran has no line about it; enter says why.
func TestScopeWithoutFramesIsQuiet(t *testing.T) {
	d := newScreen(t, renderedSnapshot(t), layout.Scopes, 140, 40)
	press(d, "home")
	if text := paneText(t, d, layout.ScopePane); strings.Contains(text, "own peak") {
		t.Errorf("the scope says\n%s", text)
	}
	d.focus[layout.Scopes] = layout.ScopePane
	press(d, "enter")
	var all strings.Builder
	for _, line := range d.popup.lines {
		all.WriteString(line.text + " ")
	}
	if !strings.Contains(all.String(), "give the scope a parameter named frames") {
		t.Errorf("enter says %s", all.String())
	}
}
