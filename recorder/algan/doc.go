// Package algan reads the calibration files that algan writes itself: the module
// of literals mem_usage.py and the probe cache <24 hex digits>.json. It reads
// literals with a parser of its own; nothing in a file is ever executed.
package algan
