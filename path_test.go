package forge

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// pathArguments are the placeholders whose text may not contain a slash, or one that looks like an
// escape. All other texts may contain both.
var pathArguments = map[string]struct{ slash, escape bool }{
	"projects/:id": {true, false}, "projects/:project_id": {true, false}, "groups/:id": {true, false}, "namespaces/:id": {true, false}, "v2/:image_path": {true, false},
	"namespaces/:namespace": {false, false}, // compared as one segment
}

// Each text argument of a path has its own rules, which apply to every endpoint.
func TestPathArguments(t *testing.T) {
	seen := map[string]bool{}
	for _, route := range catalogue.Endpoints() {
		parts := strings.Split(strings.ReplaceAll(route.Path, "[.:format]", "/:format"), "/")
		for i, part := range parts {
			name, isArgument := strings.CutPrefix(part, ":")
			isNumber := slices.ContainsFunc(route.PathParams, func(p catalogue.Param) bool { return p.Name == name && p.Type == "integer" })
			if !isArgument || isNumber {
				continue
			}
			place := parts[max(0, i-1)] + "/" + part
			rule, special := pathArguments[place]
			if seen[place] = true; !special {
				rule.slash, rule.escape = true, true
			}
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
				_, err := expandTemplate(wirePath{}, route.Path, args)
				return err
			}
			for text, allowed := range map[string]bool{"plain": true, "a/b": rule.slash, "a%2Db": rule.escape, "a%b": true, "a b?#": true, "": part == ":format", "a/../b": false, "a%2F..%2Fb": false, "%2e%2e": false, "a/%2E": false,
				" ": false, "a\xff": false, "a\n": false, "a://b": false, strings.Repeat("a", 2048): true, strings.Repeat("a", 2049): false} {
				err := try(text)
				assert.Equal(t, allowed, err == nil, "%s %s: %q: %v", route.Method, route.Path, text, err)
				if err != nil {
					var invalid *ValidationError
					require.ErrorAs(t, err, &invalid)
					assert.Equal(t, name, invalid.Param)
					if rule.slash && strings.Contains(text, "%2") {
						assert.Regexp(t, "^(once decoded, |it is escaped already)", invalid.Reason)
					}
				}
			}
		}
	}
	assert.Subset(t, slices.Collect(maps.Keys(seen)), slices.Collect(maps.Keys(pathArguments)), "rules of placeholders that no route has")
	assert.GreaterOrEqual(t, len(seen), 13)
	both, err := expandTemplate(wirePath{}, "/x/:a:b_z`", []any{"1", "2"})
	require.NoError(t, err)
	assert.Equal(t, "/x/12`", both.plain)
	for _, name := range []string{"project", "project_id", "group", "group_id", "namespace", "namespace_id", "image_path"} { // of a Call
		_, err := expandTemplate(wirePath{}, "/x/:"+name, []any{"a%2Fb"})
		require.ErrorContains(t, err, "it is escaped already", name)
	}
}

// An id that is not positive is refused with its value, as a project and as a group.
func TestIDsArePositive(t *testing.T) {
	client := silentServer(t)
	for _, id := range []ID{0, -1, math.MinInt64} {
		_, err := client.Issues.GetTimeStats(t.Context(), id, 1)
		refused(t, err, "argument", "id")
		require.ErrorContains(t, err, fmt.Sprintf("id %d is not positive", id))
		_, err = Collect(client.Issues.ListForGroup(t.Context(), id, nil))
		require.ErrorContains(t, err, fmt.Sprintf("id %d is not positive", id))
	}
}

// textArgument returns the argument in the type that the endpoint's method passes.
func textArgument(place, text string) any {
	switch place {
	case "projects/:id", "projects/:project_id", "groups/:id", "namespaces/:id":
		return Path(text)
	case "namespaces/:namespace":
		return namespaceSegment(text)
	}
	return text
}

