package main

import (
	"path/filepath"
	"testing"

	"vramscope/pool/cuda/cudatest"
)

// TestRecordOfAGPUIsOfThatOneAlone: its number and its UUID name it among
// others.
func TestRecordOfAGPUIsOfThatOneAlone(t *testing.T) {
	machine := cudatest.New(t, cudatest.Options{Devices: 2})
	environment := append(append(testEnvironment(t), machine.Environment()...), "VRAMSCOPE_NVML=")
	for source, device := range map[string]int{"gpu:0": 0, "gpu:1": 1, cudatest.UUID(1): 1} {
		path := filepath.Join(t.TempDir(), "gpu.vscope")
		if _, problems, code := runIn(t, environment, "record", "-o", path, "--duration", "1s", source); code != exitFine {
			t.Fatalf("record %s ends with %d: %s", source, code, problems)
		}
		report := reportOf(t, path)
		if len(report.Sources) != 1 || report.Sources[0].ID != "gpu:"+cudatest.UUID(device) || len(report.Sources[0].Sets) == 0 {
			t.Errorf("the recording of %s holds %+v", source, report.Sources)
		}
	}
}
