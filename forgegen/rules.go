package main

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// rule corrects a fault of the published documents. It has one of the functions. Rules of
// operations run in the order of the table. Of the rules of values, the first that returns a Go
// type decides.
type rule struct {
	Name    string
	Fault   string // an example from the documents
	Remedy  string
	Correct string // what in forgegen.yaml replaces it

	operation func(*operation)
	value     func(value) string
	isList    func(name string) bool // of a field that is declared as one entity
	tag       func(e *endpoint, tags map[string]string) string
	values    func(values []string) []string // of a text
}

// value is a parameter, or a field of a response.
type value struct {
	name   string
	schema *openapi3.Schema
	query  bool // a parameter that is not in a JSON body
	reads  bool // a field of a response
}

// rules are the table; "forgegen rules" prints it.
var rules = []rule{
	{
		Name:   "tag-of-scope",
		Fault:  "POST /projects/:id/issues has the tag Projects, and other endpoints of issues have Issues",
		Remedy: "the tag is that of the part after the project or group, if there is one", Correct: "service",
		tag: tagOfScope,
	},
	{
		Name:   "list-as-object",
		Fault:  "GET /projects/:id/job_token_scope/allowlist has page and per_page, and its response is one APIEntitiesBasicProjectDetails",
		Remedy: "a GET with page and per_page is a list", Correct: "returns: one",
		operation: listAsObject,
	},
	{
		Name:   "list-in-plural",
		Fault:  "GET /projects/:id/merge_requests/:merge_request_iid/pipelines has no page, and its response is one APIEntitiesCiPipelineBasic",
		Remedy: "a GET whose path ends with the plural of its entity, or with participants, is a list", Correct: "returns: one",
		operation: listInPlural,
	},
	{
		Name:   "delete",
		Fault:  "DELETE /projects/:id/environments/:environment_id has the response 200 with one APIEntitiesEnvironment; servers may respond with 204",
		Remedy: "a DELETE has no value", Correct: "returns: one",
		operation: deleted,
	},
	{
		Name:   "file-with-schema",
		Fault:  "GET /projects/:id/jobs/:job_id/trace returns one APIEntitiesCiJob",
		Remedy: "a GET that ends with trace, raw, archive or download is a stream", Correct: "returns: one",
		operation: namedFile,
	},
	{
		Name:   "file-without-schema",
		Fault:  "GET /projects/:id/jobs/:job_id/artifacts has no schema",
		Remedy: "a GET without a schema, or of a media type that is not JSON, is a stream", Correct: "returns, response",
		operation: fileResponse,
	},
	{
		Name:   "pages-are-options",
		Fault:  "GET /projects/:id/pipelines has page and per_page among its filters",
		Remedy: "page, per_page and cursor of a list are omitted: use PerPage, OnePage and StartAt", Correct: "returns: one",
		operation: pageParams,
	},
	{
		Name:   "keyset",
		Fault:  "GET /projects has the parameter pagination, which may be keyset",
		Remedy: "such a list requests its pages by keyset, and by offset if the server refuses it", Correct: "pagination: offset",
		operation: keyset,
	},
	{
		Name:   "multipart-without-file",
		Fault:  "POST /projects/:id/repository/commits has a multipart body and no file in it",
		Remedy: "a body without a file is sent as JSON", Correct: "without",
		operation: multipartBody,
	},
	{
		Name:   "workhorse",
		Fault:  "POST /projects/:id/issues/:issue_iid/metric_images has file.path and file.size, which GitLab's proxy sets",
		Remedy: "such fields are omitted", Correct: "without",
		operation: workhorse,
	},
	{
		Name:   "one-file",
		Fault:  "PUT /application/appearance has logo, favicon and two more files",
		Remedy: "a call sends one file: a required one is an argument, an optional one a field of the options", Correct: "without",
		operation: files,
	},
	{
		Name:   "hash-and-keys",
		Fault:  "GET /issues has not, and not[labels], not[milestone] and others",
		Remedy: "the object is omitted", Correct: "without",
		operation: hashAndKeys,
	},
	{
		Name:   "credentials",
		Fault:  "GET /projects/:id/jobs/:job_id/artifacts has the parameter token",
		Remedy: "credentials are omitted: the client has them", Correct: "without",
		operation: credentials,
	},
	{
		Name:   "id-of-two-types",
		Fault:  "assignee_id of GET /issues is oneOf integer and string",
		Remedy: "such a filter is a forge.IDFilter, an id in a body an int64, another value a string", Correct: "types",
		value: twoTypes,
	},
	{
		Name:   "labels",
		Fault:  "labels of GET /issues are an array, which GitLab reads as one text with commas, None or Any",
		Remedy: "labels of a query are a forge.LabelFilter", Correct: "types",
		value: labels,
	},
	{
		Name:   "two-spellings",
		Fault:  "scope of GET /issues has created-by-me and created_by_me",
		Remedy: "the value with underscores stands for both", Correct: "types",
		values: twoSpellings,
	},
	{
		Name:   "example-of-another-type",
		Fault:  "kas.enabled of GET /metadata is declared as a string, and its example is true",
		Remedy: "the example decides", Correct: "schemas: fields",
		value: exampleType,
	},
	{
		Name:   "number-as-text",
		Fault:  "star_count of APIEntitiesProject is declared as a string without an example",
		Remedy: "the name decides: *_id, *_count and the like are numbers, except ids that are hashes", Correct: "schemas: fields",
		value: numberByName,
	},
	{
		Name:   "boolean-as-text",
		Fault:  "requirements_enabled of APIEntitiesProject is declared as a string without an example",
		Remedy: "the name decides: has_*, *_enabled and the like are booleans", Correct: "schemas: fields",
		value: booleanByName,
	},
	{
		Name:   "time-as-text",
		Fault:  "last_activity_at of APIEntitiesProject is declared as a string without a format",
		Remedy: "the name decides: *_at is a time, and *_after and *_before of a request", Correct: "types, schemas: fields",
		value: timeByName,
	},
	{
		Name:   "list-field-as-object",
		Fault:  "notes of APIEntitiesDiscussion are declared as one APIEntitiesNote",
		Remedy: "a field in the plural is a list of the entity", Correct: "schemas: fields",
		isList: isPlural,
	},
}

