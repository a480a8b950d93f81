package leaderhttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"

	"github.com/tenure-go/tenure/backend"
)

// Forwarded is the header of a forwarded request: the ID of the candidate that forwarded it, escaped as in a URL's query. A request that has it is not forwarded again.
const Forwarded = "Tenure-Forwarded-By"

type targetKey struct{}

// Forward serves requests while this process leads, and forwards others to the leader. It answers 503 with Retry-After when nobody leads, the leader isn't known or can't be reached, or the request was forwarded
// already; and 502 when the leader's address is unusable, or the leader broke off the exchange.
func (s *Site) Forward(next http.Handler) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: s.rewrite, Transport: s.cfg.Transport, ErrorHandler: s.failed,
		FlushInterval: -1, // what the leader streams, the client gets at once
		ErrorLog:      slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelWarn),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.serve(w, r, next) {
			return
		}
		leader := s.known().Candidate
		switch {
		case r.Header.Get(Forwarded) != "":
			s.refuse(w, http.StatusServiceUnavailable, "the request was forwarded to a process that does not lead")
			return
		case leader.ID == "":
			s.refuse(w, http.StatusServiceUnavailable, "nobody is known to lead")
			return
		case leader.ID == s.cfg.Elector.Config().Candidate.ID:
			s.refuse(w, http.StatusServiceUnavailable, "this process is about to lead, or to stop")
			return
		}
		to, err := target(leader.Address)
		if err != nil {
			s.cfg.Logger.ErrorContext(r.Context(), "leaderhttp: the leader can't be forwarded to", slog.String("leader", leader.ID), slog.Any("error", err))
			s.refuse(w, http.StatusBadGateway, fmt.Sprintf("the leader can't be forwarded to: %v", err))
			return
		}
		proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), targetKey{}, to)))
	})
}

// rewrite points a request to the leader. All candidates serve the same site, so the Host stays, and what earlier proxies said of the client.
func (s *Site) rewrite(p *httputil.ProxyRequest) {
	to, _ := p.In.Context().Value(targetKey{}).(*url.URL)
	p.SetURL(to)
	p.Out.Host = p.In.Host
	p.Out.Header["X-Forwarded-For"] = p.In.Header["X-Forwarded-For"]
	p.SetXForwarded()
	for _, kept := range []string{"X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v := p.In.Header[kept]; v != nil {
			p.Out.Header[kept] = v
		}
	}
	p.Out.Header.Set(Forwarded, url.QueryEscape(s.cfg.Elector.Config().Candidate.ID))
}

// failed answers for a leader that didn't.
func (s *Site) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil { // the client has gone
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	s.cfg.Logger.WarnContext(r.Context(), "leaderhttp: forwarding failed", slog.Any("error", err))
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		s.refuse(w, http.StatusServiceUnavailable, "the leader can't be reached")
		return
	}
	s.refuse(w, http.StatusBadGateway, "the leader broke off; the request may have been carried out")
}

// target is where a leader with the given address is reached.
func target(address string) (*url.URL, error) {
	invalid := func(why string) error { return fmt.Errorf("%w: address: %s", backend.ErrInvalid, why) }
	if address == "" {
		return nil, invalid("it is empty: set Candidate.Address")
	}
	if host, port, err := net.SplitHostPort(address); err == nil && host != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err == nil {
			address = "http://" + address
		}
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, invalid("it is neither a URL nor host:port") // the parser's text would show a password
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, invalid("it is neither an http or https URL nor host:port")
	case u.User != nil:
		return nil, invalid("it has credentials, which everybody can read in the store")
	case u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return nil, invalid("a URL needs a host, and no query or fragment")
	}
	return u, nil
}
