package forge

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/credential"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

// rejectionOf returns a rejection of a route with an access token, by a server that is not on this
// machine.
func rejectionOf(t *testing.T, status int, message, method, template string) *rejection {
	t.Helper()
	found, ok := findRoute(method, template)
	if !ok {
		found = undocumentedRoute(method, template)
	}
	return &rejection{route: found, credential: credential.AccessToken, status: status, message: message, path: "/projects/group%2Fapp/x"}
}

const (
	decodedHint   = "if the object exists, a proxy may have decoded the %2F of the address (nginx does so if proxy_pass has a path): use forge.ID, which needs no %2F"
	unseenHint    = "the object does not exist, or the credential cannot see it"
	jobTokenLacks = "a CI job token may have no access to this project, or its user may lack the role for this call"
	absentHint    = "the object may not exist, or the user may lack access to it"
	wrongToken    = "check the credential: it may be wrong, expired or revoked"
)

// Hints for responses that are not those of the API, for scopes, for addresses and for calls that no
// route documents. TestHintsAreTrue (internal/contracttest) has the hints of each route.
func TestRejectionHint(t *testing.T) {
	for _, test := range []struct {
		status                    int
		message, method, template string
		change                    func(*rejection)
		want                      string
	}{
		{400, "400 Bad Request", "GET", "/issues", nil, ""},
		{400, "Client sent an HTTP request to an HTTPS server.", "POST", "/groups/:id/placeholder_reassignments", fromOthers,
			"the port expects TLS: use https in the address; ReadCSV names the column or the line of a file that is not as it was made"},
		{400, "an HTML page titled 400 The plain HTTP request was sent to HTTPS port", "GET", "/issues", fromOthers, "the port expects TLS: use https in the address"},
		{400, "This combination of host and port requires TLS: an HTTP message came to an SSL-enabled server port", "GET", "/issues", fromOthers, "the port expects TLS: use https in the address"},
		{400, "http_url must be https", "GET", "/issues", nil, ""},
		{401, "401 Unauthorized", "GET", "/projects/:id/jobs", of(credential.JobToken), "check the job token: it may have expired with its job, or this server may not accept one for this call"},

		{403, "403 Forbidden", "GET", "/projects/:id/jobs", nil, "the user may lack the role for this call"},
		{403, "403 Forbidden", "GET", "/projects/:id/jobs", of(credential.JobToken), jobTokenLacks},
		{403, "403 Forbidden", "GET", "/projects/:id/registry/repositories", of(credential.JobToken), jobTokenLacks},
		{403, "403 Forbidden", "GET", "/audit_events", of(credential.JobToken), jobTokenRefused},
		{403, "403 Forbidden - Protected tag", "DELETE", "/projects/:id/registry/repositories/:repository_id/tags/:tag_name", nil, ""},
		{403, "403 Forbidden - Must be admin to use sudo", "GET", "/audit_events", nil, ""},
		{403, "an HTML page titled Blocked", "GET", "/audit_events", fromOthers, "the response is not from the API: a proxy or a firewall may have refused the call"},
		{403, "insufficient_granular_scope: more", "GET", "/projects/:id/resource_groups/:key/upcoming_jobs", nil,
			"the token is fine-grained, and this endpoint needs read_resource_group and read_job: add what it lacks to the token"},
		{403, "insufficient_granular_scope: more", "GET", "/projects/:id/jobs", nil, "the token is fine-grained and lacks the permission that the message names: add it to the token"},
		{403, "insufficient_scope: more", "PUT", "/runners/:id", nil, "the token needs the scope api or manage_runner"},
		{403, "insufficient_scope: more", "PUT", "/runners/:id", inNeutral, "the token needs the scope api or manage_runners"},
		{403, "insufficient_scope: more", "GET", "/audit_events", naming("read_api", "x y,z"), "the token needs the scope read_api or x or y or z"},
		{403, "insufficient_scope: more", "GET", "/projects/:id/jobs", naming("ai_workflows"), "the token needs the scope ai_workflows"},
		{401, "dpop_error: DPoP header is missing", "GET", "/issues", nil, "the server requires a DPoP proof for this token, and the client sends none: turn DPoP off for the token's user, or send the proof from the transport of WithHTTPClient"},
		{401, "invalid_token: Token was revoked. You have to re-authorize from the user.", "GET", "/issues", nil, wrongToken},
		{403, "insufficient_scope: more", "GET", "/projects/:id/jobs", nil, "the token lacks a scope that this call needs"},
		{403, "insufficient_scope: more", "GET", "/audit_events", nil, "the token needs the scope read_api or api"},

		{403, "DENIED", "DELETE", "/v2/:image_path/manifests/:tag", forImage("group/app.x"), "the registry's user may lack access, or the image may not exist"},
		{403, "DENIED", "DELETE", "/v2/:image_path/manifests/:tag", forImage("app.x"), "the registry's user may lack access, or the image may not exist"},
		{403, "DENIED", "DELETE", "/v2/:image_path/manifests/:tag", forImage("forge.example.com/a"), `the registry's user may lack access, or the image may not exist; an image path has no host: omit "forge.example.com" if it is one`},
		{403, "DENIED", "DELETE", "/v2/:image_path/manifests/:tag", forImage("proxy/a"), "the registry's user may lack access, or the image may not exist"},
		{403, "403 Forbidden", "POST", "/projects/:id/issues/:issue_iid/notes", nil, "the user may lack the role for this call; this endpoint may need Premium or Ultimate"},
		{403, "403 Forbidden", "GET", "/groups/:id/integrations", nil, "this endpoint needs at least the Maintainer role for the group; it may need release 17.9 or later"},
		{403, "403 Forbidden", "GET", "/audit_events", nil, "this endpoint needs an administrator; it may need Premium or Ultimate, a self-managed or dedicated instance"},
		{403, "403 Forbidden", "GET", "/audit_events", since("18.1"), "this endpoint needs an administrator; it may need Premium or Ultimate, a self-managed or dedicated instance, release 18.1 or later"},
		{403, "DENIED", "GET", "/v2/_catalog", nil, "this endpoint needs an administrator"},
		{404, "404 Project Not Found", "GET", "/projects/:id/jobs", nil, unseenHint},
		{404, "404 Commit Not Found", "GET", "/projects/:id/jobs", func(r *rejection) { r.query = url.Values{"ref": {"x"}} }, unseenHint},
		{404, "404 Commit Not Found", "GET", "/projects/:id/repository/compare", withRefs, unseenHint + `; the call had from="a" to="b" ref="c" sha="d" path="e"`},
		{404, "404 Commit Not Found", "GET", "/projects/:id/repository/compare", func(r *rejection) { r.query = url.Values{"path": {"x"}} }, unseenHint + `; the call had path="x"`},
		{404, "404 Commit Not Found", "GET", "/projects/:id/repository/compare", nil, unseenHint},
		{404, "404 Project Not Found", "GET", "/projects/:id/repository/compare", withRefs, unseenHint},
		{404, "404 Project Not Found", "GET", "/projects/:id/repository/compare", at("/projects/42/repository/compare"), unseenHint},
		{404, "404 Project Not Found", "GET", "/projects/:id/repository/compare", at("/projects/app/repository/compare"), unseenHint + "; the path of a project begins with that of its group or user, as in group/app"},
		{404, "404 Tag Not Found", "GET", "/projects/:id/repository/tags/:name", withRefs, unseenHint + `; the call had from="a" to="b" ref="c" sha="d" path="e"`},
		{404, "404 Project Not Found", "GET", "/projects/:id/repository/compare", at("/projects/x/repository/compare"), unseenHint + "; the path of a project begins with that of its group or user, as in group/app"},
		{404, "404 Project Not Found", "GET", "/projects/:id/repository/tags/:name", at("/projects/app/repository/tags/v1"), unseenHint + "; the path of a project begins with that of its group or user, as in group/app"},
		{404, "404 Group Not Found", "GET", "/groups/:id/labels", at("/groups/app/labels"), unseenHint},
		{404, "the feature is off", "GET", "/projects/:id/audit_events", nil, ""},
		{404, "404 Not Found", "GET", "/projects/:id/merge_request_approval_setting", nil, absentHint + "; this endpoint needs at least the Maintainer role for the project; it may need Premium or Ultimate; " + decodedHint},
		{404, "404 Not found", "GET", "/projects/:id/runners", with("https://forge.example.com/api/v4"), absentHint + "; this endpoint needs an administrator or auditor, or at least the Maintainer role for the project; " + decodedHint},
		{404, "", "GET", "/projects/:id/resource_groups", with("https://forge.example.com/api/v4"), absentHint + "; check the base URL: the API was requested at https://forge.example.com/api/v4; " + decodedHint},
		{404, "404 Not Found", "GET", "/groups/:id/issues", of(credential.Anonymous), "the object may not exist or may not be public: the client has no credential; " + decodedHint},
		{404, "404 Not Found", "GET", "/projects/:id/jobs", here, "the endpoint or the object may not exist, or the user may lack access to it"},
		{404, "404 Not Found", "GET", "/jobs", here, "the endpoint may not exist"},
		{404, "404 Not Found", "GET", "/projects/42/jobs", here, "the endpoint may not exist"},
		{404, "404 Not Found", "GET", "/projects/acme/jobs.x", hereWithFormats, `the endpoint may not exist; a path is one argument: use /projects/:id with Args: forge.Path("acme/app")`},
		{404, "404 Not Found", "GET", "/projects/acme", here, "the endpoint may not exist"},
		{404, "404 Not Found", "GET", "/projects/:id/repository/archive[.:format]", hereWithFormats, absentHint},
		{404, "404 Not Found", "GET", "/projects/:id/repository/archive[.:format]", hereFor("zip"), absentHint},
		{404, "404 Not Found", "GET", "/projects/:id/repository/archive[.:format]", hereFor("rar"), absentHint + "; this version has the formats zip"},
		{404, "404 Not Found", "GET", "/projects/:id/repository/archive[.:format]", hereWithoutFormats, absentHint},
		{404, "404 Not Found", "GET", "/user", with("https://forge.example.com/acme/api/v4"), "check the base URL: the API was requested at https://forge.example.com/acme/api/v4"},
		{404, "404 Not Found", "GET", "/projects/:id/repository/archive[.:format]", at("/projects/1/repository/archive.rar"), absentHint},
		{404, "404 Not Found", "GET", "/user", here, ""},
		{404, "MANIFEST_UNKNOWN: manifest is not here", "GET", "/v2/:image_path/manifests/:tag", nil, unseenHint},
		{404, "404 page not found", "GET", "/user", fromOthers, ""},
		{404, "an HTML page", "GET", "/projects/:id/audit_events", fromOthers, decodedHint},

		{405, "405 Not Allowed", "GET", "/users", nil, ""},
		{405, "there is no such route", "PATCH", "/projects/:id/jobs", nil, ""},
		{405, "405 Not Allowed", "PATCH", "/projects/:id/jobs", nil, "check the method and the path of the Call, or the object's state: some servers refuse an action with this status"},
		{415, "415 Unsupported Media Type", "POST", "/user/emails", nil, ""},
		{429, "Retry later", "GET", "/issues", fromOthers, ""},
		{500, "500 Internal Server Error", "GET", "/audit_events", nil, ""},
		{0, "", "GET", "/audit_events", nil, ""},
	} {
		r := rejectionOf(t, test.status, test.message, test.method, test.template)
		if r.object() == "" {
			r.path = test.template
		}
		if test.change != nil {
			test.change(r)
		}
		assert.Equal(t, test.want, r.hint(), "%d %q %s %s", test.status, test.message, test.method, test.template)
	}
}

