package pool

import (
	"testing"

	"pgregory.net/rapid"
)

// The table answers like a Go map, whatever comes and goes. Addresses that are
// a power of two apart hash close together and make long probes.
func TestLiveTableAnswersLikeAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table liveTable
		model := map[Address]blockID{}
		blocks := []block{{}}
		address := rapid.Custom(func(t *rapid.T) Address {
			return Address(rapid.IntRange(1, 40).Draw(t, "n")) << rapid.SampledFrom([]int{8, 21, 40}).Draw(t, "shift")
		})
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				at := address.Draw(t, "address")
				if model[at] != 0 {
					return
				}
				blocks = append(blocks, block{address: at})
				model[at] = blockID(len(blocks) - 1)
				table.insert(at, model[at])
			},
			"remove": func(t *rapid.T) {
				at := address.Draw(t, "address")
				if id, slot := table.find(blocks, at); id != 0 {
					table.remove(slot)
				}
				delete(model, at)
			},
			"": func(t *rapid.T) {
				if table.count != len(model) {
					t.Fatalf("counts %d, want %d", table.count, len(model))
				}
				for at, want := range model {
					if id, _ := table.find(blocks, at); id != want {
						t.Fatalf("%#x leads to %d, want %d", at, id, want)
					}
				}
			},
		})
	})
}
