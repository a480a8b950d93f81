package consul

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/consul/api"

	"github.com/tenure-go/tenure/backend"
)

var (
	// errForeign is definite: it is found before anything is written.
	errForeign = fmt.Errorf("%w: foreign value", backend.ErrInvalid)
	// errContended is the error of a call that found another writer's change each time it wrote.
	errContended = errors.New("others change the record all the time")
	// errShort says that the server left out a part of its answer, as it does with what the token may not read.
	errShort = errors.New("the server's answer lacks a key: the token may not read it")
)

// deniedMarks are the texts with which servers refuse a token.
var deniedMarks = []string{"Permission denied", "ACL not found"}

// explain marks what an error of the client means. All of them stay unknown.
func explain(err error) error {
	if err == nil || errors.Is(err, backend.ErrDenied) {
		return err
	}
	var status api.StatusError
	denied := errors.As(err, &status) && (status.Code == 401 || status.Code == 403)
	for _, mark := range deniedMarks {
		denied = denied || strings.Contains(err.Error(), mark)
	}
	if denied {
		return deniedBy(err)
	}
	return err
}

// refusal is a transaction that the server has rolled back: nothing of it was applied.
type refusal struct{ reasons api.TxnErrors }

func (r *refusal) Error() string {
	texts := make([]string, 0, len(r.reasons))
	for _, reason := range r.reasons {
		texts = append(texts, reason.What)
	}
	return "refused: " + strings.Join(texts, "; ")
}

// changed reports that a transaction was rolled back: something is not as it was seen.
func changed(err error) bool {
	_, ok := errors.AsType[*refusal](err)
	return ok
}

// mentions reports whether one of the reasons has the text.
func (r *refusal) mentions(text string) bool { return strings.Contains(r.Error(), text) }

// concerns reports whether an operation within [from, to) was refused.
func (r *refusal) concerns(from, to int) bool {
	for _, reason := range r.reasons {
		if from <= reason.OpIndex && reason.OpIndex < to {
			return true
		}
	}
	return false
}

func deniedBy(err error) error { return fmt.Errorf("%w: %w", backend.ErrDenied, err) }

func versionError(version int) error {
	return fmt.Errorf("%w: version %d", backend.ErrVersion, version)
}

func movedError(to string) error { return fmt.Errorf("%w to %s", backend.ErrMoved, to) }

// nothingThere is what a foreign value means for who has a lease: it is gone.
func nothingThere(err error) error {
	if errors.Is(err, errForeign) {
		return fmt.Errorf("%w: %s", backend.ErrNotHeld, err.Error())
	}
	return err
}
