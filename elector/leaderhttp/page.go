package leaderhttp

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/tenure-go/tenure/backend"
)

// holder is the leader as pages show it.
type holder struct {
	ID string `json:"id"`
	backend.Description
	Token int64 `json:"token,omitempty"`
}

// page is what Leader answers, and with the fields of a problem document what a refusal does.
type page struct {
	Title    string  `json:"title,omitempty"`
	Status   int     `json:"status,omitempty"`
	Detail   string  `json:"detail,omitempty"`
	Election string  `json:"election"`
	Leading  bool    `json:"leading"` // this process leads
	Leader   *holder `json:"leader"`  // null: nobody is known to lead
}

// Leader answers 200 while this process leads and 503 otherwise, with who leads as JSON: for load balancers that send all to the leader, and for people.
func (s *Site) Leader() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p := s.page()
		if p.Leading {
			write(w, http.StatusOK, "application/json", p)
			return
		}
		w.Header().Set("Retry-After", s.retryAfter())
		write(w, http.StatusServiceUnavailable, "application/json", p)
	})
}

// page tells who leads.
func (s *Site) page() page {
	cfg := s.cfg.Elector.Config()
	p := page{Election: cfg.Election, Leading: s.itself()}
	known := s.known()
	if p.Leading && known.Candidate.ID != cfg.Candidate.ID { // the news isn't here yet
		known.Candidate, known.Token = cfg.Candidate, 0
	}
	if known.Candidate.ID != "" {
		p.Leader = &holder{ID: known.Candidate.ID, Description: known.Candidate.Description, Token: known.Token}
	}
	return p
}

// refuse answers with a problem document.
func (s *Site) refuse(w http.ResponseWriter, status int, detail string) {
	p := s.page()
	p.Title, p.Status, p.Detail = http.StatusText(status), status, detail
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", s.retryAfter())
	}
	write(w, status, "application/problem+json", p)
}

// retryAfter is when to ask again, in whole seconds: soon where a leader is known, and after the time of a fail-over where none is.
func (s *Site) retryAfter() string {
	if s.known().Candidate.ID != "" {
		return "1"
	}
	return strconv.Itoa(int((s.cfg.Elector.Config().TTL + time.Second - 1) / time.Second))
}

func write(w http.ResponseWriter, status int, kind string, body any) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone
}
