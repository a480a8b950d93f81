package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// runner is the program that hunts: the simulation's own command.
const runner = "./internal/sim/cmd/sim"

// build compiles the runner in a folder, with the mutant's file in the place of the original; nil: without a mistake. No source is copied into the module.
func build(ctx context.Context, dir string, m *mutant) (program string, err error) {
	program = filepath.Join(dir, "sim")
	args := []string{"build", "-ldflags=-s -w", "-o", program}
	if m != nil {
		overlay, err := writeOverlay(dir, m)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	if out, err := exec.CommandContext(ctx, "go", append(args, runner)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return program, nil
}

// writeOverlay writes the mutated file, and the list that tells go where to find it.
func writeOverlay(dir string, m *mutant) (string, error) {
	original, err := filepath.Abs(m.path())
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	text, err := m.apply(string(source))
	if err != nil {
		return "", err
	}
	mutated := filepath.Join(dir, m.file)
	if err := os.WriteFile(mutated, []byte(text), 0o644); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o644)
}
