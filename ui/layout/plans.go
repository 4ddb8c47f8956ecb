package layout

// below and beside are parts one below the other and side by side.
func below(parts ...node) node { return node{parts: parts, grow: 1} }

func beside(parts ...node) node { return node{parts: parts, beside: true, grow: 1} }

// fixed is the node without growing in height.
func (n node) fixed() node {
	n.grow = 0
	return n
}

// growing is the node with a share of what is left over.
func (n node) growing(share int) node {
	n.grow = share
	return n
}

// columns is the node with the columns that it needs beside others.
func (n node) columns(minWidth int) node {
	n.minWidth = minWidth
	return n
}

// optional is the node that may be left out; the highest goes first.
func (n node) optional(drop int) node {
	n.drop = drop
	return n
}

// rows is a pane that needs min rows, gets want if there are, and takes a
// share of what is left over.
func rows(pane Pane, min, want, grow int) node {
	return node{pane: pane, min: min, want: want, grow: grow}
}

// plans are the layouts of every view for every size. Those without frames
// stack; what does not fit is left out from the end, so the order is that of
// what matters.
var plans = [ViewCount][SizeCount]node{
	Overview: {
		Tiny: below(rows(HeadroomPane, 1, 2, 0), rows(PoolPane, 1, 1, 0), rows(ArenaPane, 1, 1, 0), rows(ScopesPane, 1, 3, 1)),
		Mini: below(rows(HeadroomPane, 2, 2, 0), rows(PoolPane, 1, 1, 0), rows(ArenaPane, 1, 1, 0), rows(ScopesPane, 2, 3, 2),
			rows(TimelinePane, 1, 2, 1)),
		Compact: below(
			rows(HeadroomPane, 3, 4, 0),
			beside(rows(PoolPane, 2, 3, 1), rows(ArenaPane, 2, 2, 1)).fixed(),
			rows(ScopesPane, 3, 3, 3),
			rows(TimelinePane, 2, 3, 2).optional(1),
		),
		Full: below(
			beside(
				below(rows(HeadroomPane, 4, 4, 0), rows(InsidePane, 1, 1, 0), rows(ArenaPane, 2, 2, 1)),
				below(rows(PoolPane, 4, 4, 0), rows(PeaksPane, 4, 4, 1)),
			).fixed(),
			rows(ScopesPane, 4, 6, 3),
			rows(TimelinePane, 4, 6, 4),
		),
	},
	Devices: {
		Tiny:    below(rows(DevicesPane, 1, 2, 1), rows(ProcessesPane, 2, 2, 1)),
		Mini:    below(rows(DevicesPane, 2, 3, 1), rows(ProcessesPane, 3, 4, 2)),
		Compact: below(rows(DevicesPane, 3, 4, 1), rows(ProcessesPane, 3, 5, 2), rows(DevicePane, 3, 5, 2).optional(1)),
		Full:    below(rows(DevicesPane, 4, 6, 1), rows(ProcessesPane, 5, 8, 2), rows(DevicePane, 6, 8, 2)),
	},
	Arena: {
		Tiny: below(rows(ArenaPane, 1, 2, 0), rows(StreamPane, 1, 2, 1)),
		Mini: below(rows(ArenaPane, 2, 2, 0), rows(PointersPane, 2, 3, 1), rows(StreamPane, 3, 4, 2)),
		Compact: below(
			rows(ArenaPane, 2, 2, 0),
			rows(PointersPane, 3, 5, 2),
			beside(rows(StreamPane, 4, 5, 3).columns(40), rows(CallersPane, 4, 5, 2).columns(28)).growing(3),
		),
		Full: below(
			rows(ArenaPane, 2, 2, 0),
			beside(rows(PointersPane, 6, 8, 3).columns(60), rows(MarksPane, 6, 8, 1).columns(30)).growing(2),
			beside(rows(StreamPane, 6, 8, 3).columns(60), rows(CallersPane, 6, 8, 2).columns(40)).growing(3),
		),
	},
	Scopes: {
		Tiny:    below(rows(ScopesPane, 1, 1, 1)),
		Mini:    below(rows(ScopesPane, 3, 6, 1), rows(ScopePane, 1, 2, 0).optional(1)),
		Compact: below(rows(ScopesPane, 5, 8, 1), rows(ScopePane, 3, 4, 0).optional(1)),
		Full:    below(rows(ScopesPane, 10, 12, 1), rows(ScopePane, 4, 6, 0)),
	},
	Timeline: {
		Tiny:    below(rows(TimelinePane, 1, 4, 1), rows(MomentPane, 1, 1, 0)),
		Mini:    below(rows(TimelinePane, 3, 4, 2), rows(MomentPane, 1, 1, 0), rows(LiveThenPane, 3, 3, 2)),
		Compact: below(rows(TimelinePane, 5, 7, 2), beside(rows(LiveThenPane, 4, 4, 2).columns(40), rows(MomentPane, 4, 4, 1).columns(26)).growing(2)),
		Full:    below(rows(TimelinePane, 8, 12, 3), beside(rows(LiveThenPane, 6, 8, 2).columns(70), rows(MomentPane, 6, 8, 1).columns(36)).growing(2)),
	},
	Pool: {
		Tiny: below(rows(PoolPane, 1, 1, 0), rows(BlocksPane, 1, 2, 1), rows(SegmentsPane, 2, 2, 1)),
		Mini: below(rows(PoolPane, 1, 1, 0), rows(BlocksPane, 2, 3, 1), rows(SegmentsPane, 3, 3, 1)),
		Compact: below(
			beside(rows(PoolPane, 2, 3, 1), rows(LadderPane, 2, 3, 1)).fixed(),
			rows(BlocksPane, 3, 4, 1),
			beside(rows(SegmentsPane, 3, 4, 1).columns(40), rows(FreeSizesPane, 3, 4, 1).columns(30)).growing(1),
		),
		Full: below(
			beside(rows(PoolPane, 4, 4, 1).columns(50), rows(LadderPane, 4, 4, 1).columns(50)).fixed(),
			rows(BlocksPane, 6, 8, 2),
			beside(rows(SegmentsPane, 6, 8, 3).columns(60), rows(FreeSizesPane, 6, 8, 2).columns(40)).growing(2),
		),
	},
	Events: {
		Tiny:    below(rows(EventsPane, 1, 1, 1)),
		Mini:    below(rows(EventsPane, 3, 5, 1), rows(EventPane, 2, 3, 0).optional(1)),
		Compact: below(rows(EventsPane, 5, 8, 1), rows(EventPane, 3, 5, 0).optional(1)),
		Full:    below(rows(EventsPane, 10, 14, 1), rows(EventPane, 5, 8, 0)),
	},
}
