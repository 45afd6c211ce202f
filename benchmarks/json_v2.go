//go:build go1.27

package main

import (
	"encoding/json/v2"
	"io"
)

// decodeV2 decodes with encoding/json/v2; nil before Go 1.27.
var decodeV2 decoder = func(r io.Reader, out any) error { return json.UnmarshalRead(r, out) }
