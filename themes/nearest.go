package themes

// palette16 is what xterm shows for the sixteen colours that terminals let
// their users redefine; a guess, as every such table is.
var palette16 = [16]uint32{
	0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
}

// cubeSteps are the six levels of the colour cube of the 256-colour palette.
var cubeSteps = [6]uint32{0x00, 0x5f, 0x87, 0xaf, 0xd7, 0xff}

// Palette256 is the 24-bit colour, 0xRRGGBB, of number n of the palette of
// 256, as xterm defines it: sixteen colours, a cube of 6×6×6, 24 greys.
func Palette256(n uint8) uint32 {
	switch {
	case n < 16:
		return palette16[n]
	case n < 232:
		cube := uint32(n - 16)
		return cubeSteps[cube/36]<<16 | cubeSteps[cube/6%6]<<8 | cubeSteps[cube%6]
	default:
		grey := 8 + 10*uint32(n-232)
		return grey<<16 | grey<<8 | grey
	}
}

// Nearest256 is the number of the colour nearest to 0xRRGGBB among the fixed
// ones of the palette of 256 (16 to 255: the first sixteen are the user's).
func Nearest256(hex uint32) uint8 {
	best, bestDistance := 16, ^uint32(0)
	for n := 16; n < 256; n++ {
		if d := distance(hex, Palette256(uint8(n))); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	return uint8(best)
}

// Nearest16 is the number of the colour nearest to 0xRRGGBB among xterm's
// first sixteen.
func Nearest16(hex uint32) uint8 {
	best, bestDistance := 0, ^uint32(0)
	for n, candidate := range palette16 {
		if d := distance(hex, candidate); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	return uint8(best)
}

// distance weighs the channels by the mean of red, a usual approximation of
// what the eye sees that needs no floating point.
func distance(a, b uint32) uint32 {
	red := int32(a>>16&0xff) - int32(b>>16&0xff)
	green := int32(a>>8&0xff) - int32(b>>8&0xff)
	blue := int32(a&0xff) - int32(b&0xff)
	mean := (int32(a>>16&0xff) + int32(b>>16&0xff)) / 2
	return uint32((512+mean)*red*red>>8 + 4*green*green + (767-mean)*blue*blue>>8)
}
