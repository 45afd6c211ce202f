package contracttest_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// The response of each write is lost after it took effect. The error leaves the outcome open, the
// call that docs/errors-and-retries.md names shows the effect, and a second call ends as it says.
func TestOutcomesOfWrites(t *testing.T) {
	for _, row := range writes {
		t.Run(row.method, func(t *testing.T) {
			w := newOutcomeWorld(t)
			if row.took != nil {
				took, err := row.took(t.Context(), w)
				require.NoError(t, err)
				require.False(t, took, "before the write")
			}
			w.srv.Fail(row.route, forgetest.DropResponse().Times(1))
			var failed *forge.Error
			require.ErrorAs(t, row.send(t.Context(), w), &failed)
			require.True(t, failed.MaybeApplied, failed)
			w.srv.FinishBackgroundJobs()
			if row.took != nil {
				took, err := row.took(t.Context(), w)
				require.NoError(t, err)
				assert.True(t, took, "after the write")
			}
			err := row.send(t.Context(), w)
			assert.True(t, row.again.is(err), "a second call: %v", err)
			if row.again == againTwice {
				w.srv.AssertAppliedCount(t, row.route, 2)
			}
		})
	}
}

// Each write whose precondition is not met ends as docs/errors-and-retries.md says, and every
// precondition that the contract names for a write has a row.
func TestPreconditionsOfWrites(t *testing.T) {
	methods := map[string]bool{}
	for _, row := range preconditions {
		methods[row.method] = true
		t.Run(row.method, func(t *testing.T) {
			err := row.send(t.Context(), newOutcomeWorld(t))
			assert.True(t, row.otherwise.is(err), "%v", err)
		})
	}
	endpoints := catalogue.Endpoints(t)
	for _, method := range cases.Methods {
		endpoint := endpoints[method.Endpoint]
		if endpoint.Method == "GET" || methods[methodName(method.Func)] {
			continue
		}
		for _, rule := range endpoint.Rules {
			assert.NotEqual(t, "precondition", rule.Kind, "%s has no row: %s", methodName(method.Func), rule.Text)
		}
	}
}

// methodName returns the name of a typed method as callers write it: client.Issues.List.
func methodName(method any) string {
	name := runtime.FuncForPC(reflect.ValueOf(method).Pointer()).Name()
	parts := regexp.MustCompile(`\(\*(\w+)Service\)\.(\w+)$`).FindStringSubmatch(name)
	return "client." + parts[1] + "." + parts[2]
}

// TestTablesOfWrites checks that docs/errors-and-retries.md has the tables that the tests above
// prove, and that the first one has every write of the contract. FORGE_UPDATE=1 writes them.
func TestTablesOfWrites(t *testing.T) {
	classes := map[string]forge.RetryClass{}
	for _, r := range forge.Routes() {
		if r.Class != forge.ClassSafe {
			classes[r.Method+" "+r.Template] = r.Class
		}
	}
	var outcomes, needs strings.Builder
	outcomes.WriteString("| method | endpoint | class | shows whether it took effect | if it is sent again |\n|---|---|---|---|---|\n")
	for _, row := range writes {
		class, known := classes[row.route]
		assert.True(t, known, "%s is not a write, or has two rows", row.route)
		delete(classes, row.route)
		fmt.Fprintf(&outcomes, "| `%s` | `%s` | %s | %s | %s |\n", row.method, row.route, class, row.look, row.again)
	}
	assert.Empty(t, classes, "writes without a row")
	needs.WriteString("| method | precondition | otherwise |\n|---|---|---|\n")
	for _, row := range preconditions {
		fmt.Fprintf(&needs, "| `%s` | %s | %s |\n", row.method, row.needs, row.otherwise)
	}
	checkGenerated(t, "docs/errors-and-retries.md", "writes", "TestTablesOfWrites", outcomes.String())
	checkGenerated(t, "docs/errors-and-retries.md", "preconditions", "TestTablesOfWrites", needs.String())
}

// checkGenerated checks the text between two comments of a guide. FORGE_UPDATE=1 writes it.
func checkGenerated(t *testing.T, guide, name, test, want string) {
	t.Helper()
	begin := "<!-- " + name + ": made by FORGE_UPDATE=1 go test -run '^" + test + "$' ./internal/contracttest -->\n\n"
	end := "\n<!-- end of " + name + " -->\n"
	before, rest, begins := strings.Cut(readText(t, guide), begin)
	printed, after, ends := strings.Cut(rest, end)
	require.True(t, begins && ends, "%s has no markers for %s", guide, name)
	if os.Getenv("FORGE_UPDATE") != "" {
		require.NoError(t, os.WriteFile(guide, []byte(before+begin+want+end+after), 0o644))
		return
	}
	assert.Equal(t, want, printed, "write it with FORGE_UPDATE=1")
}
