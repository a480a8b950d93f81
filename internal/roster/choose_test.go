package roster

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestChoose(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name    string
		score   float64
		options []Option
		want    string
	}{
		{"nobody", 0, nil, ""},
		{"alone", 0, []Option{{ID: "l", Score: 5, Ready: true}}, ""},
		{"a better one", 0, []Option{{ID: "b", Score: 1, Ready: true}}, "b"},
		{"an equal one", 1, []Option{{ID: "b", Score: 1, Ready: true}}, ""},
		{"a worse one", 1, []Option{{ID: "b", Score: 0, Ready: true}}, ""},
		{"not ready", 0, []Option{{ID: "b", Score: 1}}, ""},
		{"barred", 0, []Option{{ID: "b", Score: 1, Ready: true, Barred: true}}, ""},
		{"the next best of one that is barred", 0, []Option{{ID: "b", Score: 9, Ready: true, Barred: true}, {ID: "c", Score: 1, Ready: true}}, "c"},
		{"the best of several", 0, []Option{{ID: "b", Score: 1, Ready: true}, {ID: "c", Score: 3, Ready: true}, {ID: "d", Score: 2, Ready: true}}, "c"},
		{"equally good ones", 0, []Option{{ID: "d", Score: 3, Ready: true}, {ID: "b", Score: 3, Ready: true}, {ID: "c", Score: 3, Ready: true}}, "b"},
		{"no number", 0, []Option{{ID: "b", Score: nan, Ready: true}}, ""},
		{"no number against none", nan, []Option{{ID: "b", Score: nan, Ready: true}}, ""},
		{"a number against none", nan, []Option{{ID: "b", Score: -1e300, Ready: true}}, "b"},
		{"without end", math.Inf(1), []Option{{ID: "b", Score: math.Inf(1), Ready: true}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, better := Choose("l", c.score, c.options); got != c.want || better != (c.want != "") {
				t.Errorf("%q, %v; want %q", got, better, c.want)
			}
		})
	}
}

// Whatever the candidates: the choice is one that may lead, none is better, the order makes no difference, and the one that was chosen would hand over to nobody: preferences come to rest.
func TestChooseComesToRest(t *testing.T) {
	scores := []float64{0, 1, 2, 1, math.NaN(), math.Inf(1), math.Inf(-1)}
	for range 20_000 {
		options := make([]Option, 1+rand.IntN(6))
		for i := range options {
			options[i] = Option{ID: string(rune('a' + i)), Score: scores[rand.IntN(len(scores))], Ready: rand.IntN(4) > 0, Barred: rand.IntN(5) == 0}
		}
		leader := options[rand.IntN(len(options))]
		id, better := Choose(leader.ID, leader.Score, options)
		rand.Shuffle(len(options), func(i, j int) { options[i], options[j] = options[j], options[i] })
		if again, _ := Choose(leader.ID, leader.Score, options); again != id {
			t.Fatalf("%q, in another order %q: %+v", id, again, options)
		}
		for _, o := range options {
			able := o.Ready && !o.Barred
			switch {
			case o.ID == id && (!able || worth(o.Score) <= worth(leader.Score)):
				t.Fatalf("%+v in place of %+v", o, leader)
			case !better && able && worth(o.Score) > worth(leader.Score):
				t.Fatalf("nobody in place of %+v: %+v", leader, options)
			case o.ID == id:
				if next, again := Choose(id, o.Score, options); again {
					t.Fatalf("%q would go on to %q: %+v", id, next, options)
				}
			}
		}
	}
}
