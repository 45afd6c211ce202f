package contracttest_test

import (
	"errors"
	"fmt"
	"maps"
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
	routes := map[string]forge.Route{}
	for _, route := range forge.Routes() {
		routes[route.Method+" "+route.Template] = route
	}
	called := map[string]bool{}
	for _, c := range cases.All(t) {
		name := c.Endpoint.Method + " " + c.Endpoint.Path
		require.Contains(t, routes, name)
		called[name] = true
		checkNotModified(t, c, routes[name], slices.Contains(documents304, name), false)
		if routes[name].Class == forge.ClassSafe {
			checkNotModified(t, c, routes[name], false, true)
		}
	}
	assert.Len(t, called, len(routes))
	assert.Subset(t, slices.Collect(maps.Keys(called)), documents304)
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
	fails := !documents && !condition
	assert.Equal(t, !fails, forge.IsNotModified(err), name)
	assert.Equal(t, fails, errors.Is(err, forge.ErrInvalidResponse), name)
	assert.Equal(t, fails && route.Class != forge.ClassSafe, e.MaybeApplied, name)
	assert.Equal(t, fails, client.Stats().Failures == 1, name)
	assert.Equal(t, 304, e.Status, name)
	assert.Equal(t, 1, e.Attempts, name)
}
