package forge

import (
	"context"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// Each row is a mistake that a user made, and what the error says about it.
func TestMistakesAreExplained(t *testing.T) {
	created := func(address string, options ...Option) error {
		_, err := NewClient(address, options...)
		return err
	}
	// answered returns the error of a call that the server refuses.
	answered := func(status int, body string, call func(*Client) error, options ...Option) error {
		return call(wireClient(t, newWire(t, always(say(status, body, jsonType))).url, options...))
	}
	list := func(o *ListIssuesOptions, opts ...RequestOption) func(*Client) error {
		return func(c *Client) error {
			_, err := Collect(c.Issues.List(t.Context(), o, opts...))
			return err
		}
	}
	audit := func(c *Client) error {
		_, err := Collect(c.AuditEvents.List(t.Context(), &ListAuditEventsOptions{EntityType: AuditEntityTypeInstance}))
		return err
	}
	project := func(ref Ref) func(*Client) error {
		return func(c *Client) error {
			_, err := Collect(c.Runners.ListForProject(t.Context(), ref, nil))
			return err
		}
	}
	spend := func(d WorkDuration) func(*Client) error {
		return func(c *Client) error {
			_, err := c.Issues.AddSpentTime(t.Context(), ID(1), 1, &AddSpentTimeOptions{Duration: d})
			return err
		}
	}
	posted := func(body any) error {
		return answered(200, "{}", func(c *Client) error { return c.Do(t.Context(), Call{Method: "POST", Route: "/x", Body: body}, nil) })
	}
	routed := func(route string) error {
		return answered(200, "{}", func(c *Client) error { return c.Do(t.Context(), Call{Route: route}, nil) })
	}
	saved := func(path string) error {
		return answered(200, "x", func(c *Client) error {
			archive, err := c.Repositories.Archive(t.Context(), ID(1), nil)
			require.NoError(t, err)
			return archive.SaveTo(path)
		})
	}
	uploaded := func(file File) error {
		return answered(200, "{}", func(c *Client) error {
			_, err := c.PlaceholderReassignments.Upload(t.Context(), ID(1), file)
			return err
		})
	}
	// answeredRaw returns the error of a call that receives bytes and then the end of the connection.
	answeredRaw := func(bytes string) error {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { _ = listener.Close() })
		go func() {
			for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
				_, _ = conn.Read(make([]byte, 4<<10))
				_, _ = conn.Write([]byte(bytes))
				_ = conn.Close()
			}
		}()
		c := wireClient(t, "http://"+listener.Addr().String(), WithRetry(RetryPolicy{MaxAttempts: 1}))
		return c.Do(t.Context(), callOf(RetryClassSafe), nil)
	}
	rows := func(file string) error {
		for _, err := range new(PlaceholderReassignmentsService).ReadCSV(strings.NewReader(file)) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	// oauth returns the error of a call whose token cannot be refreshed.
	oauth := func(status int, body string) error {
		tokens := newWire(t, always(say(status, body, jsonType)))
		config := &oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: tokens.url + "/oauth/token"}}
		return answered(200, "{}", func(c *Client) error { return c.Do(t.Context(), callOf(RetryClassSafe), nil) }, WithOAuth(config, expired("r1")))
	}
	// fromEnv returns the error of NewClientFromEnv with the variables.
	fromEnv := func(pairs ...string) error {
		for _, name := range []string{"FORGE_URL", "FORGE_TOKEN", "CI_API_V4_URL", "CI_JOB_TOKEN", "GITLAB_TOKEN", "GITLAB_URL"} {
			t.Setenv(name, "")
		}
		for i := 0; i < len(pairs); i += 2 {
			t.Setenv(pairs[i], pairs[i+1])
		}
		_, err := NewClientFromEnv()
		return err
	}
	done := func(status int, body string, call Call, out any, options ...Option) error {
		return answered(status, body, func(c *Client) error { return c.Do(t.Context(), call, out) }, options...)
	}
	repository := func(message string, call func(*Client) error) error {
		return answered(404, `{"message":"404 `+message+` Not Found"}`, call)
	}
	archived := func(format ArchiveFormat) error {
		return answered(404, `{"error":"404 Not Found"}`, func(c *Client) error {
			_, err := c.Repositories.Archive(t.Context(), ID(1), &ArchiveOptions{Format: format})
			return err
		})
	}
	deleted := func(age Age) error {
		return answered(202, "", func(c *Client) error {
			return c.Registry.DeleteTags(t.Context(), ID(1), 2, &DeleteTagsOptions{NameRegexDelete: "a", OlderThan: age})
		})
	}
	custom := func(slug string) error {
		return answered(200, "{}", func(c *Client) error { return c.Integrations.Set(t.Context(), ID(1), &CustomIntegration{Slug: slug}) })
	}
	decoded := func(o IntegrationOptions) error {
		_, err := (&Integration{IntegrationSummary: IntegrationSummary{Slug: "discord"}}).Decode(o)
		return err
	}
	registry := newWire(t, func(s seen) act {
		if strings.HasPrefix(s.uri, "/jwt/auth") {
			return say(200, `{"token":"abcdefgh"}`, jsonType)
		}
		return say(405, "{}", jsonType)
	}).url
	image := func(status int, body, path string, options ...Option) error {
		w := newWire(t, func(s seen) act {
			if status == 406 && strings.HasPrefix(s.uri, "/jwt/auth") {
				return say(200, `{"token":"abcdefgh"}`, jsonType)
			}
			return say(status, body, jsonType)
		})
		options = append(options, WithRegistry(w.url, w.url), WithRegistryCredentials("u", "abcdefgh"))
		return wireClient(t, w.url, options...).RegistryNative.DeleteManifest(t.Context(), path, "v1", &DeleteManifestOptions{ManifestType: "a/b"})
	}
	const notFound, host = `{"message":"404 Project Not Found"}`, "https://forge.example.com"
	header := strings.Join(reassignmentColumns(), ",")
	for _, test := range []struct {
		mistake string
		err     error
		says    string
	}{
		{"Bearer in the token", created(host, WithToken("Bearer abcdefgh")), `WithToken: the token begins with "Bearer": pass the token alone`},
		{"a line end in the token", created(host, WithToken("abcdefgh\n")), "WithToken: the token has spaces, control bytes or bytes outside ASCII"},
		{"arguments of NewClient swapped", created("glpat-abcdefgh", WithToken(host)), "baseURL: the address must begin with https://; a token is passed with WithToken"},
		{"token in quotes", created(host, WithToken(`"glpat-abcdefgh"`)), "WithToken: the token is in quotes, or it is the name of a variable: pass its value alone"},
		{"name of a variable", created(host, WithToken("$FORGE_TOKEN")), "or it is the name of a variable: pass its value alone"},
		{"clone URL", created(host + "/group/app.git"), "baseURL: the path is not that of the server"},
		{"address of a group", created("https://gitlab.com/group"), "baseURL: the address is that of a group or project: use https://gitlab.com"},
		{"port of two kinds", created(host + ":99999"), "baseURL: the port of the address is not between 1 and 65535"},
		{"waits swapped", created(host, WithRetry(RetryPolicy{MinWait: time.Hour, MaxWait: time.Second})), "WithRetry: MinWait is longer than MaxWait"},
		{"long wait, default bound", created(host, WithRetry(RetryPolicy{MinWait: time.Minute})), "WithRetry: MinWait is longer than MaxWait, whose default is 30 s"},
		{"address without a scheme", created("forge.example.com", WithToken("abcdefgh")), "baseURL: the address must begin with https://"},
		{"page", created(host + "/group/app/-/issues"), "baseURL: the path is not that of the server: use its address, with or without /api/v4 at the end"},
		{"project page", created(host + "/group/app/-/"), "baseURL: the path is not that of the server"},
		{"GraphQL", created(host + "/api/graphql"), "baseURL: the path is not that of the server"},
		{"sign-in page", created(host + "/users/sign_in"), "baseURL: the path is not that of the server"},

		{"escaped path", answered(404, notFound, project(Path("acme%2Fapp"))), `argument project (:id): it is escaped already: use "acme/app", which the client escapes`},
		{"URL as path", answered(404, notFound, project(Path("https://gitlab.com/acme/app/"))), `argument project (:id): it is a URL: use "acme/app"`},
		{"URL of a page", answered(404, notFound, project(Path("https://gitlab.com/acme/app/-/issues/5?x=1#note"))), `it is a URL: use "acme/app"`},
		{"URL with a query", answered(404, notFound, project(Path("https://gitlab.com/acme/app?x=1"))), `it is a URL: use "acme/app"`},
		{"clone address", answered(404, notFound, project(Path("ssh://git@gitlab.com:22/acme/app.git"))), `it is a URL: use "acme/app"`},
		{"URL with a fragment", answered(404, notFound, project(Path("https://gitlab.com/xacme/appx.git#top/x"))), `it is a URL: use "xacme/appx"; nothing was sent`},
		{"URL of a server", answered(404, notFound, project(Path("https://gitlab.com/"))), "it is a URL: use the path of the object"},
		{"clone path", answered(404, notFound, project(Path("acme/app.git"))), "the credential cannot see it; the path of a project is that of its address without .git"},
		{"name as path", answered(404, notFound, project(Path("app"))), "the credential cannot see it; the path of a project begins with that of its group or user, as in group/app"},
		{"name as path, no message", answered(404, `{}`, project(Path("app"))), "the user may lack access to it; the path of a project begins with that of its group or user"},

		{"no options", answered(201, `{}`, spend(0)), "AddSpentTimeOptions.Duration (duration): it is required, and zero is not a duration: ResetSpentTime removes all time spent"},
		{"minutes without a unit", answered(201, `{}`, spend(30)), "it is less than a second: multiply by a unit, as in forge.WorkDuration(30 * time.Minute)"},
		{"a word that is none", answered(400, `{"error":"state does not have a valid value"}`, list(&ListIssuesOptions{State: "open"})), "state does not have a valid value; this version has opened, closed, all for state"},
		{"two words", answered(400, `{"error":"scope does not have a valid value, sort does not have a valid value"}`, list(nil)), "this version has created_by_me, assigned_to_me, all, reviews_for_me for scope"},
		{"entity type in neutral words", answered(400, `{"error":"entity_type does not have a valid value"}`, audit, WithVocabulary(Neutral)), "GitLab has its own words for entity_type: create the client without WithVocabulary(forge.Neutral)"},
		{"entity type", answered(400, `{"error":"entity_type does not have a valid value"}`, audit), "this version has User, Group, Project, Gitlab::Audit::InstanceScope for entity_type"},
		{"long query", answered(414, ``, list(nil)), "the query is too long for this server: use fewer or shorter filters"},
		{"long query of a call", answered(414, ``, func(c *Client) error { return c.Do(t.Context(), Call{Route: "/x", Query: url.Values{"a": {"b"}}}, nil) }), "use fewer or shorter parameters, or Call.Form, which is sent as the body"},

		{"misspelt column", answered(400, `{"message":"400 Bad request - The provided CSV was not correctly formatted."}`, func(c *Client) error {
			_, err := c.PlaceholderReassignments.Upload(t.Context(), ID(1), FileBytes([]byte("a,b\n")))
			return err
		}), "was not correctly formatted.; ReadCSV names the column or the line of a file that is not as it was made"},
		{"misspelt column, read", rows(strings.Replace(header, "ource", "uorce", 1) + "\n"), "the file of reassignments has no column"},
		{"short row", rows(header + "\na,b\n"), "reading the file of reassignments: line 2 has 2 fields, and the header has "},

		{"number of a page as cursor", answered(200, "[]", list(nil, StartAt("2"))), "StartAt: it is not a cursor: use Response.Cursor of an earlier list"},
		{"parameter without a name", answered(200, "[]", list(nil, Query("", "x"))), "Query: the name is empty"},
		{"token as a parameter", answered(200, "[]", list(nil, Query("private_token", "x"))), "it carries a credential: use a client option, or Sudo"},
		{"no integration", answered(200, "{}", func(c *Client) error { return c.Integrations.Set(t.Context(), ID(1), nil) }), "it is nil: pass the options of an integration"},
		{"document as text", posted("{}"), "Call.Body: a string is sent as a JSON string: use a json.RawMessage"},
		{"document as bytes", posted([]byte("{}")), "Call.Body: JSON has []byte as base64: use a json.RawMessage"},
		{"document as a reader", posted(strings.NewReader("{}")), "the content of a *strings.Reader is not sent: use a json.RawMessage, or Multipart for a file"},
		{"form as body", posted(url.Values{"a": {"b"}}), "url.Values are not sent as JSON: use Form"},
		{"unexported fields", answered(200, "{}", func(c *Client) error {
			return c.Do(t.Context(), callOf(RetryClassSafe), &struct{ name string }{"x"})
		}), "is exported, so that nothing would be decoded: begin the names with capital letters"},
		{"list of unexported fields", answered(200, "[{}]", func(c *Client) error {
			return c.Do(t.Context(), callOf(RetryClassSafe), &[]map[string]*struct{ name string }{})
		}), "is exported, so that nothing would be decoded: begin the names with capital letters"},
		{"path of a format", routed("/projects/%d"), "Call.Route: it has a % that is not an escape: use a placeholder and Args"},
		{"braces", routed("/projects/{id}"), "Call.Route: placeholders are written as :id, without braces"},
		{"whole address", routed(host + "/api/v4/projects"), "Call.Route: it is an address: use its path below /api/v4"},
		{"prefix", routed("/api/v4/projects"), "Call.Route: it is relative to /api/v4: omit /api/v4"},
		{"query in the route", routed("/projects?x=1"), "Call.Route: it has a query: use Query"},

		{"folder that is not there", saved(filepath.Join(t.TempDir(), "backup", "a.zip")), "/backup does not exist: create it first"},
		{"home folder of a shell", uploaded(FileAt("~/a.csv")), "only shells replace ~: use os.UserHomeDir"},
		{"no path", uploaded(FileAt("")), "the path is empty"},

		{"http at a port for https", answeredRaw("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"), "the port expects TLS: use https in the address"},
		{"port of SSH", answeredRaw("SSH-2.0-OpenSSH_9.6\r\n"), "the port serves another protocol than HTTP: check the address and its port"},
		{"proxy that is not there", throughProxy(t, "http://"+strings.TrimPrefix(refusedAddress(t), "http://")), "the proxy cannot be reached: check its address in HTTPS_PROXY, or in the transport of WithHTTPClient"},

		{"number of a page", answered(200, "[]", list(nil, Query("page", "2"))), "Query (page): a list requests its pages itself: add OnePage to read one page by its number, or use PerPage and StartAt"},
		{"number of a later page", answered(200, "[]", func(c *Client) error {
			return collectError(c.MergeRequests.List(t.Context(), nil, Query("page", "11"))) // whose documents have page
		}), "forge: GET /merge_requests: Query (page): a list requests its pages itself"},
		{"number of a page that is none", answered(200, "[]", list(nil, OnePage(), Query("page", "0"))), "Query (page): a list requests its pages itself"},
		{"position of a page", answered(200, "[]", list(nil, Query("cursor", "x"))), "Query (cursor): a list requests its pages itself"},
		{"number of a page of a call", answered(200, "[]", func(c *Client) error {
			_, err := Collect(ListAs[Issue](t.Context(), c, Call{Route: "/issues", Query: url.Values{"page": {"2"}}}))
			return err
		}), "Call.Query (page): a list requests its pages itself"},
		{"body of another length", answered(200, "{}", func(c *Client) error {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.BaseURL()+"/x", strings.NewReader("abc"))
			require.NoError(t, err)
			req.ContentLength = 5
			_, err = c.HTTPClient().Do(req)
			return err
		}), "the body is 2 bytes shorter than its ContentLength: set it to the number of bytes"},
		{"no value to decode", done(204, "", Call{Method: "DELETE", Route: "/x"}, new(any)), "204 No Content: the call succeeded and there is no body to decode: pass nil for out; the write may have been applied"},
		{"text to decode", answered(200, "a", func(c *Client) error { return c.Do(t.Context(), Call{Route: "/x", Form: url.Values{}}, new(any)) }, WithHTTPClient(textAnswers)), "the response is text/plain instead of JSON: use client.Open"},
		{"a number for an object", done(200, "{}", Call{Route: "/x"}, new(int)), "the response is a JSON object, and out is of type int: pass a pointer to a struct or a map"},
		{"escape in the route", routed("/projects/acme%2Fapp"), `Call.Route: it has an escape: use /projects/:id with Args: forge.Path("acme/app")`},
		{"path in the route", done(404, `{"error":"404 Not Found"}`, Call{Route: "/projects/acme/app"}, nil), `a path is one argument: use /projects/:id with Args: forge.Path("acme/app")`},

		{"token address over http", created(host, WithOAuth(&oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: "http://forge.example.com/oauth/token"}}, expired("r1"))), "WithOAuth (TokenURL): plain http would send the credential unencrypted"},
		{"registry over http", created(host, WithRegistry("http://r.example.com", host), WithToken("abcdefgh")), "WithRegistry (registryURL): plain http would send the credential unencrypted"},
		{"token address without a scheme", created(host, WithOAuth(&oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: "/oauth/token"}}, expired("r1"))), "WithOAuth (TokenURL): the address must begin with https://; nothing was sent"},
		{"registry without a scheme", created(host, WithRegistry(host, "a.example.com")), "WithRegistry (authURL): the address must begin with https://; nothing was sent"},
		{"registry's API", created(host, WithRegistry(host+"/v2/", host)), "WithRegistry (registryURL): the address ends in /v2, and the client adds it: omit it"},
		{"endpoint of registry tokens", created(host, WithRegistry(host, host+"/jwt/auth")), "WithRegistry (authURL): the address ends in /jwt/auth, and the client adds it: omit it"},
		{"space after an address", created(host + "/x "), "baseURL: the address has spaces or control bytes around or in it"},
		{"address in quotes", created(`"https://forge.example.com"`), "baseURL: the address is in quotes, or it is the name of a variable: pass its value alone"},

		{"unknown format", archived("rar"), "this version has the formats bz2 tar tar.bz2 tar.gz tb2 tbz tbz2 zip"},
		{"format with a dot", archived(".zip"), "ArchiveOptions.Format (format): omit the dot"},
		{"no age", deleted("0d"), "OlderThan (older_than): it is zero: leave OlderThan empty for any age"},
		{"duration as age", deleted(Age((7 * 24 * time.Hour).String())), `"168h0m0s" is not an age of the form 1h, 1d or 1month: use "168h"`},
		{"options of another kind", decoded(&TelegramOptions{}), "Decode (options): it is a *forge.TelegramOptions, for the kind telegram, and the integration is of the kind discord"},
		{"capitals in a slug", custom("Jira"), "CustomIntegration.Slug (slug): slugs have lower-case letters, digits, dashes and underscores"},
		{"title as slug", custom("slack notifications"), "slugs have lower-case letters"},

		{"spaces around a path", answered(404, notFound, project(Path("acme/app "))), `argument project (:id): it has spaces around it: use "acme/app"`},
		{"path of a page", answered(404, notFound, project(Path("acme/app/-/issues/5"))), `it is the path of a page: use "acme/app"`},
		{"query after a path", answered(404, notFound, project(Path("acme/app?x=1"))), `it has a query: use "acme/app"`},
		{"address of SSH", answered(404, notFound, project(Path("git@gitlab.com:acme/app.git"))), `it is a clone address: use "acme/app"`},
		{"path for a segment", answered(200, "{}", func(c *Client) error {
			_, err := c.Namespaces.Exists(t.Context(), "acme/app", nil)
			return err
		}), "it has a /, and the server compares one segment: use the last part"},
		{"backslash", answered(404, notFound, project(Path(`acme\app`))), `it has backslashes: use "acme/app"`},
		{"mention", answered(404, notFound, project(Path("@maya"))), `it begins with @: use "maya"`},
		{"wrong refs", repository("Ref", func(c *Client) error {
			_, err := c.Repositories.Compare(t.Context(), ID(1), &CompareOptions{From: "main", To: "nope"})
			return err
		}), `the credential cannot see it; the call had from="main" to="nope"`},
		{"wrong commit", repository("File", func(c *Client) error {
			_, err := c.Repositories.Archive(t.Context(), ID(1), &ArchiveOptions{SHA: "nope"})
			return err
		}), `; the call had sha="nope"`},
		{"wrong ref of a tree", repository("Tree", func(c *Client) error {
			_, err := Collect(c.Repositories.ListTree(t.Context(), ID(1), &ListTreeOptions{Ref: "nope"}))
			return err
		}), `; the call had ref="nope"`},
		{"no secure file", answered(200, "x", func(c *Client) error {
			_, err := c.SecureFiles.Download(t.Context(), ID(1), nil)
			return err
		}), "argument secure file (:id): it is nil: use a result of List or Get"},
		{"limit without a unit", answered(200, "[]", list(nil, HeaderTimeout(30))), "HeaderTimeout: 30ns is less than a millisecond: multiply by a unit, as in 30*time.Second"},
		{"limit of a call without a unit", answered(200, "[]", list(nil, Timeout(5))), "Timeout: 5ns is less than a millisecond: multiply by a unit"},
		{"timeout without a unit", answered(200, "{}", func(c *Client) error {
			_, err := c.Runners.Update(t.Context(), 1, &UpdateRunnerOptions{MaximumTimeout: Value(time.Duration(3600))})
			return err
		}), "3.6µs is not a positive number of whole seconds: multiply by a unit, as in 1*time.Hour"},
		{"day that is not there", Date{2026, 2, 31}.EncodeValues("d", &url.Values{}), "2026-02-31 is not a date of the calendar"},
		{"value with a comma", answered(400, `{"error":"in does not have a valid value"}`, list(nil)), `this version has title, description, "title,description" for in`},
		{"line end", created(host, WithToken("abcdefgh\n")), "remove the line end with strings.TrimSpace"},

		{"GitLab's token", fromEnv("GITLAB_TOKEN", "x"), "CI_JOB_TOKEN; GITLAB_URL and GITLAB_TOKEN are not read"},
		{"GitLab's address", fromEnv("GITLAB_URL", host), "CI_JOB_TOKEN; GITLAB_URL and GITLAB_TOKEN are not read"},
		{"the other half of a job", fromEnv("CI_JOB_TOKEN", "abcdefgh"), "environment: CI_JOB_TOKEN is set and CI_API_V4_URL is not: set both"},
		{"half a job", fromEnv("CI_API_V4_URL", host), "environment: CI_API_V4_URL is set and CI_JOB_TOKEN is not: set both"},
		{"variable without a scheme", fromEnv("FORGE_URL", "forge.example.com", "FORGE_TOKEN", "abcdefgh"), "FORGE_URL: the address must begin with https://; nothing was sent"},
		{"job token as access token", done(401, "{}", callOf(RetryClassSafe), nil, WithToken("glcbt-abcdefgh")), "the token is a CI job token (glcbt-): pass it with WithJobToken"},
		{"runner's token", done(401, "{}", callOf(RetryClassSafe), nil, WithToken("glrt-abcdefgh")), "the token is that of a runner (glrt-), which this API does not accept: use an access token"},
		{"access token as job token", done(401, "{}", callOf(RetryClassSafe), nil, WithJobToken("glpat-abcdefgh")), "the token is an access token (glpat-): pass it with WithToken"},
		{"used refresh token", oauth(400, `{"error":"invalid_grant"}`), "400 invalid_grant (127.0.0.1:"},
		{"used refresh token, remedy", oauth(400, `{"error":"invalid_grant"}`), "the refresh token is wrong, expired, revoked or used already: authorize the application again"},
		{"wrong secret", oauth(401, `{"error":"invalid_client"}`), "): check ClientID and ClientSecret of the config"},
		{"wrong token address", oauth(404, `{}`), "): check TokenURL of the config: for GitLab its path is /oauth/token"},
		{"page of tokens", oauth(200, `{"x":1}`), "no usable token (127.0.0.1:"},
		{"no refresh token", answered(200, "{}", func(c *Client) error { return c.Do(t.Context(), callOf(RetryClassSafe), nil) }, WithOAuth(&oauth2.Config{}, &oauth2.Token{AccessToken: "abcdefgh", Expiry: time.Now().Add(-time.Hour)})), "there is no refresh token: authorize the application again"},

		{"file used twice", twice(uploaded, FileReader(strings.NewReader("a"), 1)), "cannot be read twice: make a File for each call"},
		{"wrong size", uploaded(FileReader(strings.NewReader("abc"), 10)), "): the file is 7 bytes shorter than its Size: set it to the number of bytes"},
		{"no name", uploaded(FileBytes(nil).Named("")), "the file has no name: set File.Name"},
		{"UTF-16", rows("\xff\xfeS\x00"), "reading the file of reassignments: it is UTF-16: save it as UTF-8"},
		{"no file name", saved(""), "the path has no file name: add one"},
		{"link to nothing", saved(dangling(t)), "it is a symbolic link to a file that does not exist"},
		{"algorithm in a checksum", answered(200, "x", func(c *Client) error {
			_, err := c.Open(t.Context(), Call{Route: "/x"}, Checksum("sha256:"+strings.Repeat("a", 64)))
			return err
		}), "Checksum: it begins with sha256: pass the 64 hex digits alone"},
		{"capitals in an image path", image(200, "{}", "Acme/app"), `argument image_path: image paths have no capital letters: use "acme/app"`},
		{"host in an image path", image(403, `{"errors":[{"code":"DENIED","message":"access forbidden"}]}`, "registry.example.com/acme/app"), `an image path has no host: omit "registry.example.com" if it is one`},
		{"other manifest", image(406, "{}", "acme/app"), "ManifestType must be the media type of this manifest: see DeleteManifestOptions"},
		{"call that registries lack", answered(405, "{}", func(c *Client) error {
			return c.RegistryNative.DeleteTagReference(t.Context(), "acme/app", "v1")
		}, WithRegistry(registry, registry), WithRegistryCredentials("u", "abcdefgh")), "this registry has no such call: use DeleteManifest"},
		{"redirects in a circle", wireClient(t, newWire(t, always(say(302, "", "Location: /x"))).url).Do(t.Context(), callOf(RetryClassSafe), nil), "more than 5 times: check the base URL and the credential"},
		{"source without a token", done(200, "{}", callOf(RetryClassSafe), nil, WithTokenSource(noToken{})), "the token source returned no token: it must return a token or an error"},
		{"large file", done(413, "{}", callOf(RetryClassIdempotent), nil), "the body is larger than the server, or a proxy, accepts"},

		{"password in the proxy's address", throughProxy(t, "http://u:p@ss#word@127.0.0.1:9"), "the proxy's address cannot be used: escape the password in it"},
		{"proxy without a host", throughProxy(t, "proxy.example.com:port"), "the proxy's address cannot be used: escape the password in it"},
		{"proxy with a path", throughProxy(t, "http://127.0.0.1:9/x"), "the proxy's address cannot be used: escape the password in it"},
		{"proxy over TLS", throughProxy(t, strings.Replace(refusedAddress(t), "http:", "https:", 1)), "the proxy cannot be reached"},
		{"proxy of another kind", throughProxy(t, "ftp://127.0.0.1:9"), "the proxy's address cannot be used: it must begin with http://, https:// or socks5://"},
		{"silent proxy", throughProxy(t, silentProxy(t)), "the request went through the proxy 127.0.0.1:"},
	} {
		if assert.Error(t, test.err, test.mistake) {
			assert.Contains(t, test.err.Error(), test.says, test.mistake)
		}
	}
}

