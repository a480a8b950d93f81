package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Whoever is asked, one answers; and when that one has stopped, another does, under a greater token.
func TestTheLeaderAnswers(t *testing.T) {
	for _, url := range []string{"memory:examples-forward", "sqlite://" + filepath.ToSlash(filepath.Join(t.TempDir(), "forward.db"))} {
		var out strings.Builder
		if err := run(t.Context(), url, &out); err != nil {
			t.Fatalf("%v\n%s", err, &out)
		}
		type answer struct {
			by    string
			token int64
		}
		var answers []answer
		asked := map[string]bool{}
		for line := range strings.Lines(out.String()) {
			var name string
			var a answer
			var order int
			if n, _ := fmt.Sscanf(line, "asked %s %s leads under token %d and makes order %d", &name, &a.by, &a.token, &order); n == 4 {
				asked[name] = true
				answers = append(answers, a)
			}
		}
		if len(asked) != 3 || len(answers) != 5 {
			t.Fatalf("%s:\n%s", url, &out)
		}
		first, second := answers[0], answers[3]
		if answers[1] != first || answers[2] != first || answers[4] != second || first.by == second.by || second.token <= first.token {
			t.Errorf("%s:\n%s", url, &out)
		}
	}
}