func of(kind credential.Kind) func(*rejection) { return func(r *rejection) { r.credential = kind } }
func with(base string) func(*rejection)        { return func(r *rejection) { r.base = base } }
func forImage(path string) func(*rejection) {
	return func(r *rejection) { r.query = url.Values{"scope": {"repository:" + path + ":delete"}} }
}
func inNeutral(r *rejection)                   { r.vocabulary = Neutral }
func naming(scopes ...string) func(*rejection) { return func(r *rejection) { r.scopes = scopes } }
func here(r *rejection)                        { r.loopback = true }
func hereWithFormats(r *rejection) {
	r.loopback, r.values = true, func(string) []string { return []string{"zip"} }
}
func hereFor(format string) func(*rejection) {
	return func(r *rejection) {
		hereWithFormats(r)
		r.path = "/projects/group%2Fapp.x/repository/archive." + format
	}
}
func hereWithoutFormats(r *rejection) {
	hereFor("rar")(r)
	r.values = func(string) []string { return nil }
}
func fromOthers(r *rejection)         { r.foreign = true }
func at(path string) func(*rejection) { return func(r *rejection) { r.path = path } }
func since(release string) func(*rejection) {
	return func(r *rejection) {
		later := *r.route
		later.Release = release
		r.route = &later
	}
}
func withRefs(r *rejection) {
	r.query = url.Values{"from": {"a"}, "to": {"b"}, "ref": {"c"}, "sha": {"d"}, "path": {"e"}, "other": {"f"}}
}

