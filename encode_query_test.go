package forge

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
