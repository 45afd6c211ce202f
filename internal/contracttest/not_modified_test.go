package contracttest_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// documents304 lists the routes whose 304 means that the desired state already exists: five by the
// contract, and the subscription to an issue, for which deployed servers send it.
var documents304 = []string{
	"POST /projects/:id/issues/:issue_iid/subscribe",
	"POST /projects/:id/issues/:issue_iid/unsubscribe",
	"POST /projects/:id/issues/:issue_iid/todo",
	"POST /projects/:id/merge_requests/:merge_request_iid/subscribe",
	"POST /projects/:id/merge_requests/:merge_request_iid/unsubscribe",
	"POST /projects/:id/merge_requests/:merge_request_iid/todo",
}

// A 304 is "unchanged" on the six routes that document it, and on a read with a condition of the
// caller. On all other routes it is an error that leaves the outcome of a write open: otherwise
// code such as `err != nil && !forge.IsNotModified(err)` would treat a lost write as done.
func TestNotModified(t *testing.T) {
	called, methods := map[string]bool{}, map[string]bool{}
	for _, c := range cases.All(t) {
		method := fmt.Sprint(c.Endpoint.ID, c.Method.Type())
		if methods[method] {
			continue
		}
		methods[method] = true
		i := slices.IndexFunc(forge.Routes(), func(r forge.Route) bool {
			return r.Method == c.Endpoint.Method && r.Template == c.Endpoint.Path
		})
		require.GreaterOrEqual(t, i, 0, "%s is not a route", c.Name)
		route := forge.Routes()[i]
		name := route.Method + " " + route.Template
		called[name] = true
		checkNotModified(t, c, route, slices.Contains(documents304, name), false)
		if route.Class == forge.ClassSafe {
			checkNotModified(t, c, route, false, true)
		}
	}
	for _, route := range forge.Routes() {
		assert.True(t, called[route.Method+" "+route.Template], "%s %s is not called", route.Method, route.Template)
	}
	for _, name := range documents304 {
		assert.True(t, called[name], "%s is not a route", name)
	}
}

func checkNotModified(t *testing.T, c *cases.Case, route forge.Route, documents, condition bool) {
	t.Helper()
	client := memoryClient(t, func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(r.URL.Path, "/auth/") && route.Template != "/jwt/auth" {
			return jsonResponse(http.StatusOK, `{"token":"`+cases.Token+`"}`), nil // for the call
		}
		return &http.Response{StatusCode: http.StatusNotModified, Header: http.Header{}, Body: http.NoBody}, nil
	}, forge.WithVocabulary(cases.Vocabulary()), forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}),
		forge.WithRegistry(registryAddress, authAddress), forge.WithRegistryCredentials(cases.User, "password"))
	in, _ := c.Arguments(t, client, c.Fill(t, 0, nil))
	in = append(in, reflect.ValueOf(forge.SkipValidation()))
	if condition {
		in = append(in, reflect.ValueOf(forge.Header("If-Modified-Since", "Mon, 02 Jan 2034 15:04:05 GMT")))
	}
	err := cases.Consume(c.Method.Call(in))
	name := fmt.Sprintf("%s %s %s, condition: %t", c.Name, route.Method, route.Template, condition)
	var e *forge.Error
	if !assert.ErrorAs(t, err, &e, name) {
		return
	}
	describe := func(unchanged, unusable, open, counted bool) string {
		return fmt.Sprintf("IsNotModified: %t, ErrInvalidResponse: %t, MaybeApplied: %t, counted as a failure: %t",
			unchanged, unusable, open, counted)
	}
	fails := !documents && !condition
	assert.Equal(t, describe(!fails, fails, fails && route.Class != forge.ClassSafe, fails),
		describe(forge.IsNotModified(err), errors.Is(err, forge.ErrInvalidResponse), e.MaybeApplied, client.Stats().Failures == 1), name)
	assert.Equal(t, 304, e.Status, name)
	assert.Equal(t, 1, e.Attempts, name)
}