func TestAt(t *testing.T) {
	for _, base := range []string{"https://forge.example.com/api/v4", "http://127.0.0.1:8080/a%20b/api/v4", "https://forge.example.com/~x/é/api/v4"} {
		parsed, err := parseBase("baseURL", "", base)
		require.NoError(t, err)
		for _, path := range []string{"/issues", "/projects/group%2Fapp/", "/projects/1/a:b@c&d=e$f+g~h", "/projects/100%25", "/x/%C3%A9"} {
			want, err := url.Parse(parsed.String() + path)
			require.NoError(t, err)
			plain, err := url.PathUnescape(path)
			require.NoError(t, err)
			got := joinURL(parsed, wirePath{parsed.EscapedPath() + path, parsed.Path + plain})
			assert.Equal(t, want.String(), got.String())
			assert.Equal(t, want.Path, got.Path)
			assert.Equal(t, want.RequestURI(), got.RequestURI())
			if got.Path == got.EscapedPath() {
				assert.Empty(t, got.RawPath, "as net/url leaves it")
			}
		}
	}
}

func TestBadBaseURLs(t *testing.T) {
	assert.Empty(t, new(Client).BaseURL())
	assert.NotPanics(t, new(Client).CloseIdleConnections)
	for _, address := range []string{
		"", " ", " https://forge.example.com", "https://forge.example.com ", "https://forge.example.com\n", "forge.example.com", "//forge.example.com", "/api/v4", "https:", "https://", "https:///a",
		"ftp://forge.example.com", "file:///etc/passwd", "javascript:x", "https:forge.example.com", "https://user@forge.example.com", "https://user:hunter2@forge.example.com", "https://@forge.example.com",
		"https://forge.example.com?a=b", "https://forge.example.com?", "https://forge.example.com#a", "https://forge.example.com#", "https://forge.example.com:", "https://:443", "https://forge.example.com:port", "https://forge.example.com:0", "https://forge.example.com:65536",
		"https://forge example.com", "https://forge%2eexample.com", "https://forge\\example.com", "https://[::1", "https://forge.example.com/a/../b", "https://forge.example.com/..", "https://forge.example.com/a//b", "https://forge.example.com/a//x",
		"https://forge.example.com//a", "https://forge.example.com/a%2fb", "https://forge.example.com/%zz", "https://forge.example.com/\x00", "https://<forge>", "http://forge.example.com", "http://192.0.2.1", "http://[2001:db8::1]",
	} {
		_, err := NewClient(address, WithToken("secret-token"))
		refused(t, err, "baseURL", "")
		assert.NotContains(t, err.Error(), "hunter2")
		if strings.HasPrefix(address, "http://") {
			continue // valid with another option
		}
		_, err = NewClient("https://forge.example.com", WithRegistry(address, "https://auth.example.com"))
		refused(t, err, "WithRegistry", "registryURL")
		_, err = NewClient("https://forge.example.com", WithRegistry("https://auth.example.com", address))
		refused(t, err, "WithRegistry", "authURL")
	}
	for _, address := range []string{
		"https://forge.example.com/api/v3", "https://forge.example.com/git/api/v3/", "https://forge.example.com/api/v4/projects", "https://forge.example.com/api/v4/api/v4",
		"https://gitlab.com/group/app", "https://GitLab.com/group/api/v4", "https://forge.example.com/group/app.git", "https://forge.example.com/-/profile", "https://forge.example.com/a/-",
		"https://forge.example.com/users/sign_in", "https://forge.example.com/git/users/sign_in/", "https://forge.example.com/api/graphql", "https://forge.example.com/api/v4/group",
	} {
		_, err := NewClient(address, WithToken("secret-token"))
		refused(t, err, "baseURL", "")
	}
	for address, want := range map[string]string{
		"https://gitlab.com":                      "https://gitlab.com/api/v4",
		"https://forge.example.com":               "https://forge.example.com/api/v4",
		"https://forge.example.com/":              "https://forge.example.com/api/v4",
		"https://forge.example.com///":            "https://forge.example.com/api/v4",
		"https://forge.example.com/api/v4":        "https://forge.example.com/api/v4",
		"https://forge.example.com/api/v4/":       "https://forge.example.com/api/v4",
		"https://FORGE.example.com:8443/git/":     "https://forge.example.com:8443/git/api/v4",
		"https://forge.example.com/git/api/v4":    "https://forge.example.com/git/api/v4",
		"https://forge.example.com/ümlaut/api/v4": "https://forge.example.com/%C3%BCmlaut/api/v4",
		"http://localhost:3000":                   "http://localhost:3000/api/v4",
		"http://127.0.0.1":                        "http://127.0.0.1/api/v4",
		"http://[::1]:80":                         "http://[::1]:80/api/v4",
		"HTTPS://forge.example.com":               "https://forge.example.com/api/v4",
		"https://forge.example.com:65535":         "https://forge.example.com:65535/api/v4",
	} {
		client, err := NewClient(address, WithToken("secret-token"))
		require.NoError(t, err, address)
		assert.Equal(t, want, client.BaseURL())
	}
}

