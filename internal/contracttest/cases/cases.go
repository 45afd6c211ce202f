// Package cases calls every documented endpoint through its typed method, with a distinct value in
// each field of its options. The tests of the module and the fault matrix share it.
package cases

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/gosource"
)

// methods returns the typed methods that request an endpoint and do nothing else.
var methods = sync.OnceValues(func() (all []method, err error) {
	found, err := gosource.Methods(".")
	for _, m := range found {
		service, _ := reflect.TypeFor[forge.Client]().FieldByName(m.Service)
		if typed, exported := service.Type.MethodByName(m.Name); m.Plain && exported {
			all = append(all, method{m.Verb + " " + m.Template, m.Service + "." + m.Name, typed.Func})
		}
	}
	return all, err
})

// method is a method of a service.
type method struct {
	route, name string // "GET /issues", "Issues.List"
	function    reflect.Value
}

// All returns the methods of all endpoints, integrations.set once for each kind.
func All(t *testing.T) []*Case {
	t.Helper()
	var cases []*Case
	routes, deployed := map[string]catalogue.Endpoint{}, catalogue.Deployed()
	for _, e := range catalogue.Endpoints() {
		routes[e.Method+" "+e.Path] = e
	}
	all, err := methods()
	require.NoError(t, err)
	for _, m := range all {
		endpoint, documented := routes[m.route]
		if !assert.True(t, documented, "%s requests %s, which is not in internal/catalogue: add a row to deployed.json, or correct the path in the service's file", m.name, m.route) {
			continue
		}
		c := &Case{Name: endpoint.ID, Typed: m.name, Endpoint: endpoint, Method: m.function, Vocabulary: forge.Neutral}
		for in := range c.Method.Type().Ins() {
			if in.Kind() == reflect.Pointer && in != c.Method.Type().In(0) && in != reflect.TypeFor[*forge.SecureFile]() {
				c.Options = in.Elem()
			}
		}
		c.Beyond = deployed[endpoint.ID]
		if endpoint.ID == "settings.update" {
			c.Beyond = slices.Concat(catalogue.UnnamedSettings(), catalogue.SettingDependencies(), catalogue.SettingsBeyond())
		}
		if len(endpoint.Kinds) == 0 {
			cases = append(cases, c)
			continue
		}
		for i, kind := range endpoint.Kinds {
			one, row := *c, Kinds[i]
			one.Name += " " + kind.ID
			one.Endpoint.Body, one.Kind, one.Slug, one.Vocabulary = kind.Params, row.Kind, string(row.Kind), forge.GitLab
			one.Options, one.Beyond = reflect.TypeOf(row.Options()).Elem(), row.Beyond
			cases = append(cases, &one)
		}
	}
	for _, c := range cases {
		if c.Options != nil {
			c.Foreign = foreignKeys(t, c)
		}
		switch {
		case c.Endpoint.Base != "api": // the documents omit the vendor of a media type
			c.Vocabulary = forge.GitLab
		case c.Endpoint.ID == "settings.update":
			for _, name := range catalogue.UnnamedSettings() {
				c.Foreign[NameKey(name)] = true
			}
		}
	}
	return cases
}

// foreignKeys returns the fields of query options that neither the catalogue nor deployed servers
// have on the endpoint.
func foreignKeys(t *testing.T, c *Case) map[string]bool {
	t.Helper()
	foreign := map[string]bool{}
	if c.Endpoint.Method != http.MethodGet {
		return foreign
	}
	for wire := range WireFields(t, reflect.New(c.Options).Interface()) {
		foreign[NameKey(wire)] = true
	}
	for _, param := range c.Endpoint.Params() {
		delete(foreign, NameKey(param.Wire))
	}
	for _, wire := range c.Beyond {
		delete(foreign, NameKey(wire))
	}
	return foreign
}

// Case is a typed method and its endpoint.
type Case struct {
	Name     string // the endpoint's id
	Typed    string // the method, "Issues.List"
	Endpoint catalogue.Endpoint
	Method   reflect.Value
	Options  reflect.Type // nil if there are none
	Kind     forge.IntegrationName
	Slug     string
	Foreign  map[string]bool // parameters of shared options that the endpoint lacks
	Beyond   []string        // parameters that deployed servers have beyond the contract
	// Vocabulary has the words of the call: the documents', or GitLab's where the documents have only
	// placeholders.
	Vocabulary forge.Vocabulary
}

// Consume reads the results of a method to the end, and returns the error.
func Consume(results []reflect.Value) error {
	last := results[len(results)-1]
	if err, failed := last.Interface().(error); failed {
		return err
	}
	if last.Kind() == reflect.Func {
		for _, err := range last.Seq2() {
			if failure, failed := err.Interface().(error); failed {
				return failure
			}
		}
		return nil
	}
	if download, is := results[0].Interface().(*forge.Download); is {
		defer download.Close()
		_, err := io.Copy(io.Discard, download)
		return err
	}
	return nil
}

