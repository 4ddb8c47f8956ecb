package recorder

// Costs is what a calibration measured of the scopes of a program: not what a
// run took, but what any run of so many frames will take. It is immutable once
// its reader has handed it over. Its texts may be anything: sanitise before
// drawing.
type Costs struct {
	Format      string // in words, such as "memory tables by algan"
	Version     string // of the program that was measured, "" unknown
	Commit      string // of its source, "" unknown
	Generated   string // when, as the file says it, "" unknown
	Fingerprint string // of the tables: another one makes what was measured stale; "" unknown
	Environment []DumpSetting
	Corpus      []string // what was run to measure
	Scopes      []ScopeCost
	Probe       bool // one scope on one route was measured while a program ran: nothing is said of others

	DensityPercentile float64 // of the densities measured, that which Density.PerUnit is
	DensitySafety     float64 // that a density is multiplied with; 0 unknown

	Ratios      []RatioCost // transients outside the arena, by name
	RatiosKnown bool        // the file has a table of them, though it may be empty

	Extras   []string // what was met and means nothing here
	Problems []string // in words, bounded
	Bytes    int64    // length of the file
}

// ScopeCost is one scope on one route through it. One of its parts is set.
type ScopeCost struct {
	Name  string
	Route []DumpSetting // the parameters that tell routes apart, by name

	Trace   CostTrace    // a stream of allocations that grows with the frames
	Units   *UnitCost    // bytes for each unit of its drivers
	Density *DensityCost // with Units: how many units of one driver are to be expected
}

// UnitCost is bytes that grow with drivers other than frames.
type UnitCost struct {
	Drivers    []UnitDriver // in the file's order
	Fixed      int64        // bytes, however many units
	AlignSlack int64        // bytes that alignment can take on top
}

// UnitDriver is what some bytes grow with.
type UnitDriver struct {
	Name  string
	Bytes int64 // for each unit
}

// DensityCost says how many units of a driver there are for each unit of
// others, as far as a corpus told: it depends on what is rendered.
type DensityCost struct {
	Of      string   // the driver
	Per     []string // the product of these is what it is counted for
	PerUnit float64  // at Costs.DensityPercentile, without Costs.DensitySafety
	Largest float64  // that was measured
	Samples int64
}

// RatioCost bounds a transient outside the arena: its peak for each byte of its
// input.
type RatioCost struct {
	Name    string
	Ratio   float64 // bounds all that were measured
	P95     float64 // the 95th percentile
	Samples int64
}
