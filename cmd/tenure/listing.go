package main

import (
	"github.com/spf13/pflag"

	"github.com/tenure-go/tenure/backend"
	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/internal/roster"
)

// listing is how a candidate is listed.
type listing struct {
	listed, asked bool // asked: --listed is given
	priority      int
	attrs         map[string]string
}

func (l *listing) flags(flags *pflag.FlagSet) {
	flags.BoolVar(&l.listed, "listed", true, "list this candidate for 'tenure candidates', and let the leader be asked to step down; by default where the store can do that")
	flags.IntVar(&l.priority, "priority", 0, "a leader hands over to a candidate with a higher one")
	flags.StringToStringVar(&l.attrs, "attr", nil, "name=value to publish with the candidate, such as zone=north; may be repeated")
}

func (l *listing) sane() error {
	if !l.listed && l.wanted() {
		return usage("--priority and --attr are for candidates that are listed: leave out --listed=false")
	}
	if _, err := (roster.Note{Standing: &roster.Standing{Attributes: l.attrs}}).Encode(); err != nil {
		return usage("--attr: %s", plainly(err))
	}
	return nil
}

// wanted reports that something was asked for that only a list can give.
func (l *listing) wanted() bool { return l.priority != 0 || len(l.attrs) > 0 }

// apply sets what the elector has to know.
func (l *listing) apply(cfg *elector.Config, store backend.LeaseStore) error {
	if !l.listed {
		return nil
	}
	if !roster.Kept(store) {
		if l.wanted() || l.asked {
			return usage("the %s store lists no candidates: leave out --listed, --priority and --attr", store.Limits().Store)
		}
		return nil
	}
	cfg.Listed, cfg.Preference.Priority = true, l.priority
	if len(l.attrs) > 0 {
		cfg.Preference.Publish = func() map[string]string { return l.attrs }
	}
	return nil
}