func tagOfScope(e *endpoint, tags map[string]string) string {
	switch snake(e.Tag) {
	case "project", "projects", "group", "groups":
		if s := subjectOf(e); s.scope == "Project" || s.scope == "Group" {
			return tags[snake(s.first)]
		}
	}
	return ""
}

// listAsObject excludes the associations of a token, which are one object with two lists.
func listAsObject(op *operation) {
	if last := op.parts[len(op.parts)-1].fixed(); last == "associations" {
		return
	}
	if op.Method == http.MethodGet && op.Result == oneResult && op.has("page") && op.has("per_page") {
		op.Result = listResult
	}
}

func listInPlural(op *operation) {
	last := op.parts[len(op.parts)-1].fixed()
	one := camel(singular(last))
	if op.Method != http.MethodGet || op.Result != oneResult || op.response.Ref == "" || one == camel(last) {
		return
	}
	entity := strings.TrimSuffix(camel(entityOf(op.response.Ref)), "Basic")
	field := propertiesOf(op.response.Value)[strings.ReplaceAll(last, "-", "_")]
	if all := words(one); field == nil && (strings.HasSuffix(entity, camel(all[len(all)-1])) || last == "participants") {
		op.Result = listResult
	}
}

func deleted(op *operation) {
	if op.Method == http.MethodDelete {
		op.Result = noResult
	}
}

func namedFile(op *operation) {
	last := op.parts[len(op.parts)-1].fixed()
	if op.Method == http.MethodGet && slices.Contains([]string{"trace", "raw", "archive", "download"}, last) {
		op.Result = fileResult
	}
}

func fileResponse(op *operation) {
	if op.Method != http.MethodGet {
		if op.Result == oneResult && isFile(op.response) {
			op.Result = noResult
		}
		return
	}
	other := len(op.media) > 0 && !slices.ContainsFunc(op.media, func(m string) bool { return strings.Contains(m, "json") || m == "*/*" })
	if op.Result == noResult || other || op.Result == oneResult && isFile(op.response) {
		op.Result = fileResult
	}
}

func isFile(schema *openapi3.SchemaRef) bool {
	return schema != nil && (&param{Schema: schema}).isFile()
}

func pageParams(op *operation) {
	if op.Result == listResult {
		op.drop(func(p *param) bool { return slices.Contains([]string{"page", "per_page", "cursor"}, p.Wire) })
	}
}

func keyset(op *operation) {
	for _, p := range op.Params {
		if p.Wire == "pagination" && op.Result == listResult {
			op.Pagination = "keyset"
		}
	}
	if op.Result == listResult {
		op.drop(func(p *param) bool { return p.Wire == "pagination" })
	}
}

func multipartBody(op *operation) {
	op.multipart = slices.ContainsFunc(op.Params, func(p *param) bool { return p.InBody && p.isFile() })
	if op.Method == http.MethodGet || op.Method == http.MethodHead {
		for _, p := range op.Params { // GET has no body
			p.InBody = false
		}
	}
}

func files(op *operation) {
	for _, p := range op.Params {
		switch {
		case !p.InBody || !p.isFile():
		case p.Required && op.File == nil:
			op.File = p
		default:
			op.Files = append(op.Files, p)
		}
	}
	if op.File != nil {
		op.Files = nil
	}
	op.drop((*param).isFile)
	for _, p := range op.Params {
		p.InBody = p.InBody || op.multipart
	}
}

