package contracttest_test

import (
	"fmt"
	"go/ast"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// tableRows returns the cells of the rows of the table below a heading, without its first two
// lines.
func tableRows(t *testing.T, file, heading string) (rows [][]string) {
	t.Helper()
	_, section, found := strings.Cut(readText(t, file), "\n"+heading+"\n")
	require.True(t, found, "%s has no heading %q", file, heading)
	section, _, _ = strings.Cut(section, "\n## ")
	for _, line := range regexp.MustCompile(`(?m)^\|(.*)\|$`).FindAllStringSubmatch(section, -1) {
		var cells []string
		for cell := range strings.SplitSeq(line[1], " | ") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	require.Greater(t, len(rows), 2, "%s: no table below %q", file, heading)
	return rows[2:]
}

// TestIntegrationNames compares the table of docs/vocabulary.md with the vocabulary, the options
// types and what their comments say.
func TestIntegrationNames(t *testing.T) {
	comments, constants := sourceComments(t), constantNames(t)
	rows := tableRows(t, "docs/vocabulary.md", "## Names of integrations")
	require.Len(t, rows, len(cases.Kinds))
	for i, row := range rows {
		require.Len(t, row, 4, "row %d", i+1)
		kind := cases.Kinds[i]
		options := reflect.TypeOf(kind.Options()).Elem().Name()
		slug, known := kind.Kind.Slug(forge.GitLab)
		require.True(t, known, kind.Kind)
		constant := constants["IntegrationKind"][string(kind.Kind)]
		assert.Equal(t, []string{"`" + slug + "`", "`forge." + options + "`", "`forge." + constant + "`"}, row[1:], row[0])
		assert.Contains(t, comments[options], fmt.Sprintf("On GitLab this is the integration %q (%s).", slug, row[0]))
	}
}

// clientCall is a row of the table of integration/realclients: the calls of other clients that
// reach an endpoint. The tests there make them.
var clientCall = regexp.MustCompile(`(?m)^\t\{"([a-z_.]+)", "([^"]*)", "[^"]*", "([^"]*)"\},$`)

// TestTableOfMethods compares the table of docs/migrating.md with the calls that the tests of other
// clients make. FORGE_UPDATE=1 writes it.
func TestTableOfMethods(t *testing.T) {
	others := map[string][]string{}
	for _, row := range clientCall.FindAllStringSubmatch(readText(t, "integration/realclients/coverage_test.go"), -1) {
		others[row[1]] = row[2:]
	}
	var table strings.Builder
	table.WriteString("| here | client-go | python-gitlab |\n|---|---|---|\n")
	for _, method := range cases.Methods {
		calls := others[method.Endpoint]
		require.Len(t, calls, 2, method.Endpoint)
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", methodName(method.Func), quoted(calls[1]), quoted(calls[0]))
	}
	checkGenerated(t, "docs/migrating.md", "methods", "TestTableOfMethods", table.String())
}

// quoted returns the names, separated by commas, as code.
func quoted(names string) string {
	if names == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(names, ", ", "`, `") + "`"
}

// TestTableOfServices compares the table of AGENTS.md with the fields of the client, and with the
// methods of each and their types of arguments. FORGE_UPDATE=1 writes it; what a service is for is by
// hand.
func TestTableOfServices(t *testing.T) {
	methods := map[string][]string{} // by type
	eachFunction(t, ".", func(name string, f *ast.FuncDecl) {
		if service, method, found := strings.Cut(name, "."); found && ast.IsExported(method) {
			methods[service] = append(methods[service], "`"+method+"`"+methodNotes(f))
		}
	})
	rows := tableRows(t, "AGENTS.md", "## Services")
	var table strings.Builder
	table.WriteString("| field | for | methods |\n|---|---|---|\n")
	for field := range reflect.TypeFor[forge.Client]().Fields() {
		if !field.IsExported() {
			continue
		}
		purpose := "?"
		for _, row := range rows {
			if row[0] == "`"+field.Name+"`" {
				purpose = row[1]
			}
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", field.Name, purpose, strings.Join(methods[field.Type.Elem().Name()], ", "))
	}
	checkGenerated(t, "AGENTS.md", "services", "TestTableOfServices", table.String())
}

// methodNotes returns the types of a method's arguments that are not identifiers or request options,
// and whether it is deprecated.
func methodNotes(f *ast.FuncDecl) string {
	var notes []string
	for _, argument := range f.Type.Params.List {
		name := receiver(argument.Type)
		if ast.IsExported(name) && name != "Ref" {
			notes = append(notes, "`"+name+"`")
		}
	}
	if strings.Contains(f.Doc.Text(), "\nDeprecated: ") {
		notes = append(notes, "deprecated")
	}
	if notes == nil {
		return ""
	}
	return " (" + strings.Join(notes, ", ") + ")"
}