// dangling returns the path of a link without a target.
func dangling(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink("nothing", path))
	return path
}

// noToken is a source that returns neither a token nor an error.
type noToken struct{}

func (noToken) Token() (*oauth2.Token, error) { return nil, nil }

// twice uploads a file two times.
func twice(upload func(File) error, file File) error {
	_ = upload(file)
	return upload(file)
}

// textAnswers answers each request in plain text.
var textAnswers = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: http.NoBody, Request: r}, nil
})}

// silentProxy returns the address of a proxy that accepts connections and never answers.
func silentProxy(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return "http://" + listener.Addr().String()
}

// Only a directory that does not exist is said not to exist: /proc exists, and takes no files.
func TestSaveToExistingDirectory(t *testing.T) {
	hint := saveHint("/proc/x", &fs.PathError{Op: "open", Path: "/proc/x", Err: fs.ErrNotExist})
	if _, err := os.Stat("/proc"); err == nil {
		assert.Empty(t, hint)
	}
}

// A refused connection to a proxy keeps its cause, and nothing of an address with a user is shown:
// a part of the password may have been read as the host.
func TestErrorOfAProxy(t *testing.T) {
	refused := strings.TrimPrefix(refusedAddress(t), "http://")
	for address, shown := range map[string]bool{"http://" + refused: true, "http://u:p@" + refused: false, "socks5://u:p@" + refused: false, "http://u:p@ss.invalid": false} {
		err := throughProxy(t, address)
		var dial *net.OpError
		require.ErrorAs(t, err, &dial, address)
		assert.Equal(t, shown, strings.Contains(err.Error(), refused), err)
		assert.NotContains(t, err.Error(), "ss.invalid")
		assert.NotContains(t, dial.Error(), "ss.invalid")
		assert.ErrorContains(t, err, "the proxy cannot be reached: check its address")
		err = throughProxy(t, address, WithOAuth(&oauth2.Config{Endpoint: oauth2.Endpoint{TokenURL: "https://login.example.com/token"}}, &oauth2.Token{RefreshToken: "refresh"}))
		require.ErrorContains(t, err, "obtaining a token failed (login.example.com)")
		require.ErrorAs(t, err, &dial, address)
		assert.NotContains(t, dial.Error(), "ss.invalid")
	}
	for _, address := range []string{"http://u:1234/secret@127.0.0.1:9", "http://u:p@secret#word@127.0.0.1:9", "http://u:p@secret?word@127.0.0.1:9"} {
		assert.NotContains(t, throughProxy(t, address).Error(), "secret", address)
	}
	assert.NotContains(t, throughProxy(t, strings.Replace(silentProxy(t), "//", "//u:hidden@", 1)).Error(), "hidden")
	for hint, proxy := range map[string]*url.URL{"": nil, "the request went through the proxy " + strings.Repeat("h", 256) + "...: check its address": {Scheme: "http", Host: strings.Repeat("h", 257)}} {
		silent := &http.Transport{Proxy: http.ProxyURL(proxy), DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }}
		c := wireClient(t, "https://forge.example.com", WithHTTPClient(&http.Client{Transport: silent}), WithRetry(RetryPolicy{MaxAttempts: 1}))
		assert.Equal(t, hint, asError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil, HeaderTimeout(time.Millisecond))).hint)
		lost := &http.Transport{Proxy: http.ProxyURL(proxy), DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, io.ErrUnexpectedEOF }}
		c = wireClient(t, "https://forge.example.com", WithHTTPClient(&http.Client{Transport: lost}), WithRetry(RetryPolicy{MaxAttempts: 1}))
		assert.Empty(t, asError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil)).hint, "a lost connection is no matter of the proxy's address")
	}
	synctest.Test(t, func(t *testing.T) {
		w := pipedWire(t, always(silent("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{")))
		proxied := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.example.com"}), DialContext: w.dial}
		err := asError(t, w.client(t, WithHTTPClient(&http.Client{Transport: proxied})).Do(t.Context(), callOf(RetryClassNonIdempotent), new(any)))
		require.ErrorIs(t, err, ErrTimeout)
		assert.Empty(t, err.hint, "a body that stalls is no matter of the proxy's address")
	})
}

// throughProxy returns the error of a call through a proxy.
func throughProxy(t *testing.T, proxy string, options ...Option) error {
	t.Helper()
	address, err := url.Parse(proxy)
	require.NoError(t, err)
	c := wireClient(t, "https://forge.example.com", append(options, WithHTTPClient(&http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address)}}), WithRetry(RetryPolicy{MaxAttempts: 1}))...)
	return c.Do(t.Context(), callOf(RetryClassSafe), nil, HeaderTimeout(500*time.Millisecond))
}
