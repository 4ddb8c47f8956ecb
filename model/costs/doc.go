// Package costs answers what the scopes of a calibration file take at any number
// of frames, and compares two such files. Its numbers are replayed or reckoned
// from what was measured, never measured themselves.
package costs
