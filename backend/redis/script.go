package redis

import (
	"context"
	_ "embed" // the scripts
	"fmt"
	"strconv"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
)

// The scripts, each with the same first part, which reads the record.
var (
	//go:embed lua/record.lua
	recordPart string
	//go:embed lua/acquire.lua
	acquirePart string
	//go:embed lua/renew.lua
	renewPart string
	//go:embed lua/release.lua
	releasePart string
	//go:embed lua/get.lua
	getPart string
	//go:embed lua/raise.lua
	raisePart string

	acquireScript = goredis.NewScript(recordPart + acquirePart)
	renewScript   = goredis.NewScript(recordPart + renewPart)
	releaseScript = goredis.NewScript(recordPart + releasePart)
	getScript     = goredis.NewScript(recordPart + getPart)
	raiseScript   = goredis.NewScript(recordPart + raisePart)
)

// answer is what a script replied: a status, and what belongs to it.
type answer struct {
	status string
	parts  []string
}

// run calls a script on an election's record. A server that doesn't know the script, as after a restart or a fail-over, gets its text within the same call.
//
// Every error that it returns leaves open whether the script ran.
func (s *Store) run(ctx context.Context, script *goredis.Script, election string, args ...any) (answer, error) {
	if err := s.usable(ctx); err != nil {
		return answer{}, err
	}
	key, nonce := s.names.key(election), s.nonce()
	args = append([]any{nonce, strconv.Itoa(backend.Version)}, args...)
	reply, err := script.Run(ctx, s.client, []string{key}, args...).StringSlice()
	if err != nil {
		return answer{}, explain(err)
	}
	if len(reply) < 3 || reply[0] != key || reply[1] != nonce {
		s.resync()
		return answer{}, errShifted
	}
	s.contact()
	return s.judge(key, answer{status: reply[2], parts: reply[3:]})
}

// judge turns away the replies that any script may give.
func (s *Store) judge(key string, a answer) (answer, error) {
	switch a.status {
	case "foreign":
		return a, fmt.Errorf("%w: the key %s holds something that is not a lease record; choose another prefix", backend.ErrInvalid, key)
	case "malformed":
		return a, fmt.Errorf("%w: the record at %s has a field that is not a number; somebody else writes to it", backend.ErrInvalid, key)
	}
	return a, nil
}

// part returns the i-th part, or nothing where the reply is shorter: what can't be read then fails its check.
func (a answer) part(i int) string {
	if i < len(a.parts) {
		return a.parts[i]
	}
	return ""
}
