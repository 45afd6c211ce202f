package forge

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// escapedPaths are paths as curl and other clients take them, with the paths that were meant.
var escapedPaths = map[string]string{
	"acme%2Fplatform": "acme/platform", "acme%2fplatform%2fapp": "acme/platform/app", "a%20b": "a b", "acme%2Dteam": "acme-team", "acme%252Fplatform": "acme/platform",
	"acme/plat%66orm": "acme/platform", "%61cme": "acme", "100%25": "100%",
}

// A path of a project, group or namespace that is escaped already is refused with the path that was
// meant, wherever one is an argument: the client would escape it again, and the server would answer
// that it does not exist.
func TestEscapedPaths(t *testing.T) {
	client := silentServer(t)
	ctx := t.Context()
	for text, meant := range escapedPaths {
		path := Path(text)
		_, project := client.Issues.Subscribe(ctx, path, 5)
		_, secure := Collect(client.SecureFiles.List(ctx, path))
		_, group := Collect(client.Issues.ListForGroup(ctx, path, nil))
		_, namespace := client.Namespaces.Get(ctx, path)
		for param, errs := range map[string][]error{
			"id":          {project, group, namespace},
			"project_id":  {secure},
			"image_path":  {client.RegistryNative.DeleteManifest(ctx, text, "v1", nil), client.RegistryNative.DeleteTagReference(ctx, text, "v1")},
			"group_id":    {client.Do(ctx, Call{Method: http.MethodGet, Route: "/x/:group_id/y", Args: []Ref{path}}, nil)},
			"any_project": {client.Do(ctx, Call{Method: http.MethodGet, Route: "/groups/:id/projects/:any_project", Args: []Ref{ID(1), path}}, nil, Unchecked())},
		} {
			for _, err := range errs {
				refused(t, err, "argument", param)
				assert.ErrorContains(t, err, "escaped already")
				assert.ErrorContains(t, err, `"`+meant+`"`)
			}
		}
		_, err := client.Namespaces.Exists(ctx, text, nil)
		refused(t, err, "argument", "namespace")
		_, err = client.RegistryNative.GetToken(ctx, &RegistryTokenOptions{Scopes: []RegistryScope{RepositoryScope(text, RegistryPull)}})
		refused(t, err, "RegistryTokenOptions.Scopes", "scope")
		assert.ErrorContains(t, err, meant)
	}
}

// Names of branches, tags, files and keys may hold what looks like an escape, and paths may hold a
// % that begins none: they arrive byte for byte.
func TestPercentInNames(t *testing.T) {
	for _, text := range []string{"a%2Fb", "100%", "%41", "%252F", "a%20b", "%zz"} {
		escaped := strings.NewReplacer("%", "%25").Replace(text)
		client := serve(t,
			exchange{sent: "GET /projects/1/registry/repositories/2/tags/" + escaped, answer: "{}"}, exchange{sent: "GET /projects/1/resource_groups/" + escaped, answer: "{}"},
			exchange{sent: "GET /projects/1/repository/blobs/" + escaped, answer: "{}"}, exchange{sent: "GET /projects/1/repository/files/" + escaped, answer: "{}"},
			exchange{sent: "GET /users/" + escaped, answer: "{}"},
		)
		_, err := client.Registry.GetTag(t.Context(), ID(1), 2, text)
		require.NoError(t, err)
		_, err = client.ResourceGroups.Get(t.Context(), ID(1), text)
		require.NoError(t, err)
		_, err = client.Repositories.GetBlob(t.Context(), ID(1), text)
		require.NoError(t, err)
		require.NoError(t, client.Do(t.Context(), Call{Method: http.MethodGet, Route: "/projects/:id/repository/files/:file_path", Args: []Ref{ID(1), Path(text)}}, nil))
		require.NoError(t, client.Do(t.Context(), Call{Method: http.MethodGet, Route: "/users/:id", Args: []Ref{Path(text)}}, nil))
	}
	for _, text := range []string{"100%", "a%b", "%zz", "%2"} {
		client := serve(t, exchange{sent: "GET /namespaces/" + strings.NewReplacer("%", "%25").Replace(text), answer: "{}"})
		_, err := client.Namespaces.Get(t.Context(), Path(text))
		require.NoError(t, err, text)
	}
}

