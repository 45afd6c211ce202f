package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// forgeTypes are the types of forge for schemas of the document; a test compares them with
// api/forge.txt.
var forgeTypes = map[string]string{
	"AuditEvent": "AuditEvent", "Changelog": "Changelog", "CiResourceGroup": "ResourceGroup", "CiRunner": "Runner", "CiRunnerDetails": "Runner",
	"CiRunnerManager": "RunnerManager", "CiSecureFile": "SecureFile", "Commit": "Commit", "Compare": "Comparison", "ContainerRegistryRepository": "RegistryRepository",
	"ContainerRegistryTag": "RegistryTag", "Contributor": "Contributor", "CustomAttribute": "CustomAttribute", "Diff": "Diff", "DiffRefs": "DiffRefs", "EpicBaseEntity": "Epic",
	"Identity": "UserIdentity", "IntegrationBasic": "IntegrationSummary", "IssuableReferences": "References", "IssuableTimeStats": "TimeStats", "Issue": "Issue", "IssueBasic": "Issue",
	"Iteration": "Iteration", "MergeRequest": "MergeRequest", "MergeRequestBasic": "MergeRequest", "MergeRequestDiff": "DiffVersion", "MergeRequestDiffFull": "DiffVersion",
	"Milestone": "Milestone", "Namespace": "Namespace", "NamespaceBasic": "Namespace", "NamespaceExistence": "NamespaceAvailability", "Note": "Note", "ScimIdentity": "SCIMIdentity",
	"Todo": "Todo", "TreeObject": "TreeEntry", "User": "User", "UserBasic": "UserSummary", "UserPublic": "User", "UserSafe": "UserSummary", "UserWithAdmin": "User",
}

// forgeEnums are the types of forge for parameters of a name that have no other values.
var forgeEnums = []struct {
	name   string // of the parameter
	typ    string
	values string // all that the type has
}{
	{"sort", "Sort", "asc desc"},
	{"scope", "Scope", "all assigned_to_me created_by_me reviews_for_me"},
	{"visibility", "Visibility", "internal private public"},
	{"state", "IssueState", "all closed opened"},
	{"state", "MergeRequestState", "all closed locked merged opened"},
	{"issue_type", "IssueType", "incident issue requirement task test_case ticket"},
}

var schemaPrefix = regexp.MustCompile(`^(?i:EE_?)?(?i:API_?Entities_?)`)

// entityOf returns the short name of a schema of the document, from a reference to it: Issue for
// API_Entities_Issue of Swagger 2 and APIEntitiesIssue of OpenAPI 3.
func entityOf(ref string) string {
	name := schemaPrefix.ReplaceAllString(ref[strings.LastIndexByte(ref, '/')+1:], "")
	return strings.ReplaceAll(name, "_", "")
}

// forgeType returns the type of forge for a reference; "" if there is none.
func forgeType(ref string) string {
	if typ := forgeTypes[entityOf(ref)]; typ != "" && ref != "" {
		return "forge." + typ
	}
	return ""
}

func forgeEnum(name string, values []string) string {
	for _, e := range forgeEnums {
		known := wordSet(e.values)
		unknown := func(value string) bool { return !known[value] }
		if len(values) > 1 && (name == e.name || strings.HasSuffix(name, "["+e.name+"]")) && !slices.ContainsFunc(values, unknown) {
			return "forge." + e.typ
		}
	}
	return ""
}

// enumOf returns the values of a string with documented values, sorted.
func enumOf(s *openapi3.Schema) (values []string) {
	for _, v := range s.Enum {
		if text, isText := v.(string); isText && text != "" {
			values = append(values, text)
		}
	}
	slices.Sort(values)
	for _, r := range rules {
		if r.values != nil {
			values = r.values(values)
		}
	}
	return slices.Compact(values)
}
