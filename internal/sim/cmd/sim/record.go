package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/tenure-go/tenure/internal/sim"
)

// recordFile holds one line of JSON for each recorded run. Only this command writes it, and never in CI.
const recordFile = "internal/sim/runs.jsonl"

// entry is a line of the record.
type entry struct {
	Commit     string `json:"commit"`
	Seeds      int    `json:"seeds"`
	Violations int    `json:"violations"`
}

// recordable refuses to record what can't be traced to a commit.
func recordable() error {
	if os.Getenv("CI") != "" {
		return errors.New("CI records nothing")
	}
	changed, err := git("status", "--porcelain", "--", ".", ":!"+recordFile)
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("commit first: a recorded run belongs to a commit, and these are changed:\n%s", changed)
	}
	return nil
}

func record(b *sim.Batch) error {
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return err
	}
	line, err := json.Marshal(entry{commit, b.Seeds, b.Violated})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(recordFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output() //nolint:noctx // it ends by itself
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
