//go:build go1.27

package main

import (
	"encoding/json/v2"
	"io"
)

const hasV2 = true

func unmarshalV2(r io.Reader, out any) error { return json.UnmarshalRead(r, out) }
