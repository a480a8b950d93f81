//go:build !linux && !darwin

package custombackend

import "errors"

const canLock = false

func tryLock(string) (unlock func(), err error) { return nil, errors.ErrUnsupported }
