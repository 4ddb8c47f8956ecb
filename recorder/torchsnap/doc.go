// Package torchsnap reads PyTorch memory snapshots: the pickle that
// torch.cuda.memory._dump_snapshot writes (protocols 2, 4 and 5), JSON text of
// the same structure, the HTML page that embeds one, a bare list of segments,
// gzip or zstd around any of them, and the clones of other back ends.
//
// The pickle is never executed. A machine of our own knows the two dozen
// opcodes that a snapshot is made of and refuses every opcode that could
// import or call something, by name and offset. It reads the file in pieces,
// once, and writes events straight into columns: no value of the pickle is
// built unless its shape is one that the fast path for events does not know.
package torchsnap
