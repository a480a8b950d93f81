package etcd

import (
	"context"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/internal/testenv"
)

// A token that one member gave is refused by another that is a little behind: that passes, and is no denial.
func TestAMemberThatDoesNotKnowTheTokenYet(t *testing.T) {
	t.Parallel()
	srv := testenv.Etcd(t, testenv.Options{Auth: true, Settings: []string{cheap}})
	s := inner(t, client(t, srv.URL(), ""))
	for _, refusal := range []error{rpctypes.ErrGRPCInvalidAuthToken, rpctypes.ErrGRPCAuthOldRevision} {
		asked := 0
		got, err := hedge(deadline(t, ample), s, func(context.Context) (int, error) {
			if asked++; asked <= 5 {
				return 0, refusal
			}
			return asked, nil
		})
		if err != nil || got != 6 {
			t.Errorf("%v: answer %d, error %v", refusal, got, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*firstPause)
	_, err := hedge(ctx, s, func(context.Context) (int, error) { return 0, rpctypes.ErrGRPCInvalidAuthToken })
	cancel()
	class(t, "a token that stays unknown", err, backend.Denied)
}
