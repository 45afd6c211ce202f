package main

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"unicode"
)

// Doc is the comment of a method.
func (m *method) Doc() string {
	text := m.Name + m.purpose()
	if len(m.Files) > 1 {
		text += " A call sends one file: File is the parameter FileField."
	}
	if stage, _ := m.op.Extensions["x-gitlab-lifecycle"].(string); stage != "" {
		text += " In GitLab it is " + article(stage) + ", which may change."
	}
	text += "\n\n" + m.String()
	if m.op.Deprecated {
		text += "\n\nDeprecated: GitLab may remove it."
	}
	return text
}

// purpose continues the name of the method: with the summary of the document, whose first word is
// a verb in most cases.
func (m *method) purpose() string {
	text := sentence(cmp.Or(m.op.Summary, m.op.Description))
	first, rest, _ := strings.Cut(text, " ")
	verb := strings.ToLower(first)
	switch base := strings.TrimSuffix(verb, "s"); {
	case text == "":
		return " sends a request to this endpoint:"
	case verbs[verb] || actions[verb]:
		return " " + thirdPerson(verb) + " " + rest
	case base != verb && (verbs[base] || actions[base]):
		return " " + verb + " " + rest
	}
	return ": " + text
}

// verbs are those with which summaries begin, in addition to actions.
var verbs = wordSet("allow authenticate check commit compare count deny discover edit fetch get import " +
	"initialize list mark modify ping post preview process provide put queue read receive " +
	"reply resume retrieve retry return save schedule search send show unassign update use " +
	"view")

func thirdPerson(verb string) string {
	switch last := verb[len(verb)-1]; {
	case last == 'y' && !strings.ContainsRune("aeou", rune(verb[len(verb)-2])):
		return verb[:len(verb)-1] + "ies"
	case last == 's', last == 'x', strings.HasSuffix(verb, "ch"), strings.HasSuffix(verb, "sh"):
		return verb + "es"
	}
	return verb + "s"
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// sentence returns text of the document as one paragraph that ends with a full stop.
func sentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if last := rune(text[len(text)-1]); unicode.IsPunct(last) && last != '`' && last != ')' && last != '"' && last != '\'' {
		return text
	}
	return text + "."
}

// Doc is the comment of a field.
func (f *field) Doc() string {
	first, rest, _ := strings.Cut(f.Says, " ")
	switch {
	case f.Says == "":
		return ""
	case first == "The" || first == "A" || first == "An":
		is := " is "
		if strings.HasPrefix(f.Type, "[]") && strings.HasSuffix(f.Name, "s") {
			is = " are "
		}
		return f.Name + is + strings.ToLower(first) + " " + rest
	}
	return f.Name + ": " + f.Says
}

// Parameters are those of the Go method.
func (m *method) Parameters() string {
	list := []string{"ctx context.Context"}
	for _, a := range m.Args {
		list = append(list, a.Name+" "+a.Type)
	}
	if m.File != nil {
		list = append(list, "file forge.File")
	}
	if m.Body != nil {
		list = append(list, m.Body.Name+" "+m.Body.Type)
	}
	if m.Options != nil {
		list = append(list, "o *"+m.Options.Name)
	}
	return strings.Join(append(list, "opts ...forge.RequestOption"), ", ")
}

// Returns are the results of the Go method.
func (m *method) Returns() string {
	switch m.Result {
	case listResult:
		return "iter.Seq2[*" + m.Value + ", error]"
	case fileResult:
		return "(*forge.Download, error)"
	case oneResult:
		if m.Pointer {
			return "(*" + m.Value + ", error)"
		}
		return "(" + m.Value + ", error)"
	}
	return "error"
}

// Send is the statement that sends the call.
func (m *method) Send() string {
	switch {
	case m.Result == listResult:
		return fmt.Sprintf("return forge.ListAs[%s](ctx, s.client, call, opts...)", m.Value)
	case m.Result == fileResult:
		return "return s.client.Open(ctx, call, opts...)"
	case m.Result == noResult:
		return "return s.client.Do(ctx, call, nil, opts...)"
	case m.Pointer:
		return fmt.Sprintf("return forge.DoAs[%s](ctx, s.client, call, opts...)", m.Value)
	}
	return fmt.Sprintf("var out %s\nerr := s.client.Do(ctx, call, &out, opts...)\nreturn out, err", m.Value)
}

// Call is the composite literal of the call.
func (m *method) Call() string {
	var fields []string
	add := func(format string, values ...any) { fields = append(fields, fmt.Sprintf(format, values...)) }
	if m.Method != http.MethodGet {
		add("Method: %q", m.Method)
	}
	add("Route: %q", m.Route())
	var args []string
	for _, a := range m.Args {
		if a.Expr != "" { // others are part of the expression of the first
			args = append(args, a.Expr)
		}
	}
	if len(args) > 0 {
		add("Args: []forge.Arg{%s}", strings.Join(args, ", "))
	}
	if m.HasQuery {
		add("Options: o")
	}
	switch {
	case m.File != nil && m.Options != nil:
		add("Multipart: &forge.Multipart{Options: o, FileField: %q, File: file}", m.File.Wire)
	case m.File != nil:
		add("Multipart: &forge.Multipart{FileField: %q, File: file}", m.File.Wire)
	case m.Body != nil:
		add("Body: %s", m.Body.Name)
	case m.HasBody || len(m.Files) > 0:
		add("Body: o")
	}
	if class := m.Fix.Class; class != "" {
		add("Class: %s", map[string]string{"safe": "forge.RetryClassSafe", "idempotent": "forge.RetryClassIdempotent", "non-idempotent": "forge.RetryClassNonIdempotent"}[class])
	}
	if m.Pagination == "keyset" {
		add("Pagination: forge.PaginationKeyset")
	}
	add("Name: %q", snake(m.Tag))
	return "forge.Call{" + strings.Join(fields, ", ") + "}"
}

// FileField is the expression of the name of an optional file.
func (m *method) FileField() string {
	if len(m.Files) > 1 {
		return "o.FileField"
	}
	return fmt.Sprintf("%q", m.Files[0].Wire)
}
