package contracttest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/gosource"
)

// compilerMessages returns the messages for statements, each in a function of its own. The
// statements may use client, ctx and the package forge.
func compilerMessages(t *testing.T, statements []string) []string {
	t.Helper()
	var source strings.Builder
	source.WriteString("package main\n\nimport (\n\"context\"\n\nforge \"github.com/forge-sdk/forge-go\"\n)\n\nvar (\nctx context.Context\nclient *forge.Client\n)\n")
	for _, statement := range statements {
		source.WriteString("\nfunc _() {\n" + statement + "\n}\n")
	}
	messages, err := gosource.Errors(".", source.String(), "github.com/forge-sdk/forge-go", "context")
	require.NoError(t, err)
	return messages
}
