package forgetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// strictTime is a format of the catalogue, and strictLayout its layout.
const (
	strictTime   = "ISO 8601 YYYY-MM-DDTHH:MM:SSZ"
	strictLayout = "2006-01-02T15:04:05Z"
)

// readParams merges the query and the body (JSON or form) under their wire names (Document 1 §1,
// §2.1 rule 5).
func (c *call) readParams(body []byte) *response {
	c.params = c.r.URL.Query()
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	kind, details, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		var object map[string]any
		if decoder.Decode(&object) != nil || !atEOF(decoder) {
			return fail(rejected(http.StatusBadRequest, "message body does not match declared format"))
		}
		c.object = object
		for key, value := range object {
			flatten(c.params, key, value)
		}
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return fail(rejected(http.StatusBadRequest, "message body does not match declared format"))
		}
		for key, values := range form {
			c.params[key] = values
		}
	case "multipart/form-data":
		return c.readMultipart(body, details["boundary"])
	default:
		return fail(rejected(http.StatusUnsupportedMediaType, fmt.Sprintf("The provided content-type '%s' is not supported.", kind)))
	}
	return nil
}

// atEOF reports whether nothing follows the value that a decoder has read.
func atEOF(decoder *json.Decoder) bool {
	_, err := decoder.Token()
	return errors.Is(err, io.EOF)
}

// flatten converts a JSON value to the wire form of a query: name[] for arrays, name[key] for
// objects.
func flatten(into url.Values, key string, value any) {
	switch v := value.(type) {
	case nil:
	case []any:
		for _, item := range v {
			flatten(into, key+"[]", item)
		}
	case map[string]any:
		for name, item := range v {
			flatten(into, key+"["+name+"]", item)
		}
	default:
		into.Add(key, fmt.Sprint(v))
	}
}

// validate checks path, query and body parameters against the contract.
func (c *call) validate() *response {
	e := c.route.endpoint
	c.dropUnknown()
	lists := [...][]parameter{e.QueryParams, e.BodyParams} // a copy of both is large
	for _, params := range lists {
		c.dropUnavailable(params)
		c.coerce(params)
	}
	var problems []string
	for _, p := range e.PathParams {
		problem := p.problem(c.args[p.Name])
		switch {
		case c.args[p.Name] == "" || problem == "":
		case len(p.Enum) > 0: // an unknown format is a path without a route: archive.rar
			return fail(rejected(http.StatusNotFound, "404 Not Found"))
		default:
			problems = append(problems, p.Name+" "+problem)
		}
	}
	for _, params := range lists {
		for _, p := range params {
			problems = append(problems, c.check(p)...)
		}
	}
	if e.needsOne && c.server.release.has(newest) && !slices.ContainsFunc(e.BodyParams, c.isSent) {
		problems = append(problems, "at least one parameter must be provided")
	}
	if len(problems) > 0 {
		return fail(rejected(http.StatusBadRequest, c.deployedNames(problems)...))
	}
	for _, p := range e.BodyParams {
		if p.MaxLength > 0 && utf8.RuneCountInString(c.text(p.Wire)) > p.MaxLength {
			return fail(invalid(p.Name, fmt.Sprintf("is too long (maximum is %d characters)", p.MaxLength)))
		}
	}
	return nil
}

func (c *call) check(p parameter) (problems []string) {
	for _, key := range p.Keys {
		problems = append(problems, c.check(key)...)
	}
	if c.hasWrongType(p) {
		return append(problems, p.root()+" is invalid")
	}
	values := c.list(p.Wire)
	if problem := c.emptyProblem(p); problem != "" {
		problems = append(problems, p.baseName()+problem)
	}
	if len(values) == 0 {
		if p.Required && !c.aliased(p.Name) || p.RequiredWhen != "" && c.flag(p.RequiredWhen) && !c.isDocumented(p.RequiredWhen) && c.isMissing(p.Name) {
			problems = append(problems, p.Name+" is missing")
		}
		return problems
	}
	for _, value := range values {
		problem := p.problem(c.contractValue(value))
		if since, later := p.EnumSince[value]; later && !c.server.release.has(since) {
			problem = "does not have a valid value"
		}
		if problem != "" {
			problems = append(problems, p.baseName()+" "+problem)
			break
		}
	}
	if p.MaxItems > 0 && len(values) > p.MaxItems {
		problems = append(problems, fmt.Sprintf("%s has more than %d values", p.Name, p.MaxItems))
	}
	for _, other := range p.requiredWith(values[0]) {
		if c.isMissing(other) {
			problems = append(problems, other+" is missing")
		}
	}
	for _, other := range p.ExclusiveWith {
		if p.baseName() < other && c.given(other) {
			problems = append(problems, p.baseName()+", "+other+" are mutually exclusive")
		}
	}
	return problems
}

// isSent reports whether a parameter is in the request, with any value.
func (c *call) isSent(p parameter) bool {
	_, inBody := c.inBody(p.root())
	return inBody || c.params.Has(p.Wire) || c.params.Has(p.baseName())
}

