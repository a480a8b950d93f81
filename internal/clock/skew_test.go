package clock

import (
	"testing"
	"time"
)

func TestSkewWarning(t *testing.T) {
	now := time.Now()
	for offset, warns := range map[time.Duration]bool{0: false, 900 * time.Millisecond: false, 2 * time.Second: true, -2 * time.Second: true} {
		if got := SkewWarning(now.Add(offset), now, now.Add(time.Millisecond)); (len(got) > 0) != warns {
			t.Errorf("clocks %v apart: %q", offset, got)
		}
	}
}
