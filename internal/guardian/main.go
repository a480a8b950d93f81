package guardian

// Subcommand is the hidden first argument that makes a binary a guardian.
const Subcommand = "__guardian"

// IsGuardian tells whether a process with these arguments is a guardian. A
// binary that calls [Start] asks this first thing in main, before it opens or
// prints anything, and then exits with the result of [Main].
func IsGuardian(args []string) bool { return len(args) > 1 && args[1] == Subcommand }

// Main is the guardian's whole life. It returns the exit code. It must be
// called from the main goroutine.
func Main() int { return serve(Now) }