// FuzzExpand checks that the path, split and decoded once, contains exactly the arguments, so that
// no argument leads to another route.
func FuzzExpand(f *testing.F) {
	for _, arg := range []string{"a", "group/app", "..", "%2e%2e", "a%2Fb", "ü b?#", "a//b", "\x00", "%", "100%25"} {
		f.Add(uint8(0), arg, arg)
		f.Add(uint8(3), arg, "tag")
	}
	templates := []string{
		"/projects/:id/registry/repositories/:repository_id/tags/:tag_name", "/projects/:id/repository/archive[.:format]", "/projects/:id/",
		"/v2/:image_path/manifests/:tag", "/groups/:id/integrations/:slug",
	}
	f.Fuzz(func(t *testing.T, which uint8, first, second string) {
		template := templates[int(which)%len(templates)]
		args := []any{Path(first), second}
		switch which % 5 {
		case 0:
			args = []any{Path(first), int64(7), second}
		case 2:
			args = args[:1]
		}
		expanded, err := expandTemplate(wirePath{}, template, args)
		if err != nil {
			var invalid *ValidationError
			require.ErrorAs(t, err, &invalid)
			require.NotEmpty(t, invalid.Param)
			return
		}
		path := expanded.escaped
		plain, err := url.PathUnescape(path)
		require.NoError(t, err)
		require.Equal(t, plain, expanded.plain)
		u, err := url.Parse("https://forge.example.com/api/v4" + path)
		require.NoError(t, err)
		require.Equal(t, "/api/v4"+path, u.EscapedPath(), "the path is changed in transit")
		require.Empty(t, u.RawQuery+u.Fragment)
		segments := strings.Split(path, "/")
		for i, segment := range segments {
			segments[i], err = url.PathUnescape(segment)
			require.NoError(t, err)
			require.NotContains(t, []string{".", ".."}, segments[i])
			require.False(t, segments[i] == "" && i > 0 && i < len(segments)-1, "an empty part in %q", path)
		}
		var want []string
		switch which % 5 {
		case 0:
			want = []string{"", "projects", first, "registry", "repositories", "7", "tags", second}
		case 1:
			want = []string{"", "projects", first, "repository", "archive"}
			if second != "" {
				want[4] = "archive." + second
			}
		case 2:
			want = []string{"", "projects", first, ""}
		case 3:
			want = slices.Concat([]string{"", "v2"}, strings.Split(first, "/"), []string{"manifests", second})
		case 4:
			want = []string{"", "groups", first, "integrations", second}
		}
		require.Equal(t, want, segments)
	})
}

