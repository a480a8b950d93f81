// Package guardian runs a command under a lease, so that the command cannot
// outlive the lease even if the process that holds it is killed or frozen.
//
// Three processes take part. The wrapper holds the lease and calls [Start]. It
// re-executes its own binary as the guardian, in a session of its own. The
// guardian starts the command in a process group of its own and is its parent.
//
//	wrapper ──control pipe──▶ guardian ──parent of──▶ command
//	        ◀──status pipe───
//
// # Deadlines
//
// The wrapper gives two absolute moments on the boot clock and moves them
// forward with [Child.Extend] after each renewal. At the soft deadline the
// command's group gets TERM. At the hard deadline the group and every remaining
// descendant get KILL. Once the soft deadline has passed, no message moves
// anything: a term that is over is not revived. The boot clock counts suspend,
// which Go's timers don't, so both sides look at it at least each 100 ms.
//
// # Failures
//
//	killed or frozen          what ends the command
//	wrapper killed            guardian: TERM at once, KILL at the hard deadline
//	wrapper frozen            guardian: TERM at the soft, KILL at the hard deadline
//	guardian killed           the kernel kills the command, the wrapper kills its
//	                          descendants; Exit.Reason is GuardianLost
//	guardian frozen           wrapper: KILL at the hard deadline, without TERM
//	all three killed          nothing is left to end
//	command ends by itself    guardian: TERM to what it left behind, KILL 2 s later
//
// Done is closed only when the command and all its descendants have ended, so
// the lease may be released then.
//
// # What it can't do
//
//   - If wrapper and guardian are both killed, descendants of the command that
//     are not the command itself live on. If both are frozen, or one is frozen and
//     the other killed, what they would have ended lives on until the frozen one
//     runs again. Guards at the resource are for this.
//   - A descendant that changed to another user (setuid) can't be killed by us.
//     Done waits for it, so the lease runs out rather than being released early.
//     A command that is itself setuid does not die with its guardian.
//   - What the command starts through a daemon (docker run, systemd-run, at) is
//     not its descendant.
//   - On macOS there is neither a subreaper nor a parent-death signal: only the
//     process group is ended, and it is the wrapper that ends it if the guardian
//     is killed.
//   - On other systems Start returns [ErrUnsupported].
//
// # Terminal
//
// The command runs in a session without a controlling terminal. Ctrl-C reaches
// the wrapper, which forwards it with [Child.Signal]. Output to a terminal works.
// A terminal as standard input is replaced by the null device, since two sessions
// would compete for what is typed; [Child.StdinDetached] tells so. Ctrl-Z
// freezes the wrapper, so the command ends at its deadline.
//
// # Secrets
//
// The guardian's arguments are fixed, and its environment holds only variables
// of the Go runtime and the dynamic linker. The command line and environment of
// the command travel through the control pipe. The command gets descriptors
// 0, 1 and 2 only.
package guardian
