package pool

import "sync"

// Peaks measures the peaks of regions that nest, on counters whose high-water
// mark can only be reset as a whole. Each region's begin resets the mark and
// thereby displaces the peak that stood there; Peaks keeps what was displaced.
//
// It gives two answers. The compatible one mirrors algan's begin_cuda_peak and
// end_cuda_peak, number for number: there an outer region forgets what came
// before an inner one, and the reported peak reads low while a region is open.
// The corrected one keeps a stack of open regions and is exact.
//
// All methods may be called from any goroutine.
type Peaks struct {
	mutex   sync.Mutex
	devices map[DeviceKey]*devicePeaks
	number  uint64
}

// PeakCounter is an allocator's resettable high-water mark. The peak is the
// highest current value since the last TakePeak. Both methods must be safe to
// call while the allocator works.
type PeakCounter interface {
	// ReadPeak reads the peak and the bytes allocated now.
	ReadPeak() (peak, current int64)
	// TakePeak reads both and then resets the peak to the current bytes.
	TakePeak() (peak, current int64)
}

// RegionPeak is how far a region's highest point stood above its beginning.
type RegionPeak struct {
	Compatible int64 // bytes, 0 or more: as algan's end_cuda_peak returns it
	Corrected  int64 // bytes, 0 or more: the region's true peak
	Exact      bool  // Corrected is exact; false for a token that was null, ended before, or pushed out by maxOpenRegions
}

// PeakReading is the peak of a device at one moment, in bytes. Reported is the
// maximum of Live, Floor and Open.
type PeakReading struct {
	Current         int64 // allocated now
	Live            int64 // the counter's own peak since it was last reset
	Floor           int64 // displaced by regions that have ended
	Open            int64 // the largest peak displaced by a region that is still open, 0 with none open
	OpenRegions     int   // regions begun and not ended
	Reported        int64 // the true peak of the window
	CompatibleFloor int64 // as algan's _PEAK_FLOOR holds it
	Compatible      int64 // as algan's peak_allocated returns it: max(Live, CompatibleFloor)
}

// PeakToken stands for an open region. The zero value is the null token: ending
// it does nothing and measures 0.
type PeakToken struct {
	key    DeviceKey
	number uint64
	saved  int64
	base   int64
}

// maxOpenRegions bounds the stack of regions on a device, because a token that
// is dropped is never ended. The outermost one goes first.
const maxOpenRegions = 1024

type devicePeaks struct {
	counter         PeakCounter
	floor           int64
	compatibleFloor int64
	open            []openRegion // outermost first
}

type openRegion struct {
	number uint64
	base   int64 // current bytes at the beginning
	saved  int64 // peak that the beginning displaced: it belongs to the region around
	shown  int64 // the part of saved that belongs to the window under way: 0 after a reset
	inner  int64 // highest peak known inside, from what regions within displaced or reached
}

// NewPeaks returns Peaks that watch no device yet.
func NewPeaks() *Peaks {
	return &Peaks{devices: make(map[DeviceKey]*devicePeaks)}
}

// Watch makes key's peaks those of counter. Regions on a device that is not
// watched measure nothing, as off CUDA in algan.
func (p *Peaks) Watch(key DeviceKey, counter PeakCounter) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.devices[key] = &devicePeaks{counter: counter}
}

// Begin opens a region and resets the device's live peak. The token is null
// where the device is not watched.
func (p *Peaks) Begin(key DeviceKey) PeakToken {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	device := p.devices[key]
	if device == nil {
		return PeakToken{}
	}
	saved, base := device.counter.TakePeak()
	p.number++
	if len(device.open) == maxOpenRegions {
		device.floor = max(device.floor, device.open[0].shown)
		device.open = append(device.open[:0], device.open[1:]...)
	}
	device.open = append(device.open, openRegion{number: p.number, base: base, saved: saved, shown: saved})
	return PeakToken{key: key, number: p.number, saved: saved, base: base}
}

