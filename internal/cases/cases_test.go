package cases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenure-go/tenure/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const root = "../.."

func TestThePageAgreesWithTheCode(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "cases.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := readPage(string(text))
	if err != nil {
		t.Fatal(err)
	}
	c := code{cases: map[string]map[string]bool{}}
	for _, k := range conformance.Cases() {
		c.cases[k.Name] = map[string]bool{}
		for _, id := range k.Covers {
			if wholly.MatchString(id) {
				c.cases[k.Name][id] = true
			}
		}
	}
	if c.tests, err = readTests(root); err != nil {
		t.Fatal(err)
	}
	if c.mutants, err = readMutants(root); err != nil {
		t.Fatal(err)
	}
	delete(c.tests, "internal/cases.TestAPageThatIsWrongIsNoticed") // whose ids are made up
	if err := check(rows, c); err != nil {
		t.Error(err)
	}
	if len(rows) < 100 || len(c.tests) < 300 || len(c.cases) < 100 || len(c.mutants) < 100 {
		t.Errorf("%d rows, %d tests, %d cases, %d mutants: something wasn't read", len(rows), len(c.tests), len(c.cases), len(c.mutants))
	}
}

func TestAPageThatIsWrongIsNoticed(t *testing.T) {
	c := code{
		tests:   map[string]map[string]bool{"a/b.TestOne": {"R1": true, "PE2": true}},
		cases:   map[string]map[string]bool{"a store keeps time": {"DX1": true}},
		mutants: map[string]bool{"it is late": true},
	}
	right := "| R1 | it fails | `a/b.TestOne` |\n| PE2 | it fails | `a/b.TestOne` |\n| DX1 | it fails | *a store keeps time*; later: more | *it is late*; by hand: it stops |\n" +
		"| DX2 | it fails | later: effects | later |\n"
	for i := range 10 {
		right += "| EC" + string(rune('1'+i%9)) + strings.Repeat("0", i/9) + " | it fails | later: effects |\n"
	}
	audit := func(page string) error {
		rows, err := readPage(page)
		if err != nil {
			return err
		}
		return check(rows, c)
	}
	if err := audit("# Page\n\n|  | what | what |\n| --- | --- | --- |\n" + right); err != nil {
		t.Errorf("a right page: %v", err)
	}
	for says, change := range map[string][2]string{
		"no test":         {"TestOne", "TestGone"},
		"no case":         {"keeps time", "kept time"},
		"listed twice":    {"| DX1 |", "| R1 |"},
		"isn't listed":    {"| R1 |", "| none |"},
		"doesn't name":    {"*a store keeps time*", "`a/b.TestOne`"},
		"neither later":   {"later: more", "maybe"},
		"want 3":          {"| it fails | `", "| it | fails | `"},
		"out of scope":    {"later: effects", "out of scope: no"},
		"PE2":             {"| PE2 |", "| none |"},
		"no mutant":       {"*it is late*", "*it is early*"},
		"not made by":     {"by hand: it stops", "by hand"},
		"want 4":          {" | *it is late*; by hand: it stops", ""},
		"\"later\" is no": {"*it is late*; by hand: it stops", "later"},
	} {
		if err := audit(strings.ReplaceAll(right, change[0], change[1])); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v", says, err)
		}
	}
}
