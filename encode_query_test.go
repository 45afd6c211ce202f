package forge

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// encodeValues returns the same text as url.Values.Encode.
func TestEncodeValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a", "b[]", "a b", "+", "%", "\xff", "\x00~._-*", "é"}))
		values := url.Values(rapid.MapOfN(text, rapid.SliceOfN(text, 0, 3), 0, 40).Draw(t, "values"))
		require.Equal(t, values.Encode(), encodeValues(values))
	})
	assert.Empty(t, encodeValues(nil))
}

// Hash and HashList are values for the query of a Call.
func TestHashValues(t *testing.T) {
	values := url.Values{}
	require.NoError(t, HashList{{"key": "a", "value": "1"}, {"key": "b"}}.EncodeValues("variables", &values))
	require.NoError(t, Hash{"team": "a b"}.EncodeValues("custom_attributes", &values))
	assert.Equal(t, url.Values{"variables[0][key]": {"a"}, "variables[0][value]": {"1"}, "variables[1][key]": {"b"}, "custom_attributes[team]": {"a b"}}, values)
	for _, err := range []error{HashList{{"[": "x"}}.EncodeValues("v", &values), Hash{"": "x"}.EncodeValues("v", &values)} {
		var invalid *ValidationError
		require.ErrorAs(t, err, &invalid)
		assert.Contains(t, invalid.Param, "v")
	}
}
