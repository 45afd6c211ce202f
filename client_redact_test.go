package forge_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// TestRedact: what a user keeps of an exchange holds none of the client's credentials.
func TestRedact(t *testing.T) {
	const password = "pass&word"
	pair := base64.StdEncoding.EncodeToString([]byte("bot:" + password))
	client, err := forge.NewClient("https://forge.example.com", forge.WithJobToken("job-token-9"),
		forge.WithRegistry("https://registry.example.com", "https://forge.example.com"), forge.WithRegistryCredentials("bot", password))
	require.NoError(t, err)
	for text, want := range map[string]string{
		"JOB-TOKEN: job-token-9":                 "JOB-TOKEN: [redacted]",
		`{"t":"job\u002dtoken-9","u":"x"}`:       `{"t":"[redacted]","u":"x"}`,
		"Basic " + pair:                          "Basic [redacted]",
		"password=pass%26word&job=job-token-9":   "password=[redacted]&job=[redacted]",
		"nothing to hide: job-token, tok, [1,2]": "nothing to hide: job-token, tok, [1,2]",
	} {
		assert.Equal(t, want, client.Redact(text))
	}

	srv := forgetest.New(t)
	used := srv.Client(forge.WithTokenSource(oauth2.StaticTokenSource(&oauth2.Token{AccessToken: srv.Token})))
	_, err = used.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, "Bearer [redacted]", used.Redact("Bearer "+srv.Token))
}
