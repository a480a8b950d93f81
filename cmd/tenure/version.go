package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by release builds: -ldflags "-X main.version=v1.2.3".
var version string

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Tell the version", Args: noArgs,
		Example: "  tenure version\n  tenure version --json",
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version string `json:"version"`
				Commit  string `json:"commit,omitempty"`
				Go      string `json:"go"`
				System  string `json:"system"`
			}{Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
			v.Version, v.Commit = buildVersion()
			if a.json {
				return written(json.NewEncoder(a.stdout).Encode(v))
			}
			_, err := fmt.Fprintf(a.stdout, "tenure %s (%s, %s)\n", v.Version, v.Go, v.System)
			return written(err)
		},
	}
}

func buildVersion() (number, commit string) {
	number = version
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
		if number == "" {
			number = info.Main.Version
		}
	}
	if number == "" {
		number = "(devel)"
	}
	return number, commit
}
