package forge

import (
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		_, err := Collect(c.AuditEvents.List(t.Context(), &ListAuditEventsOptions{EntityType: AuditEntityInstance}))
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
		return c.Do(t.Context(), callOf(ClassSafe), nil)
	}
	rows := func(file string) error {
		for _, err := range new(PlaceholderReassignmentsService).ReadCSV(strings.NewReader(file)) {
			if err != nil {
				return err
			}
		}
		return nil
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
		{"port of two kinds", created(host + ":99999"), "baseURL: the port of the address is not between 1 and 65535"},
		{"waits swapped", created(host, WithRetry(RetryPolicy{MinWait: time.Hour, MaxWait: time.Second})), "WithRetry: MinWait is longer than MaxWait"},
		{"long wait, default bound", created(host, WithRetry(RetryPolicy{MinWait: time.Minute})), "WithRetry: MinWait is longer than MaxWait, whose default is 30 s"},
		{"address without a scheme", created("forge.example.com", WithToken("abcdefgh")), "baseURL: the address must begin with https://"},
		{"page", created(host + "/group/app/-/issues"), "baseURL: the path is not that of the server: use its address, with or without /api/v4 at the end"},
		{"project page", created(host + "/group/app/-/"), "baseURL: the path is not that of the server"},
		{"GraphQL", created(host + "/api/graphql"), "baseURL: the path is not that of the server"},
		{"sign-in page", created(host + "/users/sign_in"), "baseURL: the path is not that of the server"},

		{"escaped path", answered(404, notFound, project(Path("acme%2Fapp"))), `argument project (:id): it is escaped already: use "acme/app", which the client escapes`},
		{"URL as path", answered(404, notFound, project(Path("https://gitlab.com/acme/app"))), `argument project (:id): it is a URL: use "acme/app"`},
		{"URL of a page", answered(404, notFound, project(Path("https://gitlab.com/acme/app/-/issues/5?x=1#note"))), `it is a URL: use "acme/app"`},
		{"URL with a query", answered(404, notFound, project(Path("https://gitlab.com/acme/app?x=1"))), `it is a URL: use "acme/app"`},
		{"clone address", answered(404, notFound, project(Path("ssh://git@gitlab.com:22/acme/app.git"))), `it is a URL: use "acme/app"`},
		{"URL of a server", answered(404, notFound, project(Path("https://gitlab.com/"))), "it is a URL: use the path of the object"},
		{"clone path", answered(404, notFound, project(Path("acme/app.git"))), "the credential cannot see it; the path of a project is that of its address without .git"},
		{"name as path", answered(404, notFound, project(Path("app"))), "the credential cannot see it; the path of a project begins with that of its group or user, as in group/app"},
		{"name as path, no message", answered(404, `{}`, project(Path("app"))), "the user may lack access to it; the path of a project begins with that of its group or user"},

		{"no options", answered(201, `{}`, spend(0)), "AddSpentTimeOptions.Duration (duration): it is required, and zero is not a duration: ResetSpentTime removes all time spent"},
		{"minutes without a unit", answered(201, `{}`, spend(30)), "it is less than a second: multiply by a unit, as in forge.WorkDuration(30 * time.Minute)"},
		{"a word that is none", answered(400, `{"error":"state does not have a valid value"}`, list(&ListIssuesOptions{State: "open"})), "state does not have a valid value; this version has opened, closed, all for state"},
		{"two words", answered(400, `{"error":"scope does not have a valid value, sort does not have a valid value"}`, list(nil)), "this version has created_by_me, assigned_to_me, all, reviews_for_me for scope"},
		{"entity type without a vocabulary", answered(400, `{"error":"entity_type does not have a valid value"}`, audit), "GitLab has its own words for entity_type: create the client with WithVocabulary(forge.GitLab)"},
		{"entity type with one", answered(400, `{"error":"entity_type does not have a valid value"}`, audit, WithVocabulary(GitLab)), "this version has User, Group, Project, Gitlab::Audit::InstanceScope for entity_type"},
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
			return c.Do(t.Context(), callOf(ClassSafe), &struct{ name string }{"x"})
		}), "is exported, so that nothing would be decoded: begin the names with capital letters"},
		{"list of unexported fields", answered(200, "[{}]", func(c *Client) error {
			return c.Do(t.Context(), callOf(ClassSafe), &[]map[string]*struct{ name string }{})
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
	} {
		if assert.Error(t, test.err, test.mistake) {
			assert.Contains(t, test.err.Error(), test.says, test.mistake)
		}
	}
}

// throughProxy returns the error of a call through a proxy.
func throughProxy(t *testing.T, proxy string) error {
	t.Helper()
	address, err := url.Parse(proxy)
	require.NoError(t, err)
	c := wireClient(t, "https://forge.example.com", WithHTTPClient(&http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address)}}), WithRetry(RetryPolicy{MaxAttempts: 1}))
	err = c.Do(t.Context(), callOf(ClassSafe), nil, HeaderTimeout(time.Minute))
	var dial *net.OpError
	require.ErrorAs(t, err, &dial)
	return err
}
