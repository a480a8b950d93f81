package testenv

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed versions.env
var versionsFile string

// version returns one value of versions.env.
func version(name string) string {
	for line := range strings.Lines(versionsFile) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && key == name {
			return value
		}
	}
	return ""
}

// image returns the container image of a kind: from the environment, else from versions.env.
func image(kind string) string {
	name := strings.ToUpper(kind)
	return cmp.Or(os.Getenv("TENURE_TEST_"+name+"_IMAGE"), version(name+"_IMAGE"))
}

// cached finds a server that 'make servers' built, and falls back on PATH.
func cached(name, version string) (string, error) {
	file := filepath.Join(cacheDir(), "bin", name+"-"+version)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	return inPath(name)
}

func inPath(name string) (string, error) {
	file, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: no %s in the cache or in PATH", errMissing, name)
	}
	return filepath.Abs(file)
}

// cacheDir is where the scripts put what they build: see scripts/lib.sh.
func cacheDir() string {
	home, _ := os.UserHomeDir() // without a home nothing was built there either
	return cmp.Or(os.Getenv("TENURE_CACHE"), filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")), "tenure"))
}
