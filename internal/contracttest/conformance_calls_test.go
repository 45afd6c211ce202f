package contracttest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// TestConformanceRows checks that each documented endpoint has a row, and that each row has a
// method of the endpoint's service.
func TestConformanceRows(t *testing.T) {
	rows := map[string]bool{}
	for _, row := range cases.Methods {
		rows[row.Endpoint] = true
	}
	endpoints := catalogue.Endpoints(t)
	assert.Len(t, endpoints, 94)
	for id := range endpoints {
		assert.True(t, rows[id], "no row calls %s", id)
	}
	assert.Len(t, rows, len(endpoints))
	t.Logf("%d of %d documented endpoints have a typed method", len(rows), len(endpoints))
}
