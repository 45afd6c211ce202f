package credential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

const secret = "glpat-THE-SECRET-0123456789"

// tokens returns a source with the tokens in order; the last one is returned repeatedly.
func tokens(all ...string) func(context.Context, string) (*oauth2.Token, error) {
	return func(context.Context, string) (*oauth2.Token, error) {
		token := &oauth2.Token{AccessToken: all[0]}
		all = all[min(1, len(all)-1):]
		return token, nil
	}
}

func fixedToken(t *testing.T, kind Kind, token string) Credential {
	t.Helper()
	c, err := Fixed(kind, token)
	require.NoError(t, err)
	return c
}

// Each kind has its own header, and the anonymous one has none.
func TestAuthorize(t *testing.T) {
	for _, test := range []struct {
		credential   Credential
		kind         Kind
		header, want string
	}{
		{Credential{}, Anonymous, "", ""},
		{fixedToken(t, AccessToken, "abc"), AccessToken, "Private-Token", "abc"},
		{fixedToken(t, JobToken, "abc"), JobToken, "Job-Token", "abc"},
		{fixedToken(t, JobToken, `!~"'$`), JobToken, "Job-Token", `!~"'$`},
		{Basic("user", "pass:word"), UserPassword, "Authorization", "Basic dXNlcjpwYXNzOndvcmQ="},
		{Bearer(tokens("abc")), OAuthToken, "Authorization", "Bearer abc"},
	} {
		name, value, _, err := test.credential.Authorize(t.Context())
		require.NoError(t, err)
		assert.Equal(t, test.header, name)
		assert.Equal(t, test.want, value)
		assert.Equal(t, test.kind, test.credential.Kind())
		assert.Equal(t, test.header, test.credential.Header())
	}
}

// A token that cannot be in a header is refused with the reason.
func TestBadTokens(t *testing.T) {
	const illegal = "the token has spaces, control bytes or bytes outside ASCII"
	const trim, quoted = illegal + ": remove the line end with strings.TrimSpace", "the token is in quotes, or it is the name of a variable: pass its value alone"
	for token, reason := range map[string]string{
		"": "the token is empty", "a b": illegal, "a\n": trim, " a": trim, " \n": illegal, " ä": illegal, "a\x00": illegal, "ä": illegal, "a\x7f": illegal,
		`"a"`: quoted, `'a'`: quoted, "$TOKEN": quoted, "Bearer a": `the token begins with "Bearer": pass the token alone`,
	} {
		for _, kind := range []Kind{AccessToken, JobToken} {
			_, err := Fixed(kind, token)
			require.EqualError(t, err, reason, "%q", token)
		}
		var failed *Error
		err := authorizeError(t, Bearer(tokens(token)))
		require.ErrorAs(t, err, &failed, "%q", token)
		assert.False(t, failed.Temporary)
	}
	for _, kind := range []string{"a b", "a:b", "ä", "(a)", "a\x7f", "\x00"} {
		typed := func(context.Context, string) (*oauth2.Token, error) {
			return &oauth2.Token{AccessToken: "abc", TokenType: kind}, nil
		}
		err := authorizeError(t, Bearer(typed))
		require.ErrorContains(t, err, "type has illegal bytes", kind)
		_, err = NewOAuth(&oauth2.Token{AccessToken: "abc", TokenType: kind}, nil)
		require.ErrorContains(t, err, "type has bytes", kind)
	}
	nothing := func(context.Context, string) (*oauth2.Token, error) { return nil, nil }
	err := authorizeError(t, Bearer(nothing))
	require.ErrorContains(t, err, "returned no token")
}

// A prefix that is right for the kind of the credential has no advice.
func TestMisplaced(t *testing.T) {
	for token, advice := range map[string][2]string{
		"glcbt-abc": {"pass it with WithJobToken", ""}, "glpat-abc": {"", "pass it with WithToken"},
		"glrt-abc": {"does not accept", "does not accept"}, "x": {"", ""},
	} {
		for i, kind := range []Kind{AccessToken, JobToken} {
			got := fixedToken(t, kind, token).Misplaced()
			assert.Equal(t, advice[i] == "", got == "", token)
			assert.Contains(t, got, advice[i])
		}
	}
}

