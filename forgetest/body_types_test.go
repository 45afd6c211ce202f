package forgetest

import (
	"bytes"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sendJSON makes a call whose body is JSON text.
func (c caller) sendJSON(method, path, body string) reply {
	c.t.Helper()
	return c.sendAs(method, path, "application/json", body)
}

// wrongValues returns JSON values of types that the parameter does not accept.
func wrongValues(p parameter) []string {
	values := []string{`[[]]`, `[{}]`, `[null]`, `[[1]]`, `{"a":[1]}`}
	switch kind, _, _ := strings.Cut(p.Type, "<"); kind {
	case "boolean":
		values = append(values, `null`, `1`, `"yes"`, `""`, `[false]`, `[]`, `{}`, `{"a":true}`)
	case "integer":
		values = append(values, `true`, `1.5`, `"x"`, `[]`, `[1]`, `["1"]`, `{}`, `{"a":1}`)
		if !strings.Contains(p.Name, "runner_token_expiration_interval") && p.Name != "maximum_timeout" { // may be null
			values = append(values, `""`)
		}
	case "array":
		values = append(values, `true`, `1`, `[1]`, `[true]`, `{}`, `{"a":"b"}`)
	case "hash":
		values = append(values, `true`, `1`, `"x"`, `[]`, `["x"]`)
	default:
		values = append(values, `true`, `1`, `[]`, `["x"]`, `{}`, `{"a":"b"}`)
	}
	if p.Type == "hash" {
		return slices.DeleteFunc(values, func(v string) bool { return v[0] == '{' })
	}
	return values
}

// A value of another JSON type is a 400 (Document 1 §7) for every body parameter of every endpoint,
// and the call changes nothing.
func TestBodyTypes(t *testing.T) {
	s := contractServer(t)
	c := newCaller(t, s)
	checked := 0
	refuse := func(method, path string, p parameter) {
		if p.Type == "file" || !p.Only.allowed(s, s.Root()) {
			return
		}
		checked++
		for _, value := range wrongValues(p) {
			body := `{"` + p.root() + `":` + value + `}`
			r := c.sendJSON(method, path, body)
			assert.Equal(t, 400, r.Status, "%s %s %s: %s", method, path, body, r.Body)
			assert.Contains(t, r.object(t)["error"], p.root()+" is invalid", "%s %s %s", method, path, body)
		}
		if len(p.Enum) > 0 {
			for _, r := range []reply{c.sendJSON(method, path, `{"`+p.Wire+`":""}`), c.send(method, path, p.Wire+"=")} {
				assert.Contains(t, r.object(t)["error"], p.Wire+" does not have a valid value", "%s %s", method, path)
			}
		}
		if p.Type != "hash" && !strings.HasPrefix(p.Type, "array") && path != settingsPath {
			for _, form := range []string{"[]=1", "[a]=1", "[0][a]=1"} {
				assert.Contains(t, c.send(method, path, url.QueryEscape(p.Wire)+form).object(t)["error"], p.root()+" is invalid", p.Wire+form)
			}
		}
	}
	for _, x := range examples() {
		e := x.endpoint
		if e.SameAs != "" {
			continue
		}
		path, _, _ := strings.Cut(x.path, "?")
		for _, p := range e.BodyParams {
			refuse(e.Method, path, p)
		}
		for _, kind := range e.Kinds {
			for _, p := range kind.Params {
				refuse(e.Method, "/groups/group/integrations/"+orElse(kind.Slug, kind.ID), p)
			}
		}
	}
	assert.Greater(t, checked, 250)
	assert.Zero(t, s.CountApplied("*"))
}

// A JSON body must be one object, and nothing may follow it.
func TestBodiesAreOneObject(t *testing.T) {
	s := contractServer(t)
	c := newCaller(t, s)
	const path = "/projects/1/resource_groups/production"
	for _, body := range []string{`{`, `[]`, `"x"`, `1`, `{} {}`, `{"process_mode":"newest_first"}}`, `{"process_mode":"newest_first"} x`} {
		assert.Equal(t, 400, c.sendJSON("PUT", path, body).Status, body)
	}
	assert.Zero(t, s.CountApplied("*"))
	for _, body := range []string{`{}`, ` { } `, `null`, "{\"process_mode\":\"newest_first\"}\n"} {
		assert.Equal(t, 200, c.sendJSON("PUT", path, body).Status, body)
	}
}

// A form may be multipart, also without a file (Document 1 §1).
func TestFormsAsMultipart(t *testing.T) {
	s := contractServer(t)
	c := newCaller(t, s)
	send := func(method, path string, fields ...string) reply {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		for _, field := range fields {
			name, value, _ := strings.Cut(field, "=")
			require.NoError(t, w.WriteField(name, value))
		}
		require.NoError(t, w.Close())
		return c.sendAs(method, path, w.FormDataContentType(), body.String())
	}
	r := send("PUT", "/projects/1/resource_groups/production", "process_mode=newest_first")
	assert.Equal(t, "newest_first", r.object(t)["process_mode"])
	assert.InDelta(t, 3600.0, send("POST", "/projects/1/issues/1/add_spent_time", "duration=1h", "summary=x").object(t)["total_time_spent"], 0)
	r = send("PUT", "/runners/1", "tag_list[]=a", "tag_list[]=b", "paused=true")
	assert.Equal(t, []any{[]any{"a", "b"}, true}, []any{r.object(t)["tag_list"], r.object(t)["paused"]})
	r = send("PUT", settingsPath, "sign_in_restrictions[admin_mode]=true", "max_attachment_size=7")
	assert.EqualValues(t, 7, r.object(t)["max_attachment_size"])
	for _, bad := range []string{"process_mode=random", "process_mode=", "process_mode[]=unordered"} {
		assert.Equal(t, 400, send("PUT", "/projects/1/resource_groups/production", bad).Status, bad)
	}
}

// sentAs are the forms of one value: JSON, JSON text, the text of a form, and, for booleans, the
// JSON text of Python.
func (c caller) sentAs(method, path string, p parameter, value string) []reply {
	replies := []reply{
		c.sendJSON(method, path, `{"`+p.Wire+`":`+value+`}`),
		c.sendJSON(method, path, `{"`+p.Wire+`":"`+value+`"}`),
		c.send(method, path, url.Values{p.Wire: {value}}.Encode()),
	}
	if p.Type == "boolean" {
		replies = append(replies, c.sendJSON(method, path, `{"`+p.Wire+`":"`+strings.ToUpper(value[:1])+value[1:]+`"}`))
	}
	return replies
}

// A boolean or a number has the same effect as JSON, as JSON text and as the text of a form, in
// every body: clients such as glab send only text.
func TestTextMeansTheSameInEveryBody(t *testing.T) {
	s := contractServer(t)
	s.SetClock(noon)
	c := newCaller(t, s)
	checked := map[string]int{}
	compare := func(method, path string, p parameter) {
		for _, value := range map[string][]string{"boolean": {"true", "false"}, "integer": {"17"}}[p.Type] {
			replies := c.sentAs(method, path, p, value)
			for _, r := range replies {
				assert.Equal(t, replies[0].Status, r.Status, "%s %s: %s = %s: %s", method, path, p.Wire, value, r.Body)
				assert.Equal(t, replies[0].Body, r.Body, "%s %s: %s = %s", method, path, p.Wire, value)
			}
			if replies[0].Status < 300 {
				checked[p.Type]++
			}
		}
	}
	for _, x := range examples() {
		e := x.endpoint
		if e.SameAs != "" || e.Base != "api" {
			continue
		}
		path, _, _ := strings.Cut(x.path, "?")
		for _, p := range e.BodyParams {
			compare(e.Method, path, p)
		}
		for _, kind := range e.Kinds {
			for _, p := range kind.Params {
				compare(e.Method, "/groups/group/integrations/"+orElse(kind.Slug, kind.ID), p)
			}
		}
	}
	assert.Greater(t, checked["boolean"], 100)
	assert.Greater(t, checked["integer"], 30)
}