var pathParams = regexp.MustCompile(`\[\.:(\w+)\]|:(\w+)`)

// Arguments returns the arguments of a call of the method in the words of the case, and the path of
// its request.
func (c *Case) Arguments(t *testing.T, client *forge.Client, options *Filled) ([]reflect.Value, string) {
	t.Helper()
	if c.Vocabulary != forge.GitLab {
		var err error
		client, err = client.With(forge.WithVocabulary(c.Vocabulary))
		require.NoError(t, err)
	}
	var in []reflect.Value
	var segments []string
	next := func() string { return pathParams.FindAllStringSubmatch(c.Endpoint.Path, -1)[len(segments)][2] }
	for kind := range c.Method.Type().Ins() {
		var arg any
		id := int64(1001 + len(segments))
		switch {
		case len(in) == 0:
			arg = catalogue.Service(client, kind)
		case len(in) == 1:
			arg = t.Context()
		case kind == reflect.TypeFor[[]forge.RequestOption]():
			continue
		case kind == reflect.TypeFor[forge.Ref]():
			arg, segments = forge.Path("group/app"), append(segments, "group%2Fapp")
		case kind == reflect.TypeFor[int64]():
			arg, segments = id, append(segments, strconv.FormatInt(id, 10))
		case kind == reflect.TypeFor[*forge.SecureFile]():
			arg, segments = &forge.SecureFile{ID: id}, append(segments, strconv.FormatInt(id, 10))
		case kind == reflect.TypeFor[string]() && next() == "image_path":
			arg, segments = "group/app+β", append(segments, "group/app+%CE%B2")
		case kind == reflect.TypeFor[string]() && next() == "namespace": // one segment
			arg, segments = "release 1.0 +β?", append(segments, "release%201.0%20+%CE%B2%3F")
		case kind == reflect.TypeFor[string]():
			arg, segments = "release/1.0 +β?", append(segments, "release%2F1.0%20+%CE%B2%3F")
		case kind == reflect.TypeFor[forge.IntegrationName]():
			arg, segments = forge.IntegrationSlug("by/hand"), append(segments, "by%2Fhand")
		case kind == reflect.TypeFor[forge.IntegrationOptions]():
			segments = append(segments, c.Slug)
			arg = options.Value.Addr().Interface()
		case kind == reflect.TypeFor[forge.File]():
			file, sent := sampleFile()
			arg, options.Sent["file"] = file, sent
		default:
			arg = options.Value.Addr().Interface()
		}
		in = append(in, reflect.ValueOf(arg))
	}
	return in, c.path(t, segments, options)
}

// path returns the path of the endpoint with the segments in place of its parameters.
func (c *Case) path(t *testing.T, segments []string, options *Filled) string {
	t.Helper()
	path := pathParams.ReplaceAllStringFunc(c.Endpoint.Path, func(param string) string {
		if strings.HasPrefix(param, "[.:") {
			return "." + url.PathEscape(options.Sent[NameKey(strings.Trim(param, "[.:]"))].Texts[0])
		}
		require.NotEmpty(t, segments, "%s has no argument", param)
		segment := segments[0]
		segments = segments[1:]
		return segment
	})
	require.Empty(t, segments, "arguments that are in no path")
	return path
}

// On returns the arguments of a call on existing objects, by the placeholders of their ids, with
// the parameters for which the catalogue has values; false if an object is missing.
func (c *Case) On(t *testing.T, client *forge.Client, objects map[string]string) (in []reflect.Value, ok bool) {
	t.Helper()
	args := catalogue.Arguments(c.Endpoint.Path, objects)
	if slices.Contains(args, "") {
		return nil, false
	}
	in = []reflect.Value{reflect.ValueOf(catalogue.Service(client, c.Method.Type().In(0))), reflect.ValueOf(t.Context())}
	for i := 2; i < c.Method.Type().NumIn()-1; i++ {
		kind := c.Method.Type().In(i)
		if c.Options != nil && kind == reflect.PointerTo(c.Options) {
			in = append(in, c.required(t))
			continue
		}
		require.NotEmpty(t, args, "%s: %s is in no path", c.Typed, kind)
		arg := reflect.New(kind).Elem()
		switch number, err := strconv.ParseInt(args[0], 10, 64); {
		case kind.Kind() == reflect.String:
			arg.SetString(args[0])
		case kind == reflect.TypeFor[forge.Ref]():
			arg.Set(reflect.ValueOf(forge.Path(args[0])))
		case kind == reflect.TypeFor[forge.IntegrationName]():
			arg.Set(reflect.ValueOf(forge.IntegrationSlug(args[0])))
		default:
			require.NoError(t, err)
			arg.SetInt(number)
		}
		in, args = append(in, arg), args[1:]
	}
	return in, true
}

