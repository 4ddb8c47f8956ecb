package algan

import "math"

// kind is what a literal is.
type kind uint8

const (
	kindNone kind = iota
	kindBool
	kindInt
	kindFloat
	kindText
	kindTuple
	kindList
	kindDict
)

var kindNames = [...]string{"None", "a truth value", "an integer", "a float", "a string", "a tuple", "a list", "a dictionary"}

// node is a literal in the order of the file: a container's items follow it, a
// dictionary's keys and values in turn.
type node struct {
	n      int64 // an integer, a truth value, a float's bits, where a text begins, or the node behind a container
	length uint32
	at     uint32 // where it begins in the file, bytes
	kind   kind
}

// literals is every literal of a file.
type literals struct {
	source []byte
	nodes  []node
	texts  []byte
}

// value is one literal.
type value struct {
	of    *literals
	index int32
}

func (v value) node() *node { return &v.of.nodes[v.index] }

func (v value) kind() kind { return v.node().kind }

// text is a string's.
func (v value) text() string {
	n := v.node()
	return string(v.of.texts[n.n : n.n+int64(n.length)])
}

func (v value) float() float64 {
	if n := v.node(); n.kind == kindFloat {
		return math.Float64frombits(uint64(n.n))
	}
	return float64(v.node().n)
}

func (v value) isSequence() bool { return v.kind() == kindTuple || v.kind() == kindList }

// length is how many items a container has; a dictionary counts pairs.
func (v value) length() int { return int(v.node().length) }

// items yields the items of a container; of a dictionary keys and values in
// turn.
func (v value) items(yield func(value) bool) {
	end := int32(v.index + 1)
	if v.kind() >= kindTuple {
		end = int32(v.node().n)
	}
	for at := v.index + 1; at < end; {
		item := value{v.of, at}
		if !yield(item) {
			return
		}
		at++
		if item.kind() >= kindTuple {
			at = int32(item.node().n)
		}
	}
}

// pairs yields the keys and values of a dictionary.
func (v value) pairs(yield func(key, item value) bool) {
	var key value
	isKey := true
	for item := range v.items {
		if isKey {
			key = item
		} else if !yield(key, item) {
			return
		}
		isKey = !isKey
	}
}

// malformed says what is wrong with a literal.
func (v value) malformed(what string) error { return v.of.malformed(int(v.node().at), what) }
