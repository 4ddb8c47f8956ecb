package torchsnap

import (
	"bytes"
	"testing"
)

func BenchmarkPickle(b *testing.B) {
	all := inflate(b, "resnet50-400-steps")
	b.SetBytes(int64(len(all)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(all), Options{Size: int64(len(all))}); err != nil {
			b.Fatal(err)
		}
	}
}