// pathArguments lists the placeholders of the contract, with what their text may hold: a / , and
// what looks like an escape. A new placeholder has to be put here.
var pathArguments = map[string]struct{ slash, escape bool }{
	"projects/:id": {true, false}, "projects/:project_id": {true, false}, "groups/:id": {true, false}, "namespaces/:id": {true, false}, "v2/:image_path": {true, false},
	"namespaces/:namespace": {false, false}, // compared as one segment
	"tags/:tag_name":        {true, true}, "manifests/:tag": {true, true}, "reference/:tag": {true, true}, "resource_groups/:key": {true, true},
	"blobs/:sha": {true, true}, "integrations/:slug": {true, true}, "archive/:format": {true, true},
}

// numberArguments are the other placeholders.
var numberArguments = []string{"id", "audit_event_id", "block_id", "email_id", "issue_iid", "merge_request_iid", "repository_id", "runner_id", "version_id"}

// Each path argument that is text has its own rules, and they hold in every endpoint.
func TestPathArguments(t *testing.T) {
	seen := map[string]bool{}
	for _, route := range Routes() {
		parts := strings.Split(strings.ReplaceAll(route.Template, "[.:format]", "/:format"), "/")
		for i, part := range parts {
			name, isArgument := strings.CutPrefix(part, ":")
			place := parts[max(0, i-1)] + "/" + part
			rule, isText := pathArguments[place]
			if !isArgument || !isText {
				assert.True(t, !isArgument || slices.Contains(numberArguments, name), "%s: %s needs a rule", route.Template, place)
				continue
			}
			seen[place] = true
			try := func(text string) error {
				args := make([]any, 0, 3)
				for _, p := range parts {
					switch {
					case p == part:
						args = append(args, textArgument(place, text))
					case strings.HasPrefix(p, ":"):
						args = append(args, int64(1))
					}
				}
				_, err := expand(wirePath{}, route.Template, args)
				return err
			}
			for text, allowed := range map[string]bool{"plain": true, "a/b": rule.slash, "a%2Db": rule.escape, "a%b": true, "a b?#": true, "": part == ":format", "a/../b": false, "a%2F..%2Fb": false} {
				err := try(text)
				assert.Equal(t, allowed, err == nil, "%s %s: %q: %v", route.Method, route.Template, text, err)
				if err != nil {
					var invalid *ValidationError
					require.ErrorAs(t, err, &invalid)
					assert.Equal(t, name, invalid.Param)
				}
			}
		}
	}
	assert.Len(t, seen, len(pathArguments), "rules of placeholders that no route has")
}

// textArgument is the argument as the endpoint's method gives it.
func textArgument(place, text string) any {
	switch place {
	case "projects/:id", "projects/:project_id", "groups/:id", "namespaces/:id":
		return Path(text)
	case "namespaces/:namespace":
		return namespaceSegment(text)
	}
	return text
}

// D36: the endpoint compares one segment, so a path of several always "does not exist".
func TestNamespaceExistsTakesOneSegment(t *testing.T) {
	client := silentServer(t)
	for _, o := range []*NamespaceExistsOptions{nil, {ParentID: 7}} {
		for _, path := range []string{"group/sub", "group/sub/more", "group%2Fsub"} {
			_, err := client.Namespaces.Exists(t.Context(), path, o)
			refused(t, err, "argument", "namespace")
			assert.ErrorContains(t, err, "NamespaceExistsOptions.ParentID")
			_, err = client.Namespaces.Exists(t.Context(), path, o, Unchecked())
			refused(t, err, "argument", "namespace")
		}
	}
}