// End closes the region. It does not restore the live peak: that stays in the
// floor. Regions may end in any order, and one that never ends costs its
// surroundings nothing but the compatible value.
func (p *Peaks) End(token PeakToken) RegionPeak {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	device := p.devices[token.key]
	if device == nil || token.number == 0 {
		return RegionPeak{}
	}
	live, _ := device.counter.ReadPeak()
	device.compatibleFloor = max(device.compatibleFloor, token.saved, live)
	result := RegionPeak{Compatible: max(0, live-token.base)}
	i := device.find(token.number)
	if i < 0 {
		result.Corrected = result.Compatible
		device.floor = max(device.floor, live)
		return result
	}
	peak := device.peakInside(i, live)
	if i > 0 {
		around := &device.open[i-1]
		around.inner = max(around.inner, device.open[i].saved, peak)
	}
	device.floor = max(device.floor, device.open[i].shown, live)
	device.open = append(device.open[:i], device.open[i+1:]...)
	result.Corrected, result.Exact = max(0, peak-token.base), true
	return result
}

// Read measures the region so far and leaves it open.
func (p *Peaks) Read(token PeakToken) RegionPeak {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	device := p.devices[token.key]
	if device == nil || token.number == 0 {
		return RegionPeak{}
	}
	live, _ := device.counter.ReadPeak()
	result := RegionPeak{Compatible: max(0, live-token.base)}
	if i := device.find(token.number); i >= 0 {
		result.Corrected, result.Exact = max(0, device.peakInside(i, live)-token.base), true
	} else {
		result.Corrected = result.Compatible
	}
	return result
}

// Measure runs body as a region and returns its peak. Inside, read gives the
// peak so far, and after the end always what was measured at the end. The
// region ends on a panic too. It mirrors algan's cuda_peak_scope.
func (p *Peaks) Measure(key DeviceKey, body func(read func() RegionPeak)) (result RegionPeak) {
	token := p.Begin(key)
	ended := false
	defer func() { result, ended = p.End(token), true }()
	body(func() RegionPeak {
		if ended {
			return result
		}
		return p.Read(token)
	})
	return result
}

// Peak reads the device's peak of the window under way; ok is false where the
// device is not watched.
func (p *Peaks) Peak(key DeviceKey) (reading PeakReading, ok bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	device := p.devices[key]
	if device == nil {
		return PeakReading{}, false
	}
	live, current := device.counter.ReadPeak()
	reading = PeakReading{
		Current: current, Live: live, Floor: device.floor, OpenRegions: len(device.open),
		CompatibleFloor: device.compatibleFloor, Compatible: max(live, device.compatibleFloor),
	}
	for _, region := range device.open {
		reading.Open = max(reading.Open, region.shown)
	}
	reading.Reported = max(live, reading.Floor, reading.Open)
	return reading, true
}

// ResetFloor empties the floors of every device and leaves the live peaks. It
// mirrors algan's reset_peak_floor, which its callers use together with a reset
// of the live counter: ResetWindow does both.
func (p *Peaks) ResetFloor() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, device := range p.devices {
		device.forgetFloor()
	}
}

// ResetWindow begins a new window on the device: its live peak becomes the
// current bytes and its floor 0. Open regions keep their own corrected peaks,
// but no longer hold up the reported one.
func (p *Peaks) ResetWindow(key DeviceKey) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	device := p.devices[key]
	if device == nil {
		return
	}
	live, _ := device.counter.TakePeak()
	if last := len(device.open) - 1; last >= 0 {
		device.open[last].inner = max(device.open[last].inner, live)
	}
	device.forgetFloor()
}

func (d *devicePeaks) forgetFloor() {
	d.floor, d.compatibleFloor = 0, 0
	for i := range d.open {
		d.open[i].shown = 0
	}
}

func (d *devicePeaks) find(number uint64) int {
	for i := len(d.open) - 1; i >= 0; i-- {
		if d.open[i].number == number {
			return i
		}
	}
	return -1
}

// peakInside is the highest point since region i began: what stands on the
// counter, what ended regions inside it left, and what regions that began
// after it have displaced.
func (d *devicePeaks) peakInside(i int, live int64) int64 {
	peak := max(live, d.open[i].inner)
	for _, later := range d.open[i+1:] {
		peak = max(peak, later.saved, later.inner)
	}
	return peak
}
