//go:build cuda && linux && cgo

package cuda

import "gorgonia.org/cu"

var _ = cu.Success
