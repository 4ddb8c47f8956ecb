package arena

// DType names an item type and says how large an item is. Any name will do:
// it only goes to the observer. The size is the alignment too.
type DType struct {
	Name string // such as "float32"; "" when it has none
	Size int64  // bytes per item, at least 1
}

// The item types of array libraries, by NumPy's and torch's names.
var (
	DTypeBool       = DType{"bool", 1}
	DTypeUint8      = DType{"uint8", 1}
	DTypeInt8       = DType{"int8", 1}
	DTypeInt16      = DType{"int16", 2}
	DTypeFloat16    = DType{"float16", 2}
	DTypeBFloat16   = DType{"bfloat16", 2}
	DTypeInt32      = DType{"int32", 4}
	DTypeFloat32    = DType{"float32", 4}
	DTypeInt64      = DType{"int64", 8}
	DTypeFloat64    = DType{"float64", 8}
	DTypeComplex64  = DType{"complex64", 8}
	DTypeComplex128 = DType{"complex128", 16}
)
