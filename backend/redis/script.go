package redis

import (
	"context"
	_ "embed" // the scripts
	"fmt"
	"strconv"

	goredis "github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/backend"
)

// The scripts. All have the head; then those for records have the part that knows them, and all of these but renew the one that reads one.
var (
	//go:embed lua/head.lua
	headPart string
	//go:embed lua/record.lua
	recordPart string
	//go:embed lua/one.lua
	onePart string
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
	//go:embed lua/forget.lua
	forgetPart string
	//go:embed lua/roster.lua
	rosterPart string
	//go:embed lua/enlist.lua
	enlistPart string
	//go:embed lua/delist.lua
	delistPart string
	//go:embed lua/candidates.lua
	candidatesPart string

	acquireScript = onRecord(acquirePart)
	renewScript   = goredis.NewScript(headPart + recordPart + renewPart)
	releaseScript = onRecord(releasePart)
	getScript     = onRecord(getPart)
	raiseScript   = onRecord(raisePart)
	forgetScript  = onRecord(forgetPart)

	enlistScript     = goredis.NewScript(headPart + rosterPart + enlistPart)
	delistScript     = goredis.NewScript(headPart + rosterPart + delistPart)
	candidatesScript = goredis.NewScript(headPart + rosterPart + candidatesPart)
)

func onRecord(part string) *goredis.Script {
	return goredis.NewScript(headPart + recordPart + onePart + part)
}

// answer is what a script replied: a status, and what belongs to it.
type answer struct {
	call   string // the mark of the call that it answers
	status string
	parts  []string
}

// run calls a script on an election's record.
func (s *Store) run(ctx context.Context, script *goredis.Script, election string, args ...any) (answer, error) {
	return s.call(ctx, s.client, script, []string{s.names.key(election)}, args...)
}

// call calls a script. A server that doesn't know the script, as after a restart or a fail-over, gets its text within the same call.
//
// Every error that it returns but ErrInvalid and ErrClosed leaves open whether the script ran.
func (s *Store) call(ctx context.Context, on goredis.Scripter, script *goredis.Script, keys []string, args ...any) (answer, error) {
	if err := s.usable(ctx); err != nil {
		return answer{}, err
	}
	nonce := s.nonce()
	reply, err := script.Run(ctx, on, keys, s.arguments(nonce, args)...).StringSlice()
	if err != nil {
		return answer{}, explain(err)
	}
	return s.read(keys[0], nonce, reply)
}

func (s *Store) arguments(nonce string, args []any) []any {
	return append([]any{nonce, strconv.Itoa(backend.Version)}, args...)
}

// read checks whose reply it is.
func (s *Store) read(key, nonce string, reply []string) (answer, error) {
	if len(reply) < 3 || reply[0] != key || reply[1] != nonce {
		s.resync()
		return answer{}, errShifted
	}
	s.contact()
	a := answer{call: nonce, status: reply[2], parts: reply[3:]}
	return a, refuse(key, a.status)
}

// refuse turns away what is no record.
func refuse(key, status string) error {
	switch status {
	case "foreign":
		return fmt.Errorf("%w: the key %s holds something that tenure has not written; choose another prefix", backend.ErrInvalid, key)
	case "malformed":
		return fmt.Errorf("%w: the record at %s has a field that is not a number; somebody else writes to it", backend.ErrInvalid, key)
	}
	return nil
}

// part returns the i-th part, or nothing where the reply is shorter: what can't be read then fails its check.
func (a answer) part(i int) string {
	if i < len(a.parts) {
		return a.parts[i]
	}
	return ""
}
