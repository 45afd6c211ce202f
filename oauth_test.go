package forge

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// A complete response of the token endpoint is final, unless it shows that the server did not
// execute the request or that a retry can succeed: another request with a rotating refresh token
// could lose the token. Temporary failures are retried, and redirects are not followed. The client
// secret is sent in another place only after a refusal. An error contains no part of the response.
func TestOAuthEndpointFails(t *testing.T) {
	const good = `{"access_token":"new","refresh_token":"r2","token_type":"bearer"}`
	const bad = `{"error":"invalid_grant","error_description":"` + secret + `","x":"r1"}`
	away := newWire(t, always(sayToken("stolen", "")))
	for _, test := range []struct {
		name   string
		answer act
		asked  int // requests if the place of the secret is known
		probed int // requests if the place must be found
		says   string
	}{
		{"HTML", say(200, "<html>"+secret, "Content-Type: text/html"), 1, 1, "token"},
		{"no token", sayJSON(`{"refresh_token":"` + secret + `"}`), 1, 1, "token"},
		{"no JSON", sayJSON(`{"access_token":`), 1, 1, ""},
		{"nothing", sayJSON(""), 1, 1, ""},
		{"a form without a token", say(200, "a=b", "Content-Type: application/x-www-form-urlencoded"), 1, 1, ""},
		{"no form", say(200, "%zz", "Content-Type: application/x-www-form-urlencoded"), 1, 1, ""},
		{"illegal token", sayJSON(`{"access_token":"a\nb ` + secret + `","refresh_token":"r2"}`), 1, 1, "illegal"},
		{"illegal type", sayJSON(`{"access_token":"new","refresh_token":"r2","token_type":"x\r\nInjected: y"}`), 1, 1, "illegal"},
		{"error with 200", sayJSON(bad), 1, 1, "invalid_grant"},
		{"strange code", say(400, `{"error":"`+secret+`"}`, jsonType), 1, 2, "400"},
		{"101", closing("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), 1, 1, ""},
		{"101 that stays open", silent("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), 1, 1, ""},
		{"203", say(203, good, jsonType), 1, 1, ""},
		{"204", say(204, ""), 1, 1, ""},
		{"206", say(206, good, jsonType), 1, 1, ""},
		{"299", say(299, good, jsonType), 1, 1, ""},
		{"302", say(302, bad, jsonType, "Location: "+away.url), 1, 1, "302"},
		{"307", say(307, bad, jsonType, "Location: "+away.url), 1, 1, "307"},
		{"400", say(400, bad, jsonType), 1, 2, "400 invalid_grant"},
		{"401", say(401, `{"error":"invalid_client"}`, jsonType), 1, 2, "401 invalid_client"},
		{"404", say(404, "", jsonType), 1, 2, ""},
		{"409", say(409, `{"message":"taken"}`, jsonType), 1, 2, ""},
		{"409, locked", say(409, `{"message":"Resource lock"}`, jsonType), 4, 4, ""},
		{"408", say(408, ""), 4, 4, ""},
		{"425", say(425, ""), 4, 4, ""},
		{"429", say(429, ""), 4, 4, ""},
		{"500", say(500, bad, jsonType), 4, 4, "500"},
		{"501", say(501, ""), 1, 1, ""},
		{"505", say(505, ""), 1, 1, ""},
		{"521", say(521, ""), 4, 4, ""},
		{"closed", closing(""), 4, 4, "token"},
		{"reset", reset(""), 4, 4, ""},
		{"cut short", closing("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"access_token\":\"new\""), 4, 4, ""},
		{"no HTTP", closing("garbage\r\n\r\n"), 4, 4, ""},
	} {
		for style, asked := range map[oauth2.AuthStyle]int{oauth2.AuthStyleInParams: test.asked, oauth2.AuthStyleAutoDetect: test.probed} {
			tokens, config := tokenServer(t, func(url.Values, int) act { return test.answer })
			config.Endpoint.AuthStyle = style
			api := guarded(t, fixed("new"))
			err := wireClient(t, api.url, WithOAuth(config, expired("r1"))).Do(t.Context(), callOf(RetryClassNonIdempotent), nil)
			require.ErrorIs(t, err, ErrNoCredential, test.name)
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded, test.name)
			require.ErrorContains(t, err, test.says, test.name)
			assert.Len(t, tokens.seen(), asked, "%s, style %d", err, style)
			assert.Empty(t, api.seen(), test.name)
			assert.Empty(t, reveals(err), test.name)
			assert.False(t, asError(t, err).MaybeApplied, test.name)
			assert.Zero(t, asError(t, err).Status, test.name)
		}
	}
	assert.Empty(t, away.seen())
	const again, client = ": the refresh token is wrong, expired, revoked or used already: authorize the application again", ": check ClientID and ClientSecret of the config"
	for code, remedy := range map[string]string{
		"invalid_request": "", "invalid_grant": again, "invalid_client": client, "unauthorized_client": client, "unsupported_grant_type": "", "invalid_scope": "",
	} {
		require.EqualError(t, withoutTokenResponse("(h)", &oauth2.RetrieveError{ErrorCode: code}, nil), "the token endpoint responded with an error "+code+" (h)"+remedy)
	}
	for status, remedy := range map[int]string{403: "", 404: ": check TokenURL of the config: for GitLab its path is /oauth/token", 405: ": check TokenURL of the config: for GitLab its path is /oauth/token"} {
		require.EqualError(t, withoutTokenResponse("(h)", &oauth2.RetrieveError{Response: &http.Response{StatusCode: status}}, nil), fmt.Sprintf("the token endpoint responded with %d (h)%s", status, remedy))
	}
}

// If the client secret is refused in one place, it is sent in the other place, and from then on
// only there.
func TestOAuthProbesTheStyle(t *testing.T) {
	tokens, config := tokenServer(t, func(form url.Values, n int) act {
		if form.Get("client_secret") == "" {
			return say(401, `{"error":"invalid_client"}`, jsonType)
		}
		return sayToken("new", "r2")
	})
	config.Endpoint.AuthStyle = oauth2.AuthStyleAutoDetect
	valid := "new"
	api := guarded(t, func() string { return valid })
	c := wireClient(t, api.url, WithOAuth(config, expired("r1")))
	require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
	assert.Len(t, tokens.seen(), 2)
	valid = "revoked"
	require.ErrorIs(t, c.Do(t.Context(), callOf(RetryClassSafe), nil), ErrUnauthorized)
	assert.Len(t, tokens.seen(), 3)
}

// A failure after the renewal of a refused token is retried as any other.
func TestOAuthThenFailure(t *testing.T) {
	_, config := tokenServer(t, func(url.Values, int) act { return sayToken("new", "r2") })
	answers := []act{say(401, ""), say(503, ""), sayJSON("{}")}
	api := newWire(t, func(seen) act {
		next := answers[0]
		answers = answers[1:]
		return next
	})
	c := wireClient(t, api.url, WithOAuth(config, &oauth2.Token{AccessToken: "old", RefreshToken: "r1"}))
	require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
	assert.Empty(t, answers)
}

// What is known of a failure is kept, without texts from the network.
func TestNetworkCause(t *testing.T) {
	reset, untrusted := &net.OpError{Op: "read", Err: io.EOF}, &tls.CertificateVerificationError{Err: io.EOF}
	for cause, want := range map[error]error{
		reset: reset, untrusted: untrusted, context.DeadlineExceeded: context.DeadlineExceeded,
		io.EOF: io.ErrUnexpectedEOF, io.ErrUnexpectedEOF: io.ErrUnexpectedEOF, http.ErrSchemeMismatch: http.ErrSchemeMismatch,
		os.ErrDeadlineExceeded: os.ErrDeadlineExceeded, io.ErrClosedPipe: nil,
	} {
		assert.Equal(t, want, networkCause(fmt.Errorf("a text: %w", &url.Error{Op: "Post", Err: cause})), "%v", cause)
	}
}

// A token is sent with its type.
func TestTokenType(t *testing.T) {
	for kind, sent := range map[string]string{"": "Bearer", "bearer": "Bearer", "MAC": "MAC", "DPoP": "DPoP", "x-y_z.1": "x-y_z.1"} {
		w := newWire(t, always(sayJSON("{}")))
		c := wireClient(t, w.url, WithOAuth(&oauth2.Config{}, &oauth2.Token{AccessToken: secret, TokenType: kind}))
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
		assert.Equal(t, sent+" "+secret, w.seen()[0].header.Get("Authorization"))
	}
}
