package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	embedded "github.com/forge-sdk/forge-go/internal/catalogue"
)

// fineGrained starts the scope of a fine-grained token. It is GitLab's own name of this scope.
const fineGrained = "granular:"

// Permissions returns the scope of a fine-grained token, to be the only one of [User.AddToken]:
// jane.AddToken(forgetest.Permissions("read_issue", "read_runner")). Every route needs its
// permissions; one without declared permissions accepts no such token.
func Permissions(names ...string) string {
	for _, name := range names {
		if known := permissions(); !slices.Contains(known, name) {
			panic(fmt.Sprintf("forgetest: Permissions: no permission %q: known are %s", name, strings.Join(known, ", ")))
		}
	}
	return fineGrained + strings.Join(names, " ")
}

// permissions returns all permissions in alphabetical order.
func permissions() (all []string) {
	for _, names := range embedded.Permissions() {
		all = append(all, strings.Fields(names)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// permit rejects a call for which a fine-grained token lacks a permission.
func (c *call) permit(granted []string) *response {
	needed, declared := embedded.Permissions()[c.route.endpoint.ID]
	description := "Access denied: This operation does not support fine-grained personal access tokens."
	if declared {
		missing := slices.DeleteFunc(strings.Fields(needed), func(name string) bool {
			return slices.Contains(granted, name)
		})
		if len(missing) == 0 {
			return nil
		}
		description = "Access denied: This operation requires a fine-grained personal access token with the following permissions: [" +
			strings.Join(missing, ", ") + "]."
	}
	return fail(response{status: http.StatusForbidden, doc: map[string]any{"error": "insufficient_granular_scope", "error_description": description}})
}
