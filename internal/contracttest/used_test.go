package contracttest_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var apiFunction = regexp.MustCompile(`(?m)^pkg forge, (?:func|method \(\*?(\w+)\)) (\w+)`)

// ofInterfaces are the methods that packages such as fmt and encoding/json call.
var ofInterfaces = strings.Fields("EncodeValues Error Format Is IsZero LogValue MarshalJSON Read String UnmarshalJSON Unwrap")

// TestEverythingIsUsed requires a use of each exported function and method in the README, a guide, an
// Example or an example program: what none of them needs is not worth its place in the API.
func TestEverythingIsUsed(t *testing.T) {
	var uses strings.Builder
	for _, pattern := range []string{"README.md", "docs/*.md", "example*_test.go", "forgetest/example*_test.go", "examples/*/*.go"} {
		for _, file := range glob(t, pattern) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			uses.Write(text)
		}
	}
	used := map[string]bool{}
	for _, word := range regexp.MustCompile(`[.]\w+`).FindAllString(uses.String(), -1) {
		used[word[1:]] = true
	}
	api, err := os.ReadFile("api/forge.txt")
	require.NoError(t, err)
	found := apiFunction.FindAllStringSubmatch(string(api), -1)
	for _, f := range found {
		owner, name := f[1], f[2]
		assert.True(t, used[name] || owner != "" && slices.Contains(ofInterfaces, name), "nothing uses %s %s", owner, name)
	}
	assert.Greater(t, len(found), 200)
}
