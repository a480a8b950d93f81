package sqlite

import (
	"os"
	"strings"
)

// bootID names this run of the kernel and its boot clock; empty when it can't be told.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id)) + bootOffset()
}

// bootOffset tells how far a time namespace has moved the boot clock: containers of one kernel may differ in it. It is empty for the host's own clock.
func bootOffset() string {
	offsets, err := os.ReadFile("/proc/self/timens_offsets")
	if err != nil {
		return "" // a kernel without time namespaces
	}
	for line := range strings.Lines(string(offsets)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "boottime" && (fields[1] != "0" || fields[2] != "0") {
			return "+" + fields[1] + "." + fields[2]
		}
	}
	return ""
}
