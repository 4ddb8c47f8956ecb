// Package torchsnap reads PyTorch memory snapshots: the pickle that
// torch.cuda.memory._dump_snapshot writes (protocols 2 to 5), JSON text of the
// same structure, the HTML page that embeds one, a bare list of segments, gzip
// or zstd around any of them, and the clones of other back ends, whose
// structure is the same.
//
// The pickle is never executed. A machine of our own (machine.go) knows the
// three dozen opcodes that a snapshot is made of and refuses every opcode that
// could import or call something, by name and offset. It reads the file in
// pieces, once, and writes events and blocks straight into columns
// (columns.go): no value of the pickle is built unless its shape is one that
// the fast path (fast.go) does not know. JSON text goes through the same
// machine (json.go). What is left on its stack becomes a Dump (assemble.go),
// also where the file ends early (salvage.go). An account (limit.go) keeps the
// memory of all this within 4 bytes for each inflated byte plus 64 MiB.
package torchsnap
