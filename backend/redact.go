package backend

import (
	"errors"
	"net/url"
	"strings"
)

const redacted = "xxxxx"

// secretParams are URL parameters whose value no output may show, in any store.
var secretParams = []string{"token", "password", "pass", "secret"}

// redact returns err with every secret taken out of its text. errors.Is still finds what err wraps; an error that showed a secret can't be unwrapped, since its parts
// would show it again.
func redact(err error, secrets []string) error {
	text := err.Error()
	clean := clean(text, secrets)
	if clean == text {
		return err
	}
	return &redactedError{text: clean, err: err}
}

func clean(text string, secrets []string) string {
	for _, s := range secrets {
		if s == "" {
			continue
		}
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), url.UserPassword("", s).String()[1:]} {
			text = strings.ReplaceAll(text, form, redacted)
		}
	}
	return text
}

type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string        { return e.text }
func (e *redactedError) Is(target error) bool { return errors.Is(e.err, target) }
