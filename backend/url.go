package backend

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// URL is a store's address. Unlike net/url it allows several hosts, as clusters need: "etcd://a:2379,b:2379".
// Its String hides passwords.
type URL struct {
	Scheme   string
	User     string
	Password string
	Hosts    []string // host or host:port, as written; empty for stores without a server
	Path     string   // with its leading slash, unescaped; for "memory:NAME" what follows the colon
	Params   url.Values
}

// ParseURL reads a store's URL. Its errors wrap ErrInvalid and never show the URL, since a malformed one may show a password anywhere.
func ParseURL(raw string) (*URL, error) {
	if raw == "" {
		return nil, fmt.Errorf("%w: the store URL is empty; give one such as redis://host:6379/0 or sqlite:///path", ErrInvalid)
	}
	scheme, rest, found := strings.Cut(raw, ":")
	if !found || !validScheme(scheme) {
		return nil, fmt.Errorf("%w: the store URL has no scheme; it must look like redis://host:6379/0 or sqlite:///path", ErrInvalid)
	}
	u := &URL{Scheme: strings.ToLower(scheme)}
	if strings.Contains(rest, "#") {
		return nil, u.malformed("it has a '#'; write special characters in a password or path as %XX")
	}
	rest, query, _ := strings.Cut(rest, "?")
	var err error
	if u.Params, err = url.ParseQuery(query); err != nil || !validParams(u.Params) {
		return nil, u.malformed("the part after '?' is not of the form name=value&name=value; write special characters as %XX")
	}
	authority, hasAuthority := strings.CutPrefix(rest, "//")
	if !hasAuthority {
		if u.Path, err = url.PathUnescape(rest); err != nil {
			return nil, u.malformed("the part after the scheme has a bad % escape")
		}
		return u, nil
	}
	path := ""
	if i := strings.IndexByte(authority, '/'); i >= 0 {
		authority, path = authority[:i], authority[i:]
	}
	if u.Path, err = url.PathUnescape(path); err != nil {
		return nil, u.malformed("the path has a bad % escape")
	}
	return u, u.parseAuthority(authority)
}

func (u *URL) parseAuthority(authority string) error {
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, password, _ := strings.Cut(authority[:i], ":")
		authority = authority[i+1:]
		var err error
		if u.User, err = url.PathUnescape(user); err == nil {
			u.Password, err = url.PathUnescape(password)
		}
		if err != nil {
			return u.malformed("user or password has a bad % escape; write special characters as %XX")
		}
	}
	if authority == "" {
		return nil
	}
	for host := range strings.SplitSeq(authority, ",") {
		if !validHost(host) {
			return u.malformed("a host is empty or not of the form host:port; several are divided by commas; special characters in a password must be written as %XX")
		}
		u.Hosts = append(u.Hosts, host)
	}
	return nil
}

func (u *URL) malformed(why string) error {
	return fmt.Errorf("%w: the %s URL is malformed: %s", ErrInvalid, u.Scheme, why)
}

// validParams refuses names that no driver has. They may be a part of a password with a '?' in it, so no error may show them.
func validParams(params url.Values) bool {
	for name := range params {
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			return false
		}
	}
	return true
}

func validScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(s[i]))) {
			return false
		}
	}
	return s != ""
}

func validHost(host string) bool {
	name := host
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		name = host[:i]
		if n, err := strconv.Atoi(host[i+1:]); err != nil || n < 1 || n > 65535 {
			return false
		}
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		return strings.HasSuffix(inner, "]") && len(inner) > 1
	}
	return name != "" && !strings.ContainsAny(name, ":@[]%? ")
}

// String returns the URL for people. Passwords and secret parameters are hidden.
func (u *URL) String() string {
	var b strings.Builder
	b.WriteString(u.Scheme + ":")
	if len(u.Hosts) > 0 || strings.HasPrefix(u.Path, "/") {
		b.WriteString("//")
	}
	if u.User != "" || u.Password != "" {
		b.WriteString(url.PathEscape(u.User))
		if u.Password != "" {
			b.WriteString(":" + redacted)
		}
		b.WriteString("@")
	}
	b.WriteString(strings.Join(u.Hosts, ",") + (&url.URL{Path: u.Path}).EscapedPath())
	if len(u.Params) > 0 {
		shown := url.Values{}
		for name, values := range u.Params {
			if slices.Contains(secretParams, name) {
				values = []string{redacted}
			}
			shown[name] = values
		}
		b.WriteString("?" + shown.Encode())
	}
	return b.String()
}

// Secrets lists the texts in u that no output may show.
func (u *URL) Secrets() []string {
	var secrets []string
	if u.Password != "" {
		secrets = append(secrets, u.Password)
	}
	for _, name := range secretParams {
		secrets = append(secrets, u.Params[name]...)
	}
	return secrets
}

// Text returns the parameter name, or def when the URL doesn't have it.
func (u *URL) Text(name, def string) string {
	if v, ok := u.Params[name]; ok {
		return v[0]
	}
	return def
}

// Duration returns the parameter name as a duration such as "1.5s", or def when the URL doesn't have it.
func (u *URL) Duration(name string, def time.Duration) (time.Duration, error) {
	v, ok := u.Params[name]
	if !ok {
		return def, nil
	}
	d, err := time.ParseDuration(v[0])
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%w: URL parameter %s=%q is not a duration such as 500ms or 3s", ErrInvalid, name, v[0])
	}
	return d, nil
}

// Int returns the parameter name as a whole number of at least least, or def when the URL doesn't have it.
func (u *URL) Int(name string, def, least int) (int, error) {
	v, ok := u.Params[name]
	if !ok {
		return def, nil
	}
	n, err := strconv.Atoi(v[0])
	if err != nil || n < least {
		return 0, fmt.Errorf("%w: URL parameter %s=%q is not a whole number of at least %d", ErrInvalid, name, v[0], least)
	}
	return n, nil
}

// Bool returns the parameter name as a switch, 1 or 0, true or false; false when the URL doesn't have it.
func (u *URL) Bool(name string) (bool, error) {
	v, ok := u.Params[name]
	if !ok {
		return false, nil
	}
	b, err := strconv.ParseBool(v[0])
	if err != nil {
		return false, fmt.Errorf("%w: URL parameter %s=%q is not 1 or 0", ErrInvalid, name, v[0])
	}
	return b, nil
}
