package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestForgeTypes compares the types of forge that generated code uses with its API.
func TestForgeTypes(t *testing.T) {
	api, err := os.ReadFile("../api/forge.txt")
	require.NoError(t, err)
	for schema, typ := range forgeTypes {
		require.Regexp(t, `(?m)^pkg forge, type `+typ+` struct\b`, string(api), schema)
	}
	for _, e := range forgeEnums {
		values := map[string]bool{}
		for _, match := range regexp.MustCompile(`(?m)^pkg forge, const \w+ `+e.typ+` = "(.*)"$`).FindAllStringSubmatch(string(api), -1) {
			values[match[1]] = true
		}
		require.Equal(t, wordSet(e.values), values, e.typ)
	}
}