func workhorse(op *operation) {
	op.drop(func(p *param) bool {
		before, after, found := strings.Cut(p.Wire, ".")
		return found && before != "" && after != "" || p.Wire == "file_path" && op.multipart
	})
}

func credentials(op *operation) {
	op.drop(func(p *param) bool {
		return slices.Contains([]string{"private_token", "job_token", "access_token", "sudo"}, p.Wire) || p.Wire == "token" && !p.InBody
	})
}

func twoTypes(v value) string {
	if len(v.schema.OneOf)+len(v.schema.AnyOf) == 0 || len(propertiesOf(v.schema)) > 0 {
		return ""
	}
	types := map[string]bool{}
	for _, ref := range append(slices.Clone(v.schema.OneOf), v.schema.AnyOf...) {
		for _, t := range ref.Value.Type.Slice() {
			types[t] = true
		}
	}
	switch {
	case !types["integer"] || types["array"] || types["object"]:
		return ""
	case isID(v.name) && v.query:
		return "forge.IDFilter"
	case isID(v.name):
		return "int64"
	}
	return "string"
}

func twoSpellings(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool {
		other := strings.ReplaceAll(value, "-", "_")
		return other != value && slices.Contains(values, other)
	})
}

func labels(v value) string {
	if v.query && slices.Contains([]string{"labels", "not[labels]"}, v.name) {
		return "forge.LabelFilter"
	}
	return ""
}

func hashAndKeys(op *operation) {
	op.drop(func(p *param) bool {
		return p.Schema.Value.Type.Is("object") && slices.ContainsFunc(op.Params, func(q *param) bool { return strings.HasPrefix(q.Wire, p.Wire+"[") })
	})
}

func exampleType(v value) string {
	if !v.reads || !plainText(v.schema) {
		return ""
	}
	switch example := v.schema.Example.(type) {
	case bool:
		return "bool"
	case int, int64:
		return "int64"
	case float64:
		if example == float64(int64(example)) {
			return "int64"
		}
		return "float64"
	}
	return ""
}

// plainText reports whether the document says of a value only that it is a string.
func plainText(s *openapi3.Schema) bool {
	return s.Type.Is("string") && s.Format == "" && len(s.Enum) == 0
}

func isID(name string) bool { return idName.MatchString(name) }

var (
	idName      = regexp.MustCompile(`(^|_|\[)i?id\]?$`)
	numberName  = regexp.MustCompile(`^(i?id|upvotes|downvotes|weight|access_level|maximum_timeout|star_count)$|_(i?id|count|size|in_percentage|minutes_limit)$`)
	textID      = regexp.MustCompile(`(^|_)(commit|discussion|blob|external|client|application|instance|correlation|request|session|key|gitlab)_id$`)
	booleanName = regexp.MustCompile(`^(active|archived|bot|confidential|default_enabled|discussion_locked|draft|enabled|expired|external|` +
		`first_contribution|imported|internal|locked|managed|resolvable|resolved|should_remove_source_branch|squash|squash_on_merge|subscribed|system|verified|` +
		`work_in_progress|merge_when_pipeline_succeeds|blocking_discussions_resolved|force_remove_source_branch|allow_collaboration|allow_maintainer_to_push|` +
		`rebase_in_progress|request_access_enabled|mentions_disabled|run_untagged|overflow)$|^(has|is|can|require|prevent)_|_(enabled|disabled|allowed|lock)$`)
	timeName = regexp.MustCompile(`_at$`)
	sentTime = regexp.MustCompile(`^((created|updated)_at|[a-z]+_(after|before))$`)
)

func untold(v value) bool {
	return v.reads && plainText(v.schema) && v.schema.Example == nil && v.schema.Description == ""
}

func numberByName(v value) string {
	if untold(v) && numberName.MatchString(v.name) && !textID.MatchString(v.name) {
		return "int64"
	}
	return ""
}

func booleanByName(v value) string {
	if untold(v) && booleanName.MatchString(v.name) {
		return "bool"
	}
	return ""
}

func timeByName(v value) string {
	if untold(v) && timeName.MatchString(v.name) || !v.reads && plainText(v.schema) && sentTime.MatchString(v.name) {
		return "time.Time"
	}
	return ""
}

// oneInPlural are fields in the plural that hold one object.
var oneInPlural = regexp.MustCompile(`(^|_)(references|statistics|stats|refs|status|objects|kubernetes|inputs|permissions|links)$`)

// isPlural reports whether a field with one entity as its schema holds a list of them.
func isPlural(name string) bool {
	return strings.HasSuffix(name, "s") && !oneInPlural.MatchString(name)
}
