package forge_test

import (
	"context"
	"flag"
	"io"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"
	"go.uber.org/goleak"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

func TestMain(m *testing.M) {
	if racetest.Enabled { // races do not depend on the values
		_ = flag.Set("rapid.checks", "10")
	}
	checkThatCallsEnd()
	forge.MatrixCases = matrixCases
	goleak.VerifyTestMain(m)
}

// checkThatCallsEnd ends the process with a message if a plain call does not end. Otherwise each test
// would wait until the time limit of go test.
func checkThatCallsEnd() {
	guard := time.AfterFunc(time.Minute, func() { panic("a call whose response is in memory has not ended within a minute") })
	defer guard.Stop()
	transport := httpmock.NewMockTransport()
	transport.RegisterNoResponder(httpmock.NewStringResponder(http.StatusOK, "{}"))
	client, err := forge.NewClient("https://forge.example.com", forge.WithToken("a-token"), forge.WithHTTPClient(&http.Client{Transport: transport}))
	if err != nil {
		panic(err)
	}
	_, _ = client.Issues.GetTimeStats(context.Background(), forge.Path("a/b"), 1)
	if file, err := client.Repositories.Archive(context.Background(), forge.ID(1), nil); err == nil {
		_, _ = io.Copy(io.Discard, file)
		_ = file.Close()
	}
}

func matrixCases(t *testing.T) (all []forge.MatrixCase) {
	t.Helper()
	for _, c := range cases.All(t) {
		status, body := cases.LeastResponse(c.Endpoint)
		filled := c.Fill(t, 0, nil)
		all = append(all, forge.MatrixCase{
			Endpoint: c.Endpoint, Method: c.Method, Status: status, Body: body,
			Arguments: func(t *testing.T, client *forge.Client) ([]reflect.Value, string) {
				t.Helper()
				return c.Arguments(t, client, filled)
			},
		})
	}
	return all
}
