package local

import (
	"vramscope/arena"
	"vramscope/pool"
)

// column is an array that a stage allocates, with so many items a row.
type column struct {
	dtype arena.DType
	width int64
}

// rowBytes is what one row of all columns takes.
func rowBytes(columns []column) int64 {
	var bytes int64
	for _, c := range columns {
		bytes += c.dtype.Size * c.width
	}
	return bytes
}

// share is how many rows of the columns fit into a share of the arena.
func (r *Render) share(fraction float64, columns []column) int64 {
	return int64(fraction * float64(r.arena.Length()) / float64(rowBytes(columns)))
}

var (
	geometryColumns = []column{{arena.DTypeFloat32, 3}, {arena.DTypeFloat32, 3}, {arena.DTypeInt32, 3}, {arena.DTypeInt16, 1}}
	treeColumns     = []column{{arena.DTypeFloat32, 6}, {arena.DTypeInt32, 2}}
	materialColumns = []column{{arena.DTypeFloat16, 12}, {arena.DTypeUint8, 1}}
	lightColumns    = []column{{arena.DTypeFloat64, 8}}
)

// uploadScene puts the job's scene on the persistent side, where it stays from
// frame to frame.
func (r *Render) uploadScene() error {
	scope := r.enter("scene_upload", arena.Int("triangles", r.share(0.10*r.scene, geometryColumns)), arena.Text("from", "host"))
	for _, upload := range []func() error{r.uploadGeometry, r.uploadTree, r.uploadMaterials, r.uploadLights} {
		if err := upload(); err != nil {
			return err
		}
	}
	r.leave(scope)
	return nil
}

func (r *Render) uploadGeometry() error {
	triangles := r.share(0.10*r.scene, geometryColumns)
	for _, c := range geometryColumns {
		block, err := r.arena.AllocTyped(c.dtype, true, triangles, c.width)
		if err != nil {
			return err
		}
		r.touch(block)
	}
	return nil
}

func (r *Render) uploadTree() error {
	nodes := r.share(0.06*r.scene, treeColumns)
	for _, c := range treeColumns {
		block, err := r.arena.AllocTyped(c.dtype, true, nodes, c.width)
		if err != nil {
			return err
		}
		r.touch(block)
	}
	return nil
}

func (r *Render) uploadMaterials() error {
	materials := r.share(0.02*r.scene, materialColumns)
	for _, c := range materialColumns {
		block, err := r.arena.AllocTyped(c.dtype, true, materials, c.width)
		if err != nil {
			return err
		}
		r.touch(block)
	}
	return nil
}

func (r *Render) uploadLights() error {
	lights := r.share(0.01*r.scene, lightColumns)
	block, err := r.arena.AllocTyped(lightColumns[0].dtype, true, lights, lightColumns[0].width)
	if err != nil {
		return err
	}
	r.touch(block)
	r.anchor = block
	return nil
}

// touch writes to a block of the arena.
func (r *Render) touch(block arena.Block) {
	r.memory.breaks(r.memory.device.Touch(pool.Address(r.arena.Address(block)), block.Bytes(), 0))
}
