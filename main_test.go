package forge_test

import (
	"reflect"
	"testing"

	"go.uber.org/goleak"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

func TestMain(m *testing.M) {
	forge.MatrixCases = matrixCases
	goleak.VerifyTestMain(m)
}

func matrixCases(t *testing.T) (all []forge.MatrixCase) {
	t.Helper()
	for _, c := range cases.All(t) {
		status, body := cases.LeastResponse(c.Endpoint)
		filled := c.Fill(t, 0, nil)
		all = append(all, forge.MatrixCase{
			Endpoint: c.Endpoint, Method: c.Method, Status: status, Body: body, Vocabulary: cases.Vocabulary(),
			Arguments: func(t *testing.T, client *forge.Client) ([]reflect.Value, string) {
				t.Helper()
				return c.Arguments(t, client, filled)
			},
		})
	}
	return all
}
