package forge

import (
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// credentialNames are spellings under which servers take a parameter that carries a credential: as
// it is, as an element of an array or of a hash, escaped once or twice, in other letters.
var credentialNames = []string{
	"private_token", "PRIVATE_TOKEN", "private_token[]", "private_token[x]", "private_token[x][]", "private_token[", "private_token]", "[private_token]",
	"private%5Ftoken", "private%5ftoken[]", "private_token%5B%5D", "PRIVATE%5FTOKEN%5Bx%5D", "private%255Ftoken", " private_token", "private_token ",
	"%70rivate_token", "access_token[]", "job_token[0]", "Sudo[]", "%53udo", "refresh_token[a]", "client_secret[]", "token[]",
}

// harmlessNames hold or resemble the name of a credential and are none.
var harmlessNames = []string{"tokens", "token_type", "private", "x[private_token]", "not[private_token]", "private_token_id", "in", "iids[]", "%zz", "[]", "100%"}

// A parameter is recognised as a credential however its name is spelled: in Query, in Call.Query,
// and in the links of the server.
func TestCredentialNames(t *testing.T) {
	asked := make(chan string, 10)
	w := newWire(t, func(s seen) act {
		asked <- s.uri
		return sayJSON("[]")
	})
	c := wireClient(t, w.url)
	for _, name := range credentialNames {
		var invalid *ValidationError
		err := c.Do(t.Context(), callOf(safe), nil, Query(name, secret))
		require.ErrorAs(t, err, &invalid, name)
		assert.Equal(t, "Query", invalid.Option)
		assert.Empty(t, reveals(err))
		err = c.Do(t.Context(), Call{Method: http.MethodGet, Route: "/user", Query: url.Values{name: {secret}}}, nil)
		require.ErrorAs(t, err, &invalid, name)
		assert.Equal(t, "Call.Query", invalid.Option)
		assert.Empty(t, reveals(err))
	}
	assert.Empty(t, w.seen())
	for _, name := range harmlessNames {
		require.NoError(t, c.Do(t.Context(), callOf(safe), nil, Query(name, "x")), name)
		got, err := url.Parse(<-asked)
		require.NoError(t, err)
		assert.Equal(t, url.Values{name: {"x"}}, got.Query())
	}
}

// A link of the server puts no credential into the next request, and neither does a cursor that
// holds one.
func TestCredentialNamesInLinks(t *testing.T) {
	for _, name := range credentialNames {
		w := newWire(t, func(s seen) act {
			if strings.Contains(s.uri, "page=2") {
				return sayJSON("[]")
			}
			return say(200, "[{}]", jsonType, "Link: <https://x/?"+url.QueryEscape(name)+"="+secret+"&page=2&labels[]=a>; rel=next")
		})
		c := wireClient(t, w.url)
		var page Response
		_, err := Collect(ListAs[map[string]any](t.Context(), c, Call{Method: http.MethodGet, Route: "/issues"}, OnePage(), Into(&page)))
		require.NoError(t, err)
		parts := strings.Split(string(page.Cursor), ".")
		place, err := base64.RawURLEncoding.DecodeString(parts[2])
		require.NoError(t, err)
		assert.NotContains(t, string(place), secret, name)
		query := url.Values{name: {secret}, "page": {"2"}}.Encode()
		parts[2] = base64.RawURLEncoding.EncodeToString([]byte(seal(query) + query))
		_, err = Collect(ListAs[map[string]any](t.Context(), c, Call{Method: http.MethodGet, Route: "/issues"}, StartAt(Cursor(strings.Join(parts, ".")))))
		require.NoError(t, err)
		_, err = Collect(ListAs[map[string]any](t.Context(), c, Call{Method: http.MethodGet, Route: "/issues"}))
		require.NoError(t, err)
		require.Len(t, w.seen(), 4)
		for _, s := range w.seen() {
			assert.NotContains(t, s.uri, secret, name)
		}
		assert.Contains(t, w.seen()[3].uri, "labels%5B%5D=a")
	}
}

// A log record never shows the value of such a parameter, whatever the address holds.
func TestCredentialNamesInLogs(t *testing.T) {
	for _, name := range credentialNames {
		for _, written := range []string{name, url.QueryEscape(name)} {
			shown := redactURL(&url.URL{Scheme: "https", Host: "x", Path: "/", RawQuery: "state=opened&" + written + "=" + secret})
			assert.NotContains(t, shown, secret, name)
			assert.Contains(t, shown, "state=opened")
		}
	}
	var log records
	w := newWire(t, always(say(302, "", "Location: /api/v4/moved?private_token[]="+secret)))
	require.Error(t, wireClient(t, w.url, log.option(slog.LevelDebug)).Do(t.Context(), callOf(safe), nil))
	_, text := log.lines(t)
	assert.NotContains(t, text, secret)
}

// A header that carries a credential is refused in any letters, and with the underscores that
// servers read as dashes.
func TestCredentialHeaderNames(t *testing.T) {
	w := newWire(t, always(sayJSON("{}")))
	c := wireClient(t, w.url)
	for _, name := range []string{"PRIVATE-TOKEN", "private-token", "Private_Token", "private_token", "JOB_TOKEN", "job-token", "Deploy_Token", "AUTHORIZATION", "proxy-authorization", "COOKIE", "SUDO"} {
		var invalid *ValidationError
		require.ErrorAs(t, c.Do(t.Context(), callOf(safe), nil, Header(name, secret)), &invalid, name)
		assert.Equal(t, "Header", invalid.Option)
	}
	assert.Empty(t, w.seen())
}
