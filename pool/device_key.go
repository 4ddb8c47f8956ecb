package pool

import (
	"fmt"
	"strconv"
	"strings"
)

// DeviceKey names a device by kind and index. algan keeps "cuda" and "cuda:0"
// apart, so that a region and a query could miss one another; here both are
// the same key.
type DeviceKey struct {
	Kind  string // "cuda", "host"
	Index int    // 0 or more
}

// ParseDeviceKey reads a device's name such as "cuda" or "cuda:1". Without an
// index it is 0.
func ParseDeviceKey(name string) (DeviceKey, error) {
	kind, index, indexed := strings.Cut(strings.TrimSpace(name), ":")
	key := DeviceKey{Kind: strings.ToLower(kind)}
	if indexed {
		number, err := strconv.ParseUint(index, 10, 16)
		if err != nil {
			return DeviceKey{}, fmt.Errorf("device %q: the index is no number from 0 to 65535; write it like cuda:0", name)
		}
		key.Index = int(number)
	}
	if key.Kind == "" {
		return DeviceKey{}, fmt.Errorf("device %q has no kind; write it like cuda:0", name)
	}
	return key, nil
}

// String is the key as it is written: "cuda:0".
func (k DeviceKey) String() string { return k.Kind + ":" + strconv.Itoa(k.Index) }
