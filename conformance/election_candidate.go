package conformance

import (
	"context"
	"iter"

	"github.com/tenure-go/tenure/elector"
	"github.com/tenure-go/tenure/fence"
)

// candidate is what the election cases need of an elector. Tests put broken ones in its place.
type candidate interface {
	Run(ctx context.Context, lead func(context.Context, leadership) error) error
	Leading() bool
	Observe(ctx context.Context) iter.Seq2[elector.Leader, error]
	Close() error
}

// leadership is what the cases need of a term.
type leadership interface {
	Token() fence.Token
	Valid() bool
	Resign(ctx context.Context) error
}

var _ leadership = (*elector.Term)(nil)

// genuine is the product's own elector.
type genuine struct{ *elector.Elector }

func newGenuine(cfg elector.Config) (candidate, error) {
	e, err := elector.New(cfg)
	return genuine{e}, err
}

func (g genuine) Run(ctx context.Context, lead func(context.Context, leadership) error) error {
	return g.Elector.Run(ctx, func(ctx context.Context, t *elector.Term) error { return lead(ctx, t) })
}