// Two credentials are the same if they send the same token in the same header. Credentials whose
// token changes are not compared.
func TestSame(t *testing.T) {
	asked := false
	other := Bearer(func(context.Context, string) (*oauth2.Token, error) {
		asked = true
		return &oauth2.Token{AccessToken: "abc"}, nil
	})
	all := []Credential{
		{}, fixedToken(t, AccessToken, "abc"), fixedToken(t, AccessToken, "abd"), fixedToken(t, JobToken, "abc"),
		Basic("a", "b"), Basic("a", "c"), Basic("b", "b"),
	}
	again := []Credential{
		{}, fixedToken(t, AccessToken, "abc"), fixedToken(t, AccessToken, "abd"), fixedToken(t, JobToken, "abc"),
		Basic("a", "b"), Basic("a", "c"), Basic("b", "b"),
	}
	for i := range all {
		for j := range again {
			assert.Equal(t, i == j, all[i].Same(again[j]), "%d and %d", i, j)
		}
		assert.False(t, all[i].Same(other))
		assert.False(t, other.Same(all[i]))
	}
	assert.False(t, other.Same(other))
	assert.False(t, asked, "a token was requested in order to compare it")
}

// Only a token that may change is renewed, and only if the new one differs from the one that was
// sent.
func TestRenew(t *testing.T) {
	fresh, err := fixedToken(t, AccessToken, "abc").Renew(t.Context(), Sent{})
	assert.False(t, fresh)
	require.NoError(t, err)

	var refused []string
	source := tokens("one", "one", "two")
	c := Bearer(func(ctx context.Context, token string) (*oauth2.Token, error) {
		refused = append(refused, token)
		return source(ctx, token)
	})
	_, _, sent, err := c.Authorize(t.Context())
	require.NoError(t, err)
	for _, want := range []bool{false, true} {
		fresh, err = c.Renew(t.Context(), sent)
		require.NoError(t, err)
		assert.Equal(t, want, fresh)
	}
	fresh, err = c.Renew(t.Context(), Sent{})
	require.NoError(t, err)
	assert.True(t, fresh, "a request without a token")
	assert.Equal(t, []string{"", "one", "one", ""}, refused)

	failure := errors.New("no token today")
	failing := Bearer(func(context.Context, string) (*oauth2.Token, error) { return nil, failure })
	fresh, err = failing.Renew(t.Context(), sent)
	assert.False(t, fresh)
	require.ErrorIs(t, err, failure)
}

// Redact removes the latest token, and the token that the request was sent with.
func TestRedact(t *testing.T) {
	const second = "glpat-ANOTHER-SECRET-98765"
	text := "a " + secret + " b " + second
	assert.Equal(t, text, Credential{}.Redact(text, Sent{}))
	assert.Equal(t, "a [redacted] b "+second, fixedToken(t, AccessToken, secret).Redact(text, Sent{}))

	c := Bearer(tokens(secret, second))
	_, _, sent, err := c.Authorize(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "a [redacted] b "+second, c.Redact(text, Sent{}))
	fresh, err := c.Renew(t.Context(), sent)
	require.NoError(t, err)
	assert.True(t, fresh)
	assert.Equal(t, "a "+secret+" b [redacted]", c.Redact(text, Sent{}))
	assert.Equal(t, "a [redacted] b [redacted]", c.Redact(text, sent))

	pair := Basic("user", "long-password")
	_, value, _, err := pair.Authorize(t.Context())
	require.NoError(t, err)
	encoded := strings.TrimPrefix(value, "Basic ")
	assert.Equal(t, "[redacted] [redacted] user", pair.Redact("long-password "+encoded+" user", Sent{}))
}

// No printed or encoded form of a credential, or of a sent token, contains the secret.
func TestHidden(t *testing.T) {
	changing := Bearer(tokens(secret))
	_, _, sent, err := changing.Authorize(t.Context())
	require.NoError(t, err)
	for _, v := range []any{fixedToken(t, AccessToken, secret), Basic("user", secret), changing, sent} {
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
		encoded, _ := json.Marshal(v)
		for _, shown := range []string{fmt.Sprint(v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v), fmt.Sprintf("%s", v), log.String(), string(encoded)} {
			assert.NotContains(t, shown, secret)
		}
	}
}

// The text of an error is its reason, and its cause can be unwrapped.
func TestError(t *testing.T) {
	err := error(&Error{Reason: "the reason", Cause: context.DeadlineExceeded})
	assert.Equal(t, "the reason", err.Error())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.NoError(t, errors.Unwrap(&Error{Reason: "the reason"}))
}

// authorizeError returns the error of a credential that returns no header.
func authorizeError(t *testing.T, c Credential) error {
	t.Helper()
	name, value, _, err := c.Authorize(t.Context())
	assert.Empty(t, name+value)
	return err
}
