//go:build !go1.27

package main

import (
	"errors"
	"io"
)

const hasV2 = false

func unmarshalV2(io.Reader, any) error { return errors.ErrUnsupported }
