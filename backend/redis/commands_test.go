package redis

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// portable are the commands that scripts may use: Redis 6.2 and later, Valkey and Dragonfly have them, with these arguments.
var portable = []string{"DEL", "HDEL", "HGETALL", "HLEN", "HMGET", "HRANDFIELD", "HSET", "PERSIST", "PEXPIRE", "PTTL", "PUBLISH", "TIME"}

// unportable is what Lua has in some servers only: Redis runs 5.1, Dragonfly 5.4, and scripts with a first line of flags don't run before Redis 7.
var unportable = regexp.MustCompile(`^#!|\bunpack\b|table\.unpack|%d|tostring|redis\.(setresp|breakpoint|log|sha1hex|acl_check_cmd|status_reply)|//|&|~[^=]|<<|>>`)

// Scripts use portable commands only, by name, and only on keys that are declared.
func TestScriptsArePortable(t *testing.T) {
	call := regexp.MustCompile(`redis\.p?call\(([^)]*)`)
	used := map[string]bool{}
	for _, file := range must[[]os.DirEntry](t)(os.ReadDir("lua")) {
		text := string(must[[]byte](t)(os.ReadFile("lua/" + file.Name())))
		for _, c := range call.FindAllStringSubmatch(text, -1) {
			name, rest, _ := strings.Cut(c[1], ",")
			name = strings.Trim(name, "'")
			used[name] = true
			if !slices.Contains(portable, name) {
				t.Errorf("%s calls %s", file.Name(), c[1])
			}
			first, _, _ := strings.Cut(strings.TrimSpace(rest), ",")
			if !slices.Contains([]string{"key", "channel", ""}, first) {
				t.Errorf("%s: the first argument of %s is %q, not a declared key", file.Name(), name, first)
			}
		}
		for line := range strings.Lines(text) {
			code, _, _ := strings.Cut(line, "--")
			if strings.Contains(code, "'%.0f'") || strings.Contains(code, `%d+`) {
				continue // a format, a pattern
			}
			if found := unportable.FindString(code); found != "" {
				t.Errorf("%s uses %q: %s", file.Name(), found, line)
			}
		}
	}
	if len(used) != len(portable) {
		t.Errorf("scripts use %v of %v", used, portable)
	}
}
