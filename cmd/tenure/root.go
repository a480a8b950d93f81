package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	_ "github.com/tenure-go/tenure/backend/all" // every store that --store can name
)

// app is what all commands share.
type app struct {
	stdout, stderr io.Writer
	store          string
	storeGiven     func() bool // --store is on the command line, perhaps empty
	json           bool
	verbose        bool
}

const rootLong = `tenure elects one leader among many processes and runs a program only there.

Every command needs to know the store that keeps the leases. Give its URL in the environment
variable TENURE_STORE or with --store; without either it is an SQLite file of this user, which
elects among the processes of this user on this machine alone. An empty URL is refused:

  redis://user:password@host:6379/0        one Redis server; rediss:// with TLS
  redis+sentinel://host1,host2/master      Redis behind Sentinel
  redis+cluster://host1,host2              a Redis cluster
  sqlite:///path/to/file.db                a file on a local disk

Use TENURE_STORE for a URL with a password: everybody on the machine can read command lines.`

const rootExample = `  export TENURE_STORE=redis://:password@redis.internal:6379/0
  tenure run --election settlement -- ./settle.sh     on each machine
  tenure status --election settlement                 who leads?
  tenure watch --election settlement                  follow who leads
  tenure candidates settlement                        who stands by?`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:     "tenure",
		Short:   "Run a program on one of many machines at a time",
		Long:    rootLong,
		Example: rootExample,
		Args:    noCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },

		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	flags := root.PersistentFlags()
	flags.StringVar(&a.store, "store", "", "URL of the store; default $TENURE_STORE, else an SQLite file of this user. "+
		"A password given here shows in the process list: use TENURE_STORE for it")
	a.storeGiven = func() bool { return flags.Changed("store") }
	flags.BoolVar(&a.json, "json", false, "write JSON: results to standard output, logs to standard error, one object a line")
	flags.BoolVar(&a.verbose, "verbose", false, "log every step of the election")
	root.AddCommand(a.runCommand(), a.statusCommand(), a.watchCommand(), a.listCommand(), a.candidatesCommand(), a.handoverCommand(), a.stepdownCommand(),
		a.forceCommand(), a.forgetCommand(), a.adviseCommand(), a.conformanceCommand(), a.versionCommand())
	return root
}

// noCommand refuses what is no command. An argument may be a URL with a password, so only plain words are shown.
func noCommand(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	shown := "what is given"
	if strings.Trim(args[0], "abcdefghijklmnopqrstuvwxyz") == "" && len(args[0]) < 20 {
		shown = fmt.Sprintf("%q", args[0])
	}
	return usage("%s is not a command; there are run, status, watch, list, candidates, handover, stepdown, force-release, forget, advise, conformance and version, see 'tenure help'", shown)
}

// noArgs refuses arguments without showing them.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes flags only, but got %d other arguments; see '%[1]s --help'", cmd.CommandPath(), len(args))
	}
	return nil
}

// flagError tells what is wrong with a flag. It doesn't show values: one may be a URL with a password.
func flagError(cmd *cobra.Command, err error) error {
	hint := fmt.Sprintf("see '%s --help'", cmd.CommandPath())
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &missing):
		return usage("--%s needs a value; %s", missing.GetSpecifiedName(), hint)
	case errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "stringToString":
		return usage("--%s: the value must look like zone=north; %s", invalid.GetFlag().Name, hint)
	case errors.As(err, &invalid):
		return usage("--%s: the value is not a %s%s; %s", invalid.GetFlag().Name, invalid.GetFlag().Value.Type(), exampleOf(invalid.GetFlag()), hint)
	}
	if !cmd.HasParent() {
		hint = "the commands are run, status, watch, list, candidates, handover, stepdown, force-release, forget, advise, conformance and version, " + hint
	}
	return usage("%s; %s", unknownFlag(err), hint)
}

func unknownFlag(err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return "a flag is malformed"
	}
	name := unknown.GetSpecifiedName()
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" || len(name) > 20 {
		return "there is no such flag"
	}
	return fmt.Sprintf("there is no flag %q", name)
}

func exampleOf(f *pflag.Flag) string {
	if f.Value.Type() == "duration" {
		return " such as 500ms or 5s"
	}
	return ""
}
