package main

import (
	"cmp"
	"go/token"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// initialisms are words that Go writes in capital letters.
var initialisms = wordSet("id iid url uri api ci cd http https html json yaml xml csv ssh ssl tls sha ip ui mr " +
	"ldap saml scim oauth2 sso lfs gpg pgp dns aws gcp jwt ttl uuid md5 npm pypi rpm mlflow svg vpc cpu ram sql tcp udp utf")

// plurals of initialisms.
var pluralInitialisms = map[string]string{"ids": "IDs", "iids": "IIDs", "urls": "URLs", "apis": "APIs", "oauth": "OAuth", "ips": "IPs"}

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

var (
	wordBreak = regexp.MustCompile(`[^A-Za-z0-9]+`)
	humpBreak = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// words splits a name of the document: some_name, some-name, SomeName, not[some_name].
func words(name string) []string {
	name = humpBreak.ReplaceAllString(name, "$1 $2")
	return strings.Fields(wordBreak.ReplaceAllString(name, " "))
}

// camel returns an exported Go name.
func camel(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		lower := strings.ToLower(word)
		switch {
		case pluralInitialisms[lower] != "":
			b.WriteString(pluralInitialisms[lower])
		case initialisms[lower]:
			b.WriteString(strings.ToUpper(lower))
		default:
			b.WriteString(strings.ToUpper(lower[:1]) + lower[1:])
		}
	}
	text := b.String()
	if text == "" || unicode.IsDigit(rune(text[0])) {
		text = "N" + text
	}
	return text
}

// reserved are names of arguments that generated methods use themselves.
var reserved = wordSet("ctx o opts s call forge context iter string int64 any error out client file")

// argumentName returns an unexported Go name.
func argumentName(name string) string {
	text := camel(name)
	n := 0
	for n < len(text) && unicode.IsUpper(rune(text[n])) {
		n++
	}
	switch {
	case n == len(text) || strings.HasSuffix(text, "IDs") && n == len(text)-1:
		text = strings.ToLower(text)
	case n > 1:
		text = strings.ToLower(text[:n-1]) + text[n-1:]
	default:
		text = strings.ToLower(text[:1]) + text[1:]
	}
	if reserved[text] || token.IsKeyword(text) {
		text += "Value"
	}
	return text
}

// sameInPlural are words whose last s is not that of a plural.
var sameInPlural = wordSet("status access statistics metadata settings analytics kubernetes series news process address " +
	"https alias canvas dora campus bus class release_as award_emoji latest pages")

func singular(name string) string {
	all := words(name)
	if len(all) == 0 {
		return name
	}
	last := strings.ToLower(all[len(all)-1])
	switch {
	case sameInPlural[last] || !strings.HasSuffix(last, "s") || strings.HasSuffix(last, "ss"):
	case strings.HasSuffix(last, "ies") && len(last) > 4:
		last = last[:len(last)-3] + "y"
	case strings.HasSuffix(last, "uses"), strings.HasSuffix(last, "sses"), strings.HasSuffix(last, "xes"), strings.HasSuffix(last, "ches"), strings.HasSuffix(last, "shes"):
		last = last[:len(last)-2]
	default:
		last = last[:len(last)-1]
	}
	all[len(all)-1] = last
	return strings.Join(all, "_")
}

// actions are the first words of parts of paths that name what is done, not what it is done to.
var actions = wordSet("accept activate add append approve archive authorize ban block bulk cancel cherry clone close confirm " +
	"convert create deactivate delete disable discard download enable erase export fork generate import invalidate invite keep lint " +
	"link lock mark merge migrate move pause play promote protect publish purge put rebase refresh register regenerate reject remove renew " +
	"render reopen reorder repair request resend reset resolve restore resume retry revert review revoke rotate run set share " +
	"sign star start stop subscribe submit switch sync take test toggle transfer trigger unapprove unarchive unban unblock " +
	"unlock unprotect unpublish unshare unstar unsubscribe upload validate verify")

// subject has the words of which the name of a method is made.
type subject struct {
	scope string   // Project, Group or User, if the path begins with one; otherwise ""
	nouns []string // fixed parts after the scope, in the singular if a placeholder follows
	item  bool     // the last part is a placeholder
	first string   // the first of them, as in the path
}

func subjectOf(e *endpoint) subject {
	var s subject
	parts := e.parts
	if len(parts) > 1 && parts[1].variable() {
		if scope := map[string]string{"projects": "Project", "groups": "Group", "group": "Group", "users": "User"}[parts[0].fixed()]; scope != "" && len(parts) > 2 {
			s.scope, parts = scope, parts[2:]
		}
	}
	for i, part := range parts {
		text := part.fixed()
		s.first = cmp.Or(s.first, text)
		switch {
		case part.variable() || text == "-":
			continue
		case i+1 < len(parts) && parts[i+1].variable():
			text = singular(text)
		}
		s.nouns = append(s.nouns, text)
	}
	s.item = len(parts) == 0 || parts[len(parts)-1].variable()
	return s
}

// methodName has the parts of the names of a method and its options.
type methodName struct {
	verb, noun string // of the candidate
	suffix     string // such as ForGroup
}

func (n methodName) method(tag string) string {
	if n.noun != "" && (n.verb == "Download" || !isTag(n.noun, tag)) {
		return n.verb + camel(n.noun) + n.suffix
	}
	return n.verb + n.suffix
}

// typeName is the name of the options: that of the method, with its noun.
func (n methodName) typeName(tag string) string {
	noun := n.noun
	if noun == "" {
		noun = singular(tag)
	}
	return n.verb + camel(noun) + n.suffix
}

// names are the candidates for the name of an operation, the shortest first.
func (op *operation) names() []methodName {
	s := subjectOf(op.endpoint)
	last, parents := "", s.nouns
	if len(s.nouns) > 0 {
		last, parents = s.nouns[len(s.nouns)-1], s.nouns[:len(s.nouns)-1]
	}
	name := methodName{noun: last}
	writes := op.Method != http.MethodGet && op.Method != http.MethodHead && op.Method != http.MethodDelete
	if writes && !s.item && isAction(last, op.Tag) {
		name.verb, name.noun = camel(last), ""
		if len(parents) > 0 {
			name.noun, parents = parents[len(parents)-1], parents[:len(parents)-1]
		}
	} else {
		name.verb = verbOf(op.Method, op.Result)
		if name.verb == "Create" || s.item {
			name.noun = singular(last)
		}
	}
	if name.verb == camel(last) && len(parents) > 0 { // not DownloadDownload
		name.noun, parents = parents[len(parents)-1], parents[:len(parents)-1]
	}
	if s.scope == "Group" && !strings.Contains(strings.ToLower(op.Tag), "group") || s.scope == "User" && !strings.Contains(strings.ToLower(op.Tag), "user") {
		name.suffix = "For" + s.scope
	}
	long := name
	if parents = withoutTag(parents, op.Tag); len(parents) > 0 {
		long.suffix = "For" + camel(strings.Join(parents, "_")) + strings.Replace(name.suffix, "For", "In", 1)
	}
	scoped, by := long, long
	switch {
	case s.scope == "Project" && long.suffix == "":
		scoped.suffix = "ForProject"
	case s.scope == "Project":
		scoped.suffix += "InProject"
	}
	between := "By"
	for i, part := range op.parts {
		if part.variable() && (i > 1 || s.scope == "") {
			by.suffix += between + camel(part.routeName())
			between = "And"
		}
	}
	full := methodName{verb: camel(strings.ToLower(op.Method)), noun: strings.Join(fullWords(op.endpoint), "_")}
	return []methodName{name, long, scoped, by, full}
}

// isAction reports whether the last part of a path is a verb.
func isAction(last, tag string) bool {
	all := words(last)
	return len(all) > 0 && actions[strings.ToLower(all[0])] && !isTag(last, tag)
}

func verbOf(method string, kind resultKind) string {
	switch method {
	case http.MethodGet:
		switch kind {
		case listResult:
			return "List"
		case fileResult:
			return "Download"
		}
		return "Get"
	case http.MethodPost:
		return "Create"
	case http.MethodPut, http.MethodPatch:
		return "Update"
	case http.MethodDelete:
		return "Delete"
	}
	return "Head"
}

// fullWords are all words of the path, for names that would not be unique otherwise.
func fullWords(e *endpoint) (all []string) {
	for _, part := range e.parts {
		for _, piece := range part {
			all = append(all, words(piece.text)...)
		}
	}
	return all
}

func withoutTag(nouns []string, tag string) []string {
	return slices.DeleteFunc(slices.Clone(nouns), func(noun string) bool {
		return noun == "-" || isTag(noun, tag)
	})
}

// isTag reports whether a part of a path is what the tag is about: jobs of CI jobs.
func isTag(noun, tag string) bool {
	return strings.HasSuffix("_"+snake(singular(tag)), "_"+snake(singular(noun)))
}

func snake(name string) string { return strings.ToLower(strings.Join(words(name), "_")) }

// assignNames sets the name of each endpoint, which is unique in its service. The names do not
// depend on which endpoints are generated.
func assignNames(all []*operation) {
	level := map[*operation]int{}
	for range 5 {
		taken := map[string][]*operation{}
		for _, op := range all {
			name := op.candidates[level[op]]
			op.Name, op.TypeName = name.method(op.Tag), name.typeName(op.Tag)
			taken[op.Service+"."+op.Name] = append(taken[op.Service+"."+op.Name], op)
		}
		for _, same := range taken {
			if len(same) < 2 {
				continue
			}
			for _, op := range same {
				level[op] = min(level[op]+1, len(op.candidates)-1)
			}
		}
	}
	typeNames := map[string][]*operation{}
	for _, op := range all {
		typeNames[op.TypeName] = append(typeNames[op.TypeName], op)
	}
	for name, same := range typeNames {
		owners := 0 // those whose tag is in the name: CreateNoteOptions is that of Notes
		for _, op := range same {
			if op.Name != name {
				owners++
			}
		}
		for _, op := range same {
			if len(same) > 1 && (owners != 1 || op.Name == name) {
				op.TypeName = op.Service + op.TypeName
			}
		}
	}
}
