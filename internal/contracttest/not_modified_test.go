package contracttest_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// A 304 is "unchanged" on the routes whose state may already be the wanted one, by a rule of the
// catalogue, and on a read with a condition of the caller. On all other routes it is an error that leaves the outcome of a write open: otherwise
// code such as `err != nil && !errors.Is(err, forge.ErrNotModified)` would treat a lost write as done.
func TestNotModified(t *testing.T) {
	routes := map[string]forge.Route{}
	for _, route := range forge.Routes() {
		routes[route.Method+" "+route.Template] = route
	}
	called, unchanged := map[string]bool{}, 0
	for _, c := range cases.All(t) {
		name := c.Endpoint.Method + " " + c.Endpoint.Path
		require.Contains(t, routes, name)
		called[name] = true
		documents := c.Endpoint.HasRule("no_op")
		checkNotModified(t, c, routes[name], documents, false)
		if documents {
			unchanged++
		}
		if routes[name].Class == forge.RetryClassSafe {
			checkNotModified(t, c, routes[name], false, true)
		}
	}
	assert.Len(t, called, len(routes))
	assert.GreaterOrEqual(t, unchanged, 6)
}

func checkNotModified(t *testing.T, c *cases.Case, route forge.Route, documents, condition bool) {
	t.Helper()
	client := memoryClient(t, func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(r.URL.Path, "/auth/") && route.Template != "/jwt/auth" {
			return jsonResponse(http.StatusOK, `{"token":"`+cases.Token+`"}`), nil // for the call
		}
		return &http.Response{StatusCode: http.StatusNotModified, Header: http.Header{}, Body: http.NoBody}, nil
	}, forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}),
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
	assert.Equal(t, !fails, errors.Is(err, forge.ErrNotModified), name)
	assert.Equal(t, fails, errors.Is(err, forge.ErrInvalidResponse), name)
	assert.Equal(t, fails && route.Class != forge.RetryClassSafe, e.MaybeApplied, name)
	assert.Equal(t, fails, client.Stats().Failures == 1, name)
	assert.Equal(t, 304, e.Status, name)
	assert.Equal(t, 1, e.Attempts, name)
}