// Whatever a server sends, a hint is one line without holes, names no section of the contract, and
// has no tier, offering or release if the message names an object.
func TestRejectionHints(t *testing.T) {
	racetest.SkipSequential(t)
	messages := []string{"", "403 Forbidden", "404 Not Found", "404 Project Not Found", "404 X not found", "insufficient_scope", "401 Unauthorized", "an HTML page", "x"}
	for i := range routes {
		for _, status := range []int{400, 401, 403, 404, 405, 414, 415, 422, 429, 500} {
			for _, message := range messages {
				for kind := credential.Anonymous; kind <= credential.UserPassword; kind++ {
					r := rejection{
						route: &routes[i], credential: kind, path: "/groups/a%2Fb", status: status, message: message, foreign: message == "an HTML page",
						base: "https://forge.example.com", loopback: kind == credential.Anonymous,
					}
					hint := r.hint()
					assert.NotRegexp(t, `^; |; ;|; $|  |\n|Document|§|^ | $`, hint)
					if r.namesObject() && status == http.StatusNotFound {
						assert.NotRegexp(t, "Premium|self-managed|release|%2F|base URL", hint)
					}
				}
			}
		}
	}
}

// A status of another origin is not the API's: its error has no hint about the endpoint.
func TestNoHintForAnotherOrigin(t *testing.T) {
	storage := newWire(t, always(say(http.StatusForbidden, `{"message":"403 Forbidden"}`, jsonType)))
	api := newWire(t, always(say(http.StatusFound, "", "Location: "+storage.url+"/file")))
	d, err := openArchive(t.Context(), wireClient(t, api.url, WithPlainHTTP()))
	require.Nil(t, d)
	require.ErrorIs(t, err, ErrForbidden)
	assert.NotContains(t, err.Error(), "role")
	api = newWire(t, always(say(http.StatusForbidden, `{"message":"403 Forbidden"}`, jsonType)))
	_, err = openArchive(t.Context(), wireClient(t, api.url, WithPlainHTTP()))
	assert.ErrorContains(t, err, "the user may lack the role")
}