// FuzzBaseURL checks that an address is refused, or that the client calls exactly the host in it.
func FuzzBaseURL(f *testing.F) {
	for _, s := range []string{
		"https://forge.example.com", "https://forge.example.com:8443/git/api/v4/", "http://localhost", "https://user:hunter2@forge.example.com", "https://forge.example.com?x", "https://[::1]:3000",
		"https://forge.example.com/a//b", "https://forge.example.com/%2e%2e", "https://forge.example.com\\@evil", "https://ü.example.com/ü", "https://forge.example.com/%2F",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		client, err := NewClient(address, WithToken("secret-token"), WithPlainHTTP())
		if err != nil {
			var invalid *ValidationError
			require.ErrorAs(t, err, &invalid)
			require.False(t, strings.Contains(address, "hunter2") && strings.Contains(err.Error(), "hunter2"))
			return
		}
		own, err := url.Parse(client.BaseURL())
		require.NoError(t, err)
		given, err := url.Parse(address)
		require.NoError(t, err)
		require.True(t, sameOrigin(own, given))
		require.True(t, strings.HasSuffix(own.Path, "/api/v4"))
		require.Nil(t, own.User)
		require.Empty(t, own.RawQuery+own.Fragment)
		for part := range strings.SplitSeq(own.Path[1:], "/") {
			require.NotContains(t, []string{"", ".", ".."}, part)
		}
		again, err := NewClient(client.BaseURL(), WithPlainHTTP())
		require.NoError(t, err)
		require.Equal(t, client.BaseURL(), again.BaseURL(), "the base URL of a client is accepted as an address")
	})
}

// The error for a path names what is wrong with it, and the path to use if it is known.
func TestPathRemedies(t *testing.T) {
	const object = "it is a URL: use the path of the object"
	for path, want := range map[string]string{
		"acme/app": "", "acme/app?x": "", "host:acme/app": "", "a/b@host:c": "", "Acme/App": "", "a//b": "",
		"https://h/xacme/xapp/": `it is a URL: use "xacme/xapp"`, "ssh://git@h:22/acme/app.git": `it is a URL: use "acme/app"`,
		"https://h/acme/app?a=1": `it is a URL: use "acme/app"`, "https://h/acme/app#a/b": `it is a URL: use "acme/app"`, "https://h/acme/app/-/issues": `it is a URL: use "acme/app"`,
		"https://h": object, "https://h/": object, "https://h/?a": object, "https://h/#a": object, "https://h/acme//app": object, "https://h/../app": object,
		"acme://app":           `it is a URL: use the path of the object`,
		" " + "acme/app" + " ": `it has spaces around it: use "acme/app"`, `acme\app`: `it has backslashes: use "acme/app"`,
		"git@h:acme/app.git": `it is a clone address: use "acme/app"`, "git@h:acme/app": `it is a clone address: use "acme/app"`,
		"@maya": `it begins with @: use "maya"`, "acme/app?x=1": `it has a query: use "acme/app"`, "acme/app/-/issues": `it is the path of a page: use "acme/app"`,
		"acme%2Fapp": `it is escaped already: use "acme/app", which the client escapes`, "acme%252Fapp": `it is escaped already: use "acme/app", which the client escapes`,
	} {
		assert.Equal(t, want, reasonOf(checkPath("id", path)), path)
	}
	assert.Equal(t, `image paths have no capital letters: use "acme/app"`, reasonOf(checkPath("image_path", "Acme/App")))
	assert.Empty(t, reasonOf(checkPath("image_path", "acme/app")))
	const empty = "it has an empty part: remove slashes at its ends, and double ones"
	for text, want := range map[string]string{"a": "", "a%2Fb": "", "a://b": "it is an address: use the path in it, such as group/app", "a//%62": empty, "a%2F%2Fb": "once decoded, " + empty, "%2e": `once decoded, it has the part "."`, "../%2e": `it has the part ".."`} {
		assert.Equal(t, want, reasonOf(checkArgument("id", text)), text)
	}
	_, err := parseBase("baseURL", "", "forge.example.com")
	assert.Equal(t, "the address must begin with https://; a token is passed with WithToken", reasonOf(err))
	_, err = parseBase("WithRegistry", "registryURL", "forge.example.com")
	assert.Equal(t, "the address must begin with https://", reasonOf(err))
	_, err = parseBase("WithRegistry", "registryURL", "https://forge.example.com#")
	assert.Equal(t, "the address has a fragment", reasonOf(err))
}

// reasonOf returns the reason of a ValidationError; "" for nil.
func reasonOf(err error) string {
	var invalid *ValidationError
	if errors.As(err, &invalid) {
		return invalid.Reason
	}
	return ""
}
