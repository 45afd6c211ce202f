package forge

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documents304 lists the routes whose 304 means that the desired state is there: five by the
// contract, and the subscription to an issue, to which deployed servers respond so.
var documents304 = []string{
	"POST /projects/:id/issues/:issue_iid/subscribe",
	"POST /projects/:id/issues/:issue_iid/unsubscribe",
	"POST /projects/:id/issues/:issue_iid/todo",
	"POST /projects/:id/merge_requests/:merge_request_iid/subscribe",
	"POST /projects/:id/merge_requests/:merge_request_iid/unsubscribe",
	"POST /projects/:id/merge_requests/:merge_request_iid/todo",
}

// A 304 is "unchanged" on the six routes that document it, and on a read with a condition of the
// caller. On all other routes it is an error that leaves the outcome of a write open: an idiom
// such as `err != nil && !forge.Unchanged(err)` would take a lost write for done.
func TestNotModified(t *testing.T) {
	called, methods := map[string]bool{}, map[string]bool{}
	for _, c := range conformanceCases(t) {
		method := fmt.Sprint(c.endpoint.ID, c.method.Type())
		if methods[method] {
			continue
		}
		methods[method] = true
		i := slices.IndexFunc(Routes(), func(r Route) bool {
			return r.Method == c.endpoint.Method && r.Template == c.endpoint.Path
		})
		require.GreaterOrEqual(t, i, 0, "%s is no route", c.name)
		route := Routes()[i]
		name := route.Method + " " + route.Template
		called[name] = true
		checkNotModified(t, c, route, slices.Contains(documents304, name), false)
		if route.Class == ClassSafe {
			checkNotModified(t, c, route, false, true)
		}
	}
	for _, route := range Routes() {
		assert.True(t, called[route.Method+" "+route.Template], "%s %s is not called", route.Method, route.Template)
	}
	for _, name := range documents304 {
		assert.True(t, called[name], "%s is no route", name)
	}
}

func checkNotModified(t *testing.T, c *conformanceCase, route Route, documents, condition bool) {
	t.Helper()
	w := newWire(t, func(s seen) act {
		if strings.HasPrefix(s.uri, "/auth/") && route.Template != "/jwt/auth" {
			return sayJSON(`{"token":"` + conformanceToken + `"}`) // for the call
		}
		return say(http.StatusNotModified, "")
	})
	defer w.close()
	client, err := NewClient(w.url, WithToken(conformanceToken), WithVocabulary(contractWords()), WithRetry(impatient),
		WithRegistry(w.url+"/registry", w.url+"/auth"), WithRegistryCredentials(conformanceUser, "password"),
		WithHTTPClient(&http.Client{Transport: &http.Transport{}}))
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	in, _ := c.arguments(t, client, c.fill(t, 0, nil))
	in = append(in, reflect.ValueOf(Unchecked()))
	if condition {
		in = append(in, reflect.ValueOf(Header("If-Modified-Since", "Mon, 02 Jan 2034 15:04:05 GMT")))
	}
	_, err = taste(c.method.Call(in))
	name := fmt.Sprintf("%s %s %s, condition: %t", c.name, route.Method, route.Template, condition)
	var e *Error
	if !assert.ErrorAs(t, err, &e, name) {
		return
	}
	describe := func(unchanged, unusable, open, counted bool) string {
		return fmt.Sprintf("Unchanged: %t, ErrAnswer: %t, MaybeApplied: %t, counted as a failure: %t",
			unchanged, unusable, open, counted)
	}
	fails := !documents && !condition
	assert.Equal(t, describe(!fails, fails, fails && route.Class != ClassSafe, fails),
		describe(Unchanged(err), errors.Is(err, ErrAnswer), e.MaybeApplied, client.Stats().Failures == 1), name)
	assert.Equal(t, 304, e.Status, name)
	assert.Equal(t, 1, e.Attempts, name)
}
