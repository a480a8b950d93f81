package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the module's.
const root = "../../../.."

// Each mistake can still be seeded, and is Go. That it compiles and is caught takes longer: make core-mutants.
func TestEveryMistakeCanBeSeeded(t *testing.T) {
	names := map[string]bool{}
	for _, m := range all() {
		if names[m.name] {
			t.Errorf("two mistakes are called %q", m.name)
		}
		names[m.name] = true
		source, err := os.ReadFile(filepath.Join(root, m.path()))
		if err != nil {
			t.Fatal(err)
		}
		text, err := m.apply(string(source))
		if err != nil {
			t.Error(err)
			continue
		}
		if text == string(source) {
			t.Errorf("%s: nothing is changed", m.name)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), m.file, text, parser.SkipObjectResolution); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
	if len(names) < 25 {
		t.Errorf("only %d mistakes", len(names))
	}
}

func TestATextThatIsNotThereOnceIsAnError(t *testing.T) {
	m := mutant{name: "x", file: "f.go", old: "a", new: "b"}
	for _, source := range []string{"", "aa", "c"} {
		if text, err := m.apply(source); err == nil {
			t.Errorf("in %q it became %q", source, text)
		}
	}
}

func TestThirdsAreTheWholeList(t *testing.T) {
	seen := map[string]int{}
	for n := range 3 {
		for _, m := range third(all(), n) {
			seen[m.name]++
		}
	}
	for _, m := range all() {
		if seen[m.name] != 1 {
			t.Errorf("%q is in %d thirds", m.name, seen[m.name])
		}
	}
}

func TestTheTableGoesBetweenItsMarks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(file, []byte("before\n"+begin+"old\n"+end+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	catches := []catch{{mutant: mutant{name: "x", file: "f.go"}, seeds: []int{1, 3, 9}, by: []string{"I1", "I4"}}}
	if err := write(file, table(catches)); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(got); !strings.HasPrefix(text, "before\n"+begin) || !strings.HasSuffix(text, "| x | `f.go` | I1, I4 | 3 | 9 |\n"+end+"after\n") || strings.Contains(text, "old") {
		t.Errorf("the file has become:\n%s", text)
	}
	if err := os.WriteFile(file, []byte("no marks\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(file, "x"); err == nil {
		t.Error("a file without marks was written")
	}
}

func TestTheHuntersAnswerIsUnderstood(t *testing.T) {
	found := answer.FindStringSubmatch("found after 12 seeds: seed 34 (no margin (V10)): I1a at 01:02.000: believes\n")
	if found == nil || found[1] != "12" || found[2] != "I1a" {
		t.Errorf("got %q", found)
	}
}
