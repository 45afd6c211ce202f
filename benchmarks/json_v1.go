//go:build !go1.27

package main

// decodeV2 decodes with encoding/json/v2; nil before Go 1.27.
var decodeV2 decoder
