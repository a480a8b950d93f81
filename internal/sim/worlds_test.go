package sim

import "testing"

// A world that promises less than all must show it: else the checker is blind, or the world is not what it says.
func TestWorldsShowWhatTheyDoNotPromise(t *testing.T) {
	share := 0
	for i := range Worlds {
		w := &Worlds[i]
		share += w.share
		for _, s := range w.Sees {
			t.Run(w.Name+" "+s.String(), func(t *testing.T) {
				const n = 1500
				for seed := range uint64(n) {
					if Run(seed, Options{World: w.Name}).Seen[s] > 0 {
						t.Logf("seen at seed %d", seed)
						return
					}
				}
				t.Errorf("%d seeds in which it held: %s", n, s.Text())
			})
		}
	}
	if share != 100 {
		t.Errorf("the worlds' shares add up to %d", share)
	}
}