// required returns options with the parameters for which the catalogue has values.
func (c *Case) required(t *testing.T) reflect.Value {
	t.Helper()
	options := reflect.New(c.Options)
	for _, param := range c.Endpoint.Params() {
		field, sample := options.Elem().FieldByName(catalogue.GoName(c.Options, param.Wire)), param.Sample()
		if !field.IsValid() || sample == "" {
			continue
		}
		for _, text := range []string{sample, strconv.Quote(sample)} {
			if err := json.Unmarshal([]byte(text), field.Addr().Interface()); err == nil {
				break
			}
		}
		if field.IsZero() {
			field.Set(Sample(t, field.Type()))
		}
	}
	for field, value := range options.Elem().Fields() {
		if field.Type == reflect.TypeFor[forge.File]() {
			value.Set(Sample(t, field.Type))
		}
	}
	return options
}

const Token, User, Content = "conformance-token", "robot", "content\n"

// LeastResponse returns the shortest response that the catalogue allows for the endpoint.
func LeastResponse(e catalogue.Endpoint) (status int, body string) {
	if len(e.Response.Status) == 0 {
		return http.StatusNoContent, ""
	}
	status = e.Response.Status[0]
	switch e.Response.Kind {
	case "none":
		return status, ""
	case "array":
		return status, "[{}]"
	case "csv":
		return status, "Source host,Import type,Source user identifier,Source user name,Source username,Platform username,Platform public email\n"
	case "raw":
		return status, Content
	}
	switch e.ID {
	case "registry_native.catalog":
		return status, `{"repositories":["group/app"]}`
	case "registry_native.get_token":
		return status, `{"token":"` + Token + `"}`
	}
	return status, "{}"
}

// Integration is a kind, its options, and the parameters of deployed servers beyond the contract.
type Integration struct {
	Kind    forge.IntegrationKind
	Options func() forge.IntegrationOptions
	Beyond  []string
}

// Kinds lists the options of each kind, in the order of the contract, and the parameters of
// deployed servers beyond it.
var Kinds = []Integration{
	{forge.IntegrationAsana, func() forge.IntegrationOptions { return &forge.AsanaOptions{} }, nil},
	{forge.IntegrationAssembla, func() forge.IntegrationOptions { return &forge.AssemblaOptions{} }, nil},
	{forge.IntegrationBamboo, func() forge.IntegrationOptions { return &forge.BambooOptions{} }, nil},
	{forge.IntegrationBugzilla, func() forge.IntegrationOptions { return &forge.BugzillaOptions{} }, []string{"push_events"}},
	{forge.IntegrationBuildkite, func() forge.IntegrationOptions { return &forge.BuildkiteOptions{} }, nil},
	{forge.IntegrationCampfire, func() forge.IntegrationOptions { return &forge.CampfireOptions{} }, nil},
	{forge.IntegrationClickUp, func() forge.IntegrationOptions { return &forge.ClickUpOptions{} }, []string{"push_events"}},
	{forge.IntegrationConfluence, func() forge.IntegrationOptions { return &forge.ConfluenceOptions{} }, nil},
	{forge.IntegrationCustomIssueTracker, func() forge.IntegrationOptions { return &forge.CustomIssueTrackerOptions{} }, []string{"push_events"}},
	{forge.IntegrationDatadog, func() forge.IntegrationOptions { return &forge.DatadogOptions{} }, []string{"datadog_ci_visibility"}},
	{forge.IntegrationDiffblueCover, func() forge.IntegrationOptions { return &forge.DiffblueCoverOptions{} }, nil},
	{forge.IntegrationDiscord, func() forge.IntegrationOptions { return &forge.DiscordOptions{} }, []string{"alert_channel", "incident_channel", "vulnerability_channel"}},
	{forge.IntegrationDroneCI, func() forge.IntegrationOptions { return &forge.DroneCIOptions{} }, nil},
	{forge.IntegrationEmailsOnPush, func() forge.IntegrationOptions { return &forge.EmailsOnPushOptions{} }, nil},
	{forge.IntegrationEWM, func() forge.IntegrationOptions { return &forge.EWMOptions{} }, []string{"push_events"}},
	{forge.IntegrationTelegram, func() forge.IntegrationOptions { return &forge.TelegramOptions{} }, nil},
	{forge.IntegrationUnifyCircuit, func() forge.IntegrationOptions { return &forge.UnifyCircuitOptions{} }, nil},
	{forge.IntegrationWebexTeams, func() forge.IntegrationOptions { return &forge.WebexTeamsOptions{} }, nil},
	{forge.IntegrationYouTrack, func() forge.IntegrationOptions { return &forge.YouTrackOptions{} }, []string{"push_events"}},
}