// aliased reports whether a deprecated alias of a parameter is given.
func (c *call) aliased(name string) bool {
	return slices.ContainsFunc(c.route.endpoint.BodyParams, func(p parameter) bool {
		return p.Deprecated != nil && p.Deprecated.Alias && p.Deprecated.Use == name && c.has(p.Wire)
	})
}

// requiredWith returns the parameters that must be sent together with a value.
func (p parameter) requiredWith(value string) []string {
	if p.Type == "boolean" && value != "true" {
		return nil
	}
	return slices.Concat(p.Requires, p.UsedWith)
}

// isMissing reports whether a parameter that another parameter requires is missing. A parameter
// that the platform does not have is never missing, and some texts may be empty.
func (c *call) isMissing(name string) bool {
	for _, p := range slices.Concat(c.route.endpoint.QueryParams, c.route.endpoint.BodyParams) {
		if p.Name == name && (!p.Only.allowed(c.server, c.user) || p.mayBeBlank() && c.params.Has(p.Wire)) {
			return false
		}
	}
	return !c.given(name)
}

// mayBeBlank reports whether the deployed server accepts "" for a required parameter: it rejects an
// empty key, address or host name.
func (p parameter) mayBeBlank() bool {
	return p.Name == "shared_runners_text" || p.Name == "email_restrictions"
}

// unmetNeed describes a setting whose value does not allow the parameter; "" if there is none.
func (p parameter) unmetNeed(value func(name string) bool) string {
	for name, needed := range p.Needs {
		if value(name) != needed {
			return "can only be enabled when " + name + " is " + map[bool]string{true: "enabled", false: "disabled"}[needed]
		}
	}
	return ""
}

// dropUnavailable drops parameters that are not available in the tier, the offering or the release,
// or to the user: the platform ignores them.
func (c *call) dropUnavailable(params []parameter) {
	for _, p := range params {
		c.dropUnavailable(p.Keys)
		keyset := c.text("pagination") == "keyset" && (p.Name == "pagination" || p.Name == "order_by" || p.Name == "sort")
		if p.Only.allowed(c.server, c.user) || keyset {
			continue
		}
		maps.DeleteFunc(c.params, func(wire string, _ []string) bool { return p.covers(wire) || p.misplaced(wire) })
		delete(c.object, p.root())
	}
}

// isDocumented reports whether the endpoint documents a parameter. Only then does the server
// enforce what the parameter requires.
func (c *call) isDocumented(name string) bool {
	return slices.ContainsFunc(c.route.endpoint.BodyParams, func(p parameter) bool { return p.Name == name })
}

// contractValue translates a value of the deployed product, which accepts only its own name of the
// instance's scope.
func (c *call) contractValue(value string) string {
	switch {
	case !c.server.neutral && value == deployedScope:
		return instanceScope
	case !c.server.neutral && value == instanceScope:
		return deployedScope
	}
	return value
}

// problem describes why one value is invalid; "" for a valid one.
func (p parameter) problem(value string) string {
	if p.keyword(value) != "" {
		return ""
	}
	valid := true
	switch p.Type {
	case "integer", "array<integer>":
		_, valid = parseID(value)
	case "boolean":
		valid = value == "true" || value == "false"
	case "datetime":
		_, valid = parseTime(value)
	case "string":
		if p.Format == strictTime {
			_, err := time.Parse(strictLayout, value)
			valid = err == nil && len(value) == len(strictLayout) // no fraction
		}
	}
	switch {
	case !valid:
		return "is invalid"
	case len(p.Enum) > 0 && !p.isAllowedValue(value),
		len(p.ItemEnum) > 0 && !slices.Contains(p.ItemEnum, value),
		len(p.Allowed) > 0 && !slices.Contains(p.Allowed, value == "true"):
		return "does not have a valid value"
	}
	return ""
}

// list returns all values of a parameter. The deployed server also accepts an array as one text
// separated by commas, under its name without brackets. Special values (None, Any) always have this
// form.
func (c *call) list(wire string) []string {
	values := c.params[wire]
	if bare, isArray := strings.CutSuffix(wire, "[]"); isArray {
		for _, joined := range c.params[bare] {
			values = append(values, strings.Split(joined, ",")...)
		}
	}
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
}

func (c *call) has(wire string) bool    { return len(c.list(wire)) > 0 }
func (c *call) given(name string) bool  { return c.has(name) || c.has(name+"[]") }
func (c *call) text(wire string) string { return c.params.Get(wire) }
func (c *call) flag(wire string) bool   { return c.params.Get(wire) == "true" }

// textOr returns a parameter, or a default.
func (c *call) textOr(wire, fallback string) string {
	if v := c.params.Get(wire); v != "" {
		return v
	}
	return fallback
}

// number reads a positive integer with a default.
func (c *call) number(wire string, fallback int) (int, bool) {
	if !c.has(wire) {
		return fallback, true
	}
	n, err := strconv.Atoi(c.params.Get(wire))
	return n, err == nil && n > 0
}
