package dump

import (
	"math/rand/v2"
	"testing"
)

// The address table answers as a map does, whatever is put and taken.
func TestAddressesAreAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	table, plain := newAddresses(), map[uint64]int32{}
	for i := range int32(200_000) {
		address := uint64(random.IntN(5000)) << 9
		switch random.IntN(3) {
		case 0:
			old, had := table.put(address, i)
			want, wanted := plain[address]
			if had != wanted || had && old != want {
				t.Fatalf("put %x had %d %v, want %d %v", address, old, had, want, wanted)
			}
			plain[address] = i
		case 1:
			got, had := table.take(address)
			want, wanted := plain[address]
			if had != wanted || had && got != want {
				t.Fatalf("take %x gave %d %v, want %d %v", address, got, had, want, wanted)
			}
			delete(plain, address)
		case 2:
			got, had := table.get(address)
			if want, wanted := plain[address]; had != wanted || had && got != want {
				t.Fatalf("get %x gave %d %v, want %d %v", address, got, had, want, wanted)
			}
		}
		if table.count != len(plain) {
			t.Fatalf("%d addresses, want %d", table.count, len(plain))
		}
	}
}

// The ordered table finds the nearest address below, as a search from there
// does.
func TestOrderedFindsTheNearestBelow(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const most = 3000
	var table ordered
	plain := make([]int32, most) // 0 none
	for i := int32(1); i < 50_000; i++ {
		address := random.IntN(most)
		switch random.IntN(3) {
		case 0:
			table.put(uint64(address), i)
			plain[address] = i
		case 1:
			table.drop(uint64(address))
			plain[address] = 0
		case 2:
			want := int32(0)
			for at := address; at >= 0 && want == 0; at-- {
				want = plain[at]
			}
			if got, found := table.floor(uint64(address)); found != (want != 0) || found && got != want {
				t.Fatalf("below %d lies %d %v, want %d", address, got, found, want)
			}
		}
	}
}
