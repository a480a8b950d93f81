package sim

import (
	"bufio"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/internal/core"
)

// PE16, PE24: under faults of every kind at once. Many more seeds are run by 'make sim', which CI does too.
func TestNoInvariantIsViolated(t *testing.T) {
	n := 150
	if text := os.Getenv("TENURE_SEEDS"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	b := Many(1, n, Options{})
	for _, r := range b.Failures {
		t.Errorf("seed %d (%s): %s", r.Seed, r.World.Name, r.Violations[0])
	}
	for _, text := range b.Problems() {
		t.Error(text)
	}
	t.Logf("%d seeds, %d terms, %d lost, %d overran, %d writes refused, at most %d requests in ten seconds", b.Seeds, b.Terms, b.Losses, b.Overruns, b.Refusals, b.Peak)
	if b.Terms < 5*n || b.Losses < n || b.Refusals == 0 {
		t.Error("too little happened: the simulation tests nothing")
	}
}

// Seeds which once violated an invariant, be it by a fault of the elector or of the simulation.
func TestPastFailures(t *testing.T) {
	file, err := os.Open("testdata/seeds")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		n++
		if r := Run(seed, Options{}); len(r.Violations) > 0 {
			t.Errorf("seed %d (%s): %s", seed, r.World.Name, r.Violations[0])
		}
	}
	if n == 0 {
		t.Error("there are no past failures to look at")
	}
}

func TestTheSameSeedIsTheSameRun(t *testing.T) {
	hashes := map[uint64]bool{}
	for range 30 {
		seed := rand.Uint64()
		x, y := Run(seed, Options{Minutes: 4}), Run(seed, Options{Minutes: 4, Trace: true})
		if x.Hash != y.Hash || x.Outcome != y.Outcome {
			t.Errorf("seed %d: two runs differ", seed)
		}
		hashes[x.Hash] = true
	}
	if len(hashes) < 30 {
		t.Error("different seeds give the same run")
	}
}

// What goes into a machine determines what comes out: what was recorded can be replayed.
func TestMachinesReplayExactly(t *testing.T) {
	steps := 0
	for seed := range uint64(20) {
		machines := map[string]*core.Machine{}
		Run(seed, Options{Minutes: 4, Record: func(candidate string, cfg core.Config, in core.Input, out []core.Action) {
			id := candidate + " " + cfg.Election
			if in.Kind == core.Want && in.Caller == 1 { // a new process
				machines[id] = core.New(cfg)
			}
			steps++
			if got := machines[id].Step(in); !reflect.DeepEqual(got, out) {
				t.Fatalf("seed %d, %s: got %+v, recorded %+v", seed, id, got, out)
			}
		}})
	}
	if steps < 10_000 {
		t.Errorf("only %d steps were replayed", steps)
	}
}

// Without a kind of fault that had nothing to act on, the run is the same to the last bit: one kind doesn't shift what happens to the others.
func TestOneKindLessLeavesTheOthersAlone(t *testing.T) {
	compared := 0
	for seed := range uint64(10) {
		whole := Run(seed, Options{Minutes: 4})
		planned := map[Kind]bool{}
		for _, o := range whole.Plan {
			planned[o.Kind] = true
		}
		for k := range planned {
			less := Run(seed, Options{Minutes: 4, Without: map[Kind]bool{k: true}})
			if whole.Fired[k] > 0 {
				continue
			}
			compared++
			if less.Hash != whole.Hash {
				t.Errorf("seed %d: without %q, which did nothing, the run is another one", seed, k)
			}
		}
	}
	if compared == 0 {
		t.Error("every kind of fault had something to act on")
	}
}

func TestEveryKindHasANameAndWords(t *testing.T) {
	names := map[string]bool{}
	for k := range kinds {
		if specs[k].name == "" || specs[k].text == "" || names[specs[k].name] {
			t.Errorf("kind %d: name %q, text %q", k, specs[k].name, specs[k].text)
		}
		names[specs[k].name] = true
	}
	if len(names) < 40 {
		t.Errorf("%d kinds", len(names))
	}
	for i := range invariants {
		if i.String() == "" || i.Text() == "" {
			t.Errorf("invariant %d has no words", i)
		}
	}
}
