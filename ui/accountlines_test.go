package ui

import (
	"testing"

	"vramscope/model"
	"vramscope/recorder"
)

// TestWhatIsLeftAfterTheContext is no size where it is less than what moved
// between the readings, and none where it lies under zero.
func TestWhatIsLeftAfterTheContext(t *testing.T) {
	for _, check := range []struct {
		name   string
		rest   model.Figure
		known  bool
		about  bool
		expect int64
	}{
		{"known to the byte", model.Figure{Known: true, Value: 530 * mib}, true, false, 18 * mib},
		{"about, and more than what moved", model.Figure{Known: true, About: true, Within: 10 * mib, Value: 530 * mib}, true, true, 18 * mib},
		{"about, and less than what moved", model.Figure{Known: true, About: true, Within: 20 * mib, Value: 530 * mib}, true, true, 0},
		{"about, and under zero", model.Figure{Known: true, About: true, Within: mib, Value: 500 * mib}, true, true, 0},
		{"under zero", model.Figure{Known: true, Value: 500 * mib}, false, false, 0},
	} {
		accounts := model.Accounts{Rows: []model.AccountRow{{Set: &recorder.CounterSet{}}}, Rest: check.rest,
			Context: model.Figure{Known: true, Value: 512 * mib}}
		var got model.Figure
		(&accountLines{}).addRest(&accounts, func(_ accountKind, label string, figure model.Figure) {
			if label == "other libraries" {
				got = figure
			}
		})
		if got.Known != check.known || got.About != check.about || got.Known && got.Value != check.expect || !got.Known && got.Why == "" {
			t.Errorf("%s: %+v", check.name, got)
		}
	}
}
