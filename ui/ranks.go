package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"vramscope/model"
	"vramscope/recorder"
)

// jobText is a source's place among the processes of a job: "rank 3 of night";
// "" where it has none.
func jobText(view *model.SourceView) string {
	if view == nil || view.Hello == nil {
		return ""
	}
	switch h := view.Hello; {
	case h.Rank != nil && h.Job != "":
		return "rank " + strconv.Itoa(*h.Rank) + " of " + h.Job
	case h.Rank != nil:
		return "rank " + strconv.Itoa(*h.Rank)
	default:
		return h.Job
	}
}

// compareRanks puts the processes of a job side by side in the order of their
// ranks, and those that have no job last.
func compareRanks(a, b *model.SourceView) int {
	aJob, aRank := placeInJob(a)
	bJob, bRank := placeInJob(b)
	switch {
	case aJob == "" && aRank < 0 && (bJob != "" || bRank >= 0):
		return 1
	case bJob == "" && bRank < 0 && (aJob != "" || aRank >= 0):
		return -1
	}
	return cmp.Or(strings.Compare(aJob, bJob), cmp.Compare(aRank, bRank))
}

// placeInJob is a source's job and its rank there, -1 where it has none.
func placeInJob(view *model.SourceView) (job string, rank int) {
	if view == nil || view.Hello == nil {
		return "", -1
	}
	if view.Hello.Rank == nil {
		return view.Hello.Job, -1
	}
	return view.Hello.Job, *view.Hello.Rank
}

// inRankOrder are sources as they are, but the processes of a job, of those that
// stand side by side, in the order of their ranks, and what has ended last.
func inRankOrder(views []*model.SourceView) []*model.SourceView {
	sorted := slices.Clone(views)
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && sorted[from].Kind == recorder.KindProcess && sorted[to].Kind == recorder.KindProcess && sorted[to].File == sorted[from].File {
			to++
		}
		slices.SortStableFunc(sorted[from:to], func(a, b *model.SourceView) int {
			return cmp.Or(compareEnded(a, b), compareRanks(a, b))
		})
		from = to
	}
	return sorted
}

// compareEnded puts live sources that have ended last. In a file all have.
func compareEnded(a, b *model.SourceView) int {
	return cmp.Compare(endedOf(a), endedOf(b))
}

func endedOf(view *model.SourceView) int {
	if view != nil && view.File == "" && isOver(view) {
		return 1
	}
	return 0
}

// numbersText is numbers with commas between them.
func numbersText(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ", ")
}
