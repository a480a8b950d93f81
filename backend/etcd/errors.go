package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tenure-go/tenure/backend"
)

// errFull tells what to do about a server that takes no writes.
var errFull = errors.New("the server's space quota is used up, so that it refuses all writes while leases are still refreshed: compact and defragment it, then run etcdctl alarm disarm")

// errEnded says that the store was closed while a call was under way: whether it was applied isn't known.
var errEnded = errors.New("the store was closed during the call")

// code is the class of a server's or the driver's error.
func code(err error) codes.Code {
	var e rpctypes.EtcdError
	switch {
	case errors.As(rpctypes.Error(err), &e):
		return e.Code()
	case errors.Is(err, context.DeadlineExceeded):
		return codes.DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return codes.Canceled
	}
	return status.Code(err)
}

// is compares an error, in whatever form it came, with one of rpctypes. A watch that the server ends tells the reason as a text only.
func is(err, target error) bool {
	return errors.Is(rpctypes.Error(err), target) || err != nil && strings.Contains(err.Error(), target.Error())
}

// expired says that the server doesn't know the token any more: it has restarted, the token is old, or users were changed.
func expired(err error) bool {
	return err != nil && (behind(err) || is(err, rpctypes.ErrUserEmpty))
}

// behind says that a member doesn't know a token, or a change of users, which another member gave or knows: it is a little behind. With a fresh token it is a matter of time.
func behind(err error) bool {
	return is(err, rpctypes.ErrInvalidAuthToken) || is(err, rpctypes.ErrAuthOldRevision)
}

// final reports whether asking another member can't help. "Not a primary lessor" comes as Unknown: members disagree for a moment.
func final(err error) bool {
	switch {
	case behind(err):
		return false
	case is(err, rpctypes.ErrNoSpace), is(err, rpctypes.ErrPermissionDenied), handshake(err):
		return true
	}
	switch code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Internal, codes.Unknown, codes.ResourceExhausted, codes.Aborted:
		return false
	}
	return true
}

// handshake says that TLS has failed: a certificate is wrong, which asking again doesn't change.
func handshake(err error) bool {
	text := err.Error()
	return strings.Contains(text, "authentication handshake failed") && (strings.Contains(text, "x509") || strings.Contains(text, "tls:")) || refusedClient(text)
}

// refusedClient says that the server wants another certificate of the client.
func refusedClient(text string) bool {
	return strings.Contains(text, "tls: certificate required") || strings.Contains(text, "remote error: tls: bad certificate") ||
		strings.Contains(text, "remote error: tls: unknown certificate authority")
}

// explain says what an error means. All of them stay unknown.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case is(err, rpctypes.ErrNoSpace):
		return fmt.Errorf("%w: %w", errFull, err)
	case code(err) == codes.PermissionDenied, code(err) == codes.Unauthenticated, is(err, rpctypes.ErrPermissionDenied), is(err, rpctypes.ErrAuthFailed), is(err, rpctypes.ErrUserEmpty), refusedClient(err.Error()):
		return fmt.Errorf("%w: %w", backend.ErrDenied, err)
	}
	return err
}

// notFound says that the etcd lease has ended.
func notFound(err error) bool { return is(err, rpctypes.ErrLeaseNotFound) }
