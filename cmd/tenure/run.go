package main

import (
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure/backend"
)

const runLong = `Run CMD on the machine that leads the election, and on no other.

Start the same line on each machine. One is elected and runs CMD; the others wait. While CMD runs, its
lease is renewed. When CMD ends by itself, the election is given up and tenure exits with CMD's code.
When the lease is lost, CMD is killed before another can be elected, and tenure campaigns again.

The candidate is listed for 'tenure candidates', where the store can do that. If one with a higher --priority stands by,
or if 'tenure handover' or 'tenure stepdown' asks, CMD gets TERM, after --grace KILL; when it has ended, the election is
handed over, and tenure campaigns again.

This makes CMD run on one machine at a time, not once: when it has ended, the next one that waits, or
starts a moment later, runs it too. What must happen once a night has to note in its data that it is done.

CMD is run without a shell, in a process group of its own, by a second process (the guardian) that ends
it in time even if tenure itself is killed or frozen. What CMD leaves behind when it ends gets TERM, and
KILL 2 s later. Its standard input is tenure's, but /dev/null in place of a terminal. Its environment is
tenure's, TENURE_STORE with its password included, and:

  TENURE_ELECTION   the election's name
  TENURE_TOKEN      the fencing token: a number that is greater in each later term
  TENURE_ATTEMPT    this term's own 32 hexadecimal digits; "$TENURE_TOKEN.$TENURE_ATTEMPT" is the token's full form
  TENURE_HOLDER     the id of this candidate
  TENURE_TTL        for how long a dead leader keeps the election, such as 5s

Signals: TERM and INT step down. CMD's group gets the signal, after --grace KILL; the election is given up
when CMD and all its descendants are gone. A second TERM or INT kills at once. HUP, QUIT, USR1, USR2 and
WINCH are passed on to CMD's group; while no CMD runs, HUP and QUIT end tenure as TERM does.

Exit codes:
  0-125   CMD's own
  126     CMD can't be executed
  127     CMD was not found
  128+n   CMD was ended by signal n, or tenure was while no CMD ran (143 for TERM, 130 for INT)
  64      wrong usage: a flag, the store's URL or another setting
  69      the store is not available (only with --once or --wait)
  70      internal error, or processes of CMD that can't be killed
  71      the system refused to start the guardian
  75      somebody else leads, and --wait has passed
  76      the lease was lost, or another was preferred or asked for, while CMD ran (only with --once)
With --once a store that doesn't answer for one TTL ends the wait with 69.`

const runExample = `  tenure run --election settlement -- ./settle.sh --loop
  tenure run --election nightly --once --wait 0s -- ./report.sh          from cron: while another leads, exit 75
  tenure run --election api --priority 2 --attr version=2 -- ./api        takes over from those with a lower priority
  tenure run --election mover --ttl 15s --grace 1m -- python3 mover.py
  tenure run --election demo -- sh -c 'echo "I lead under token $TENURE_TOKEN"; sleep 3600'`

// runOptions is what 'tenure run' was asked to do.
type runOptions struct {
	election, id, address string
	ttl, wait, grace      time.Duration
	waits                 bool // --wait is given
	once                  bool
	listing
	command []string
}

func (a *app) runCommand() *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:                   "run --election NAME [flags] -- CMD [ARG...]",
		Short:                 "Run a program while leading",
		Long:                  runLong,
		Example:               runExample,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.waits = cmd.Flags().Changed("wait")
			o.command = args
			o.asked = cmd.Flags().Changed("listed")
			if err := o.check(cmd.ArgsLenAtDash()); err != nil {
				return err
			}
			return a.run(o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.election, "election", "", "name of the election (required)")
	flags.DurationVar(&o.ttl, "ttl", 5*time.Second, "for how long a dead leader keeps the election; at least 1.6s")
	flags.DurationVar(&o.wait, "wait", 0, "exit with 75 after waiting this long to lead; 0s tries once, which takes up to a TTL where a dead holder has to be watched (default: wait for ever)")
	flags.BoolVar(&o.once, "once", false, "exit with 76 when the lease is lost or handed over, instead of campaigning again")
	flags.DurationVar(&o.grace, "grace", 10*time.Second, "time from TERM or INT to KILL when stepping down on purpose")
	flags.StringVar(&o.id, "id", "", "id of this candidate, unique among all (default: made of host, process id and random digits)")
	flags.StringVar(&o.address, "address", "", "where this candidate is reached, for others to see in 'tenure status'")
	o.flags(flags)
	return cmd
}

// check finds what is wrong with the command line before anything is opened.
func (o *runOptions) check(dash int) error {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		return usage("'tenure run' works on Linux and macOS, not on %s: use the Go library there; status and watch work", runtime.GOOS)
	}
	if err := checkElection(o.election); err != nil {
		return err
	}
	switch {
	case dash < 0 && len(o.command) > 0 || dash > 0:
		return usage("put -- before the command: tenure run --election NAME -- CMD ARGS")
	case len(o.command) == 0 || o.command[0] == "":
		return usage("no command is given: tenure run --election NAME -- CMD ARGS")
	case o.ttl <= 0:
		return usage("--ttl must be more than zero, such as 5s")
	case o.wait < 0:
		return usage("--wait must not be negative; 0s tries once, and without --wait tenure waits for ever")
	case o.grace < 0:
		return usage("--grace must not be negative; 0s kills the command at once")
	}
	if o.id != "" {
		if err := backend.CheckName("candidate's id", o.id); err != nil {
			return usage("--id: %s", plainly(err))
		}
	}
	return o.sane()
}

func checkElection(name string) error {
	if name == "" {
		return usage("--election is missing or empty: give the election a name, such as --election settlement")
	}
	if err := backend.CheckName("election's name", name); err != nil {
		return usage("--election: %s", plainly(err))
	}
	return nil
}

// candidate is how others see this process.
func (o *runOptions) candidate() backend.Candidate {
	return backend.Candidate{ID: o.id, Description: backend.Description{App: filepath.Base(o.command[0]), Address: o.address}}
}
