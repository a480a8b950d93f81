package redis

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tenure-go/tenure/backend"
)

// errShifted says that a reply carries another call's mark, as when a connection's replies are out of step with its requests. It may be any call's, so it means
// nothing for this one.
var errShifted = errors.New("the reply belongs to another call: the connection is out of step")

// deniedMarks are the texts with which servers refuse a user. They are looked for anywhere, since older servers wrap the errors of a script's commands.
// "unauthenticated" is in the answer to a call that is too long for a client which hasn't logged in.
var deniedMarks = []string{"NOAUTH", "WRONGPASS", "NOPERM", "The user executing the script can't", "Protocol error: unauthenticated"}

// explain marks what a driver's error means. All of them stay unknown: even a refusal may come after the script has written.
func explain(err error) error {
	for _, mark := range deniedMarks {
		if strings.Contains(err.Error(), mark) {
			return fmt.Errorf("%w: %w", backend.ErrDenied, err)
		}
	}
	return err
}

// unexpected is the error for a status or content that no script of this release sends.
func unexpected(a answer) error {
	return fmt.Errorf("unexpected reply %q with %d parts", a.status, len(a.parts))
}
