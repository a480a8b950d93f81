package leaderhttp

import (
	"context"
	"errors"
	"net/http"

	"github.com/tenure-go/tenure/elector"
)

// LeaderOnly serves requests while this process leads, and answers others with 503, Retry-After, and a problem document (RFC 9457) that tells who leads.
func (s *Site) LeaderOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.serve(w, r, next) {
			s.refuse(w, http.StatusServiceUnavailable, "this process does not lead; ask the leader")
		}
	})
}

// serve lets next answer if this process leads, and reports whether it did.
func (s *Site) serve(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
	if s.cfg.Duty == nil {
		if !s.cfg.Elector.Leading() {
			return false
		}
		next.ServeHTTP(w, r)
		return true
	}
	err := s.cfg.Duty.Do(r.Context(), func(ctx context.Context, _ *elector.Term) error {
		next.ServeHTTP(w, r.WithContext(ctx))
		return nil
	})
	return !errors.Is(err, elector.ErrNotLeading)
}
