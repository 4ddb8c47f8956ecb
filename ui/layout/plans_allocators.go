package layout

// planOf is the plan of a view for a size: where a process has no arena, the
// room of its panes goes to the table of allocators.
func planOf(view View, size Size, options Options) *node {
	switch {
	case int(options.Content) >= ContentCount || int(options.Pools) >= PoolContentCount:
	case view == Overview && options.Content != Arenas:
		return &overviews[options.Content][size]
	case view == Pool && options.Pools != Blocks:
		return &poolViews[options.Pools][size]
	}
	return &plans[view][size]
}

// manyAllocators is more rows than the table is given before anything grows.
const manyAllocators = 16

// overviews are the overview's plans for what a process has inside, but for
// Arenas.
var overviews = [ContentCount][SizeCount]node{
	Allocators: {
		Tiny: below(rows(HeadroomPane, 1, 2, 0), rows(AllocatorsPane, 1, 4, 1)),
		Mini: below(rows(HeadroomPane, 2, 2, 0), rows(AllocatorsPane, 3, 5, 2), rows(TimelinePane, 1, 2, 1)),
		Compact: below(
			rows(HeadroomPane, 3, 3, 0),
			rows(AllocatorsPane, 4, manyAllocators, 3),
			rows(PeaksPane, 1, 1, 0).optional(1),
			rows(TimelinePane, 2, 3, 2).optional(2),
		),
		Full: below(
			beside(rows(HeadroomPane, 4, 4, 1).columns(56), rows(PeaksPane, 4, 4, 1).columns(56)).fixed(),
			rows(AllocatorsPane, 5, manyAllocators, 1),
			rows(TimelinePane, 4, 6, 4),
		),
	},
	AllocatorsAndPool: {
		Tiny: below(rows(HeadroomPane, 1, 2, 0), rows(PoolPane, 1, 1, 0), rows(AllocatorsPane, 1, 4, 1)),
		Mini: below(rows(HeadroomPane, 2, 2, 0), rows(PoolPane, 1, 1, 0), rows(AllocatorsPane, 2, 4, 2), rows(TimelinePane, 1, 2, 1)),
		Compact: below(
			rows(HeadroomPane, 3, 3, 0),
			beside(rows(PoolPane, 2, 3, 1), rows(PeaksPane, 2, 3, 1)).fixed(),
			rows(AllocatorsPane, 3, manyAllocators, 3),
			rows(TimelinePane, 2, 3, 2).optional(1),
		),
		Full: below(
			beside(rows(HeadroomPane, 4, 4, 1).columns(56), rows(PoolPane, 4, 4, 1).columns(56)).fixed(),
			rows(AllocatorsPane, 5, manyAllocators, 1),
			beside(rows(TimelinePane, 4, 6, 3).columns(60), rows(PeaksPane, 4, 6, 2).columns(50)).growing(4),
		),
	},
	Everything: {
		Tiny: plans[Overview][Tiny],
		Mini: plans[Overview][Mini],
		Compact: below(
			rows(HeadroomPane, 3, 3, 0),
			rows(AllocatorsPane, 3, 6, 0),
			beside(rows(PoolPane, 2, 2, 1), rows(ArenaPane, 2, 2, 1)).fixed(),
			rows(ScopesPane, 3, 3, 3),
			rows(TimelinePane, 2, 3, 2).optional(1),
		),
		Full: below(
			beside(
				below(rows(HeadroomPane, 4, 4, 0), rows(ArenaPane, 2, 2, 1)),
				below(rows(PoolPane, 4, 4, 0), rows(PeaksPane, 2, 2, 1)),
			).fixed(),
			rows(AllocatorsPane, 4, 9, 0),
			rows(ScopesPane, 4, 5, 3),
			rows(TimelinePane, 4, 5, 4),
		),
	},
}

// poolViews are the pool view's plans where no pool tells its blocks.
var poolViews = [PoolContentCount][SizeCount]node{
	Tiers: {
		Tiny: below(rows(PoolPane, 1, 1, 0), rows(AllocatorsPane, 1, 3, 1), rows(AllocatorPane, 1, 2, 1)),
		Mini: below(rows(PoolPane, 1, 1, 0), rows(AllocatorsPane, 3, 4, 1), rows(AllocatorPane, 2, 4, 1)),
		Compact: below(
			beside(rows(PoolPane, 2, 3, 1), rows(LadderPane, 2, 3, 1)).fixed(),
			rows(AllocatorsPane, 4, 8, 2),
			rows(AllocatorPane, 4, 6, 2),
		),
		Full: below(
			beside(rows(PoolPane, 4, 4, 1).columns(50), rows(LadderPane, 4, 4, 1).columns(50)).fixed(),
			rows(AllocatorsPane, 6, manyAllocators, 1),
			beside(rows(AllocatorPane, 5, 10, 3).columns(72), rows(BlocksPane, 5, 10, 1).columns(36)).growing(2),
		),
	},
	Counters: {
		Tiny: below(rows(AllocatorsPane, 1, 3, 1), rows(AllocatorPane, 1, 2, 1)),
		Mini: below(rows(AllocatorsPane, 3, 5, 1), rows(AllocatorPane, 3, 4, 1)),
		Compact: below(
			rows(AllocatorsPane, 4, 9, 2),
			rows(AllocatorPane, 4, 6, 2),
			rows(BlocksPane, 1, 2, 0).optional(1),
		),
		Full: below(
			rows(AllocatorsPane, 6, manyAllocators, 1),
			beside(rows(AllocatorPane, 6, 10, 3).columns(72), rows(BlocksPane, 6, 10, 1).columns(36)).growing(2),
		),
	},
}
