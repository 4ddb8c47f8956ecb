package pool

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

func TestADeviceIsUnderPressureAboveFourFifths(t *testing.T) {
	for _, row := range []struct {
		name string
		info func() (int64, int64, error)
		want bool
	}{
		{"exactly 80 % used", deviceWith(200, 1000), false},
		{"a byte more", deviceWith(199, 1000), true},
		{"all free", deviceWith(1000, 1000), false},
		{"telemetry fails", unreadable, true},
		{"no total", deviceWith(0, 0), true},
		{"no device", nil, false},
	} {
		if got := GPUPressure(row.info); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}

func TestTheHostsGates(t *testing.T) {
	for _, row := range []struct {
		name string
		host HostMemory
		want bool
	}{
		{"the group at exactly 60 %", HostMemory{Total: 1000, Available: 900, CgroupCurrent: 600, CgroupLimit: 1000}, true},
		{"the group a byte under", HostMemory{Total: 1000, Available: 900, CgroupCurrent: 599, CgroupLimit: 1000}, false},
		{"a calm group falls through to the host", HostMemory{Total: 1000, Available: 150, CgroupCurrent: 1, CgroupLimit: 1000}, true},
		{"no group, exactly 15 % available", HostMemory{Total: 1000, Available: 150, CgroupCurrent: Unknown, CgroupLimit: Unknown}, true},
		{"no group, a byte more available", HostMemory{Total: 1000, Available: 151, CgroupCurrent: Unknown, CgroupLimit: Unknown}, false},
		{"nothing readable", HostMemory{Total: Unknown, Available: Unknown, CgroupCurrent: Unknown, CgroupLimit: Unknown}, false},
		{"total unreadable", HostMemory{Total: Unknown, Available: 0, CgroupCurrent: Unknown, CgroupLimit: Unknown}, false},
		{"available unreadable", HostMemory{Total: 1000, Available: Unknown, CgroupCurrent: Unknown, CgroupLimit: Unknown}, false},
	} {
		if got := row.host.Pressured(); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}

// tree is a file system with these files.
func tree(files map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

func TestTheControlGroupThatCounts(t *testing.T) {
	const v2, v1 = "sys/fs/cgroup/", "sys/fs/cgroup/memory/"
	for _, row := range []struct {
		name           string
		files          map[string]string
		current, limit int64
		path           string
	}{
		{"none", nil, Unknown, Unknown, ""},
		{"version 2 at the root, as in a container",
			map[string]string{v2 + "memory.current": "600\n", v2 + "memory.max": "1000\n"}, 600, 1000, "/sys/fs/cgroup"},
		{"version 2 nested",
			map[string]string{"proc/self/cgroup": "0::/user.slice/job.scope\n",
				v2 + "user.slice/job.scope/memory.current": "5\n", v2 + "user.slice/job.scope/memory.max": "9\n"},
			5, 9, "/sys/fs/cgroup/user.slice/job.scope"},
		{"the root wins over the nested one",
			map[string]string{"proc/self/cgroup": "0::/job\n",
				v2 + "memory.current": "1\n", v2 + "memory.max": "2\n",
				v2 + "job/memory.current": "3\n", v2 + "job/memory.max": "4\n"},
			1, 2, "/sys/fs/cgroup"},
		{"a root without a limit falls through to the nested one",
			map[string]string{"proc/self/cgroup": "0::/job\n",
				v2 + "memory.current": "1\n", v2 + "memory.max": "max\n",
				v2 + "job/memory.current": "3\n", v2 + "job/memory.max": "4\n"},
			3, 4, "/sys/fs/cgroup/job"},
		{"version 1",
			map[string]string{"proc/self/cgroup": "12:cpu,cpuacct:/x\n7:hugetlb,memory:/docker/ab\n",
				v1 + "docker/ab/memory.usage_in_bytes": "70\n", v1 + "docker/ab/memory.limit_in_bytes": "100\n"},
			70, 100, "/sys/fs/cgroup/memory/docker/ab"},
		{"version 1 without a limit writes a huge number",
			map[string]string{"proc/self/cgroup": "7:memory:/\n",
				v1 + "memory.usage_in_bytes": "70\n", v1 + "memory.limit_in_bytes": "9223372036854771712\n"},
			Unknown, Unknown, ""},
		{"2^60 is unlimited", map[string]string{v2 + "memory.current": "1", v2 + "memory.max": "1152921504606846976"},
			Unknown, Unknown, ""},
		{"2^60 - 1 is a limit", map[string]string{v2 + "memory.current": "1", v2 + "memory.max": "1152921504606846975"},
			1, 1<<60 - 1, "/sys/fs/cgroup"},
		{"lines in their order: version 1 first here",
			map[string]string{"proc/self/cgroup": "7:memory:/a\n0::/b\n",
				v1 + "a/memory.usage_in_bytes": "1\n", v1 + "a/memory.limit_in_bytes": "2\n",
				v2 + "b/memory.current": "3\n", v2 + "b/memory.max": "4\n"},
			1, 2, "/sys/fs/cgroup/memory/a"},
		{"a name that only contains memory is another controller",
			map[string]string{"proc/self/cgroup": "7:memory_recursiveprot:/a\n",
				v1 + "a/memory.usage_in_bytes": "1\n", v1 + "a/memory.limit_in_bytes": "2\n"},
			Unknown, Unknown, ""},
		{"hierarchy 0 with controllers is no version 2",
			map[string]string{"proc/self/cgroup": "0:cpu:/a\n", v2 + "a/memory.current": "3\n", v2 + "a/memory.max": "4\n"},
			Unknown, Unknown, ""},
		{"a path with colons",
			map[string]string{"proc/self/cgroup": "0::/a:b\n", v2 + "a:b/memory.current": "3\n", v2 + "a:b/memory.max": "4\n"},
			3, 4, "/sys/fs/cgroup/a:b"},
		{"a group outside the namespace is not read",
			map[string]string{"proc/self/cgroup": "0::/../../proc\n", "proc/memory.current": "3\n", "proc/memory.max": "4\n",
				"sys/proc/memory.current": "3\n", "sys/proc/memory.max": "4\n"},
			Unknown, Unknown, ""},
		{"lines that are none",
			map[string]string{"proc/self/cgroup": "\n::\nmemory\n7:memory\n0::\n"}, Unknown, Unknown, ""},
		{"usage 0", map[string]string{v2 + "memory.current": "0\n", v2 + "memory.max": "9\n"}, Unknown, Unknown, ""},
		{"limit 0", map[string]string{v2 + "memory.current": "1\n", v2 + "memory.max": "0\n"}, Unknown, Unknown, ""},
		{"negative", map[string]string{v2 + "memory.current": "-1\n", v2 + "memory.max": "9\n"}, Unknown, Unknown, ""},
		{"empty", map[string]string{v2 + "memory.current": "", v2 + "memory.max": ""}, Unknown, Unknown, ""},
		{"no number", map[string]string{v2 + "memory.current": "12 B", v2 + "memory.max": "0x10"}, Unknown, Unknown, ""},
		{"the limit alone", map[string]string{v2 + "memory.max": "9\n"}, Unknown, Unknown, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			host := ReadHostMemory(tree(row.files))
			if host.CgroupCurrent != row.current || host.CgroupLimit != row.limit || host.CgroupPath != row.path {
				t.Errorf("got %d of %d in %q", host.CgroupCurrent, host.CgroupLimit, host.CgroupPath)
			}
		})
	}
}

func TestAListOfGroupsWithoutEndIsCutShort(t *testing.T) {
	var groups strings.Builder
	for i := range 1 << 20 {
		fmt.Fprintf(&groups, "0::/%d\n", i)
	}
	if got := cgroupCandidates(tree(map[string]string{"proc/self/cgroup": groups.String()})); len(got) != maxCgroups {
		t.Errorf("%d groups are looked into", len(got))
	}
}

func TestTheHostsMemory(t *testing.T) {
	host := ReadHostMemory(tree(map[string]string{
		"proc/meminfo": "MemTotal:       131072 kB\nMemFree:          1024 kB\nMemAvailable:    65536 kB\nHugePages_Total:       0\n",
	}))
	if host.Total != 128<<20 || host.Available != 64<<20 {
		t.Errorf("got %d available of %d", host.Available, host.Total)
	}
	for _, text := range []string{"", "MemTotal", "MemTotal:\nMemAvailable: kB\n", "MemTotal: -5 kB\n", "MemTotal: 9223372036854775807 kB\n"} {
		host := ReadHostMemory(tree(map[string]string{"proc/meminfo": text}))
		if host.Total != Unknown || host.Available != Unknown {
			t.Errorf("%q reads as %d available of %d", text, host.Available, host.Total)
		}
	}
}

func TestTheShareOfTheGroup(t *testing.T) {
	if share, ok := (HostMemory{CgroupCurrent: 3, CgroupLimit: 4}).CgroupShare(); !ok || share != 0.75 {
		t.Errorf("got %v, %v", share, ok)
	}
	if _, ok := (HostMemory{CgroupCurrent: 3, CgroupLimit: Unknown}).CgroupShare(); ok {
		t.Error("a share without a limit")
	}
}

func FuzzReadHostMemory(f *testing.F) {
	f.Add("0::/a\n7:memory:/b\n", "600", "1000", "MemTotal: 10 kB\nMemAvailable: 5 kB\n")
	f.Add("7:memory:/../..\n0::/\x00\n", "max", "-1", "MemTotal:\n")
	f.Add("", "", "", "")
	f.Fuzz(func(t *testing.T, groups, current, limit, memory string) {
		host := ReadHostMemory(tree(map[string]string{
			"proc/self/cgroup": groups, "proc/meminfo": memory,
			"sys/fs/cgroup/memory.current": current, "sys/fs/cgroup/memory.max": limit,
		}))
		if (host.CgroupLimit == Unknown) != (host.CgroupCurrent == Unknown) || host.CgroupLimit == 0 || host.CgroupLimit >= 1<<60 {
			t.Errorf("half a group: %+v", host)
		}
		host.Pressured()
	})
}
