package postgres

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// Elections implements backend.Lister. A page is read in the order of the primary key; besides, each call looks through the names of the whole prefix for those with a zero byte.
func (s *Store) Elections(ctx context.Context, after string, limit int) (names []string, err error) {
	before, _, _ := strings.Cut(after, "\x00") // names without a zero byte that come after it come after this too
	err = s.do(ctx, func(ctx context.Context, texts *statements) error {
		all, err := s.request(ctx, []statement{
			{sql: "SELECT pg_is_in_recovery()"},
			{texts.elections, []string{encode(s.options.Prefix), encode(before), strconv.Itoa(limit)}},
		})
		if err != nil {
			return err
		}
		if all[0][0][0] == "t" {
			return errReplica // what it shows may be old
		}
		for _, r := range all[1] {
			if name := decode(r[0]); name > after {
				names = append(names, name)
			}
		}
		return nil
	})
	slices.Sort(names)
	return names[:min(len(names), limit)], err
}
