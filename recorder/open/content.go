package open

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"vramscope/recorder"
)

// maxLayers is how often a file may be compressed.
const maxLayers = 2

// content is the beginning of a file, inflated.
type content struct {
	head   []byte
	text   string   // head as text, if it is one
	layers []string // "gzip", "zstd": how it was packed, outermost first
	cut    bool     // head is shorter than headBytes since there is no more to read
}

// look inflates the beginning of a file as far as it is packed.
func look(head []byte) *content {
	c := &content{head: head, cut: len(head) < headBytes}
	for len(c.layers) < maxLayers {
		var inflated []byte
		var layer string
		switch {
		case bytes.HasPrefix(c.head, []byte{0x1f, 0x8b}):
			layer, inflated = "gzip", gunzip(c.head)
		case recorder.IsZstd(c.head):
			layer, inflated = "zstd", unzstd(c.head)
		}
		if layer == "" {
			break
		}
		c.layers = append(c.layers, layer)
		c.head = inflated
	}
	if isText(c.head) {
		c.text = strings.TrimLeft(strings.TrimPrefix(string(c.head), "\uFEFF"), " \t\r\n")
	}
	return c
}

// packed says whether the file is compressed that way, at the outside.
func (c *content) packed(layer string) bool { return len(c.layers) > 0 && c.layers[0] == layer }

// firstLine is the first line, and whether its end is there.
func (c *content) firstLine() (line []byte, whole bool) {
	line, _, whole = bytes.Cut(c.head, []byte{'\n'})
	return line, whole
}

// gunzip inflates the beginning of what packed holds; what is cut ends there.
func gunzip(packed []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	return beginning(reader)
}

func unzstd(packed []byte) []byte {
	reader, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(16<<20), zstd.WithDecoderMaxMemory(16<<20))
	if err != nil {
		return nil
	}
	defer reader.Close()
	return beginning(reader)
}

func beginning(reader io.Reader) []byte {
	var inflated bytes.Buffer
	// The file was cut at headBytes, so that an error in the end is no news.
	io.CopyN(&inflated, reader, headBytes)
	return inflated.Bytes()
}

// isText says that head holds text: UTF-8, perhaps cut, without bytes that no
// text has.
func isText(head []byte) bool {
	for len(head) > 0 {
		r, size := utf8.DecodeRune(head)
		if r == utf8.RuneError && size <= 1 && len(head) >= utf8.UTFMax {
			return false
		}
		if r < 0x20 && r != '\n' && r != '\r' && r != '\t' && r != '\f' && r != 0x1b {
			return false
		}
		head = head[size:]
	}
	return true
}
