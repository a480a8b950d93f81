package backend

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxName is the greatest length of an election's name and of a candidate's ID, in bytes.
const MaxName = 256

// CheckName returns an error that wraps ErrInvalid when name can't be an election's name or a candidate's ID; what says which of them.
func CheckName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: the %s is empty; give it a name of 1 to %d bytes", ErrInvalid, what, MaxName)
	case len(name) > MaxName:
		return fmt.Errorf("%w: the %s is %d bytes long; at most %d are allowed", ErrInvalid, what, len(name), MaxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: the %s %q is not valid UTF-8", ErrInvalid, what, name)
	}
	return nil
}

// Escape maps each name to a text of ASCII letters, digits, '.', '_', '-' and '%' alone, different names to different texts. Stores put it into keys, where the
// other characters may mean something.
func Escape(name string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}
