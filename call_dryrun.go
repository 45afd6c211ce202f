package forge

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/forge-sdk/forge-go/internal/credential"
	"github.com/forge-sdk/forge-go/internal/safetext"
)

// PlannedRequest is a request that DryRun did not send. It does not contain the client's
// credential.
type PlannedRequest struct {
	// Method is the HTTP method.
	Method string
	// URL is the complete address.
	URL string
	// Route is the path template of the endpoint: "/projects/:id/issues".
	Route string
	// Header holds the headers. The credential's header has a placeholder as its value.
	Header http.Header
	// Body is the JSON or form body. It may contain secrets that the caller sends to the server. It is
	// nil if there is no body, and for uploads: their files are not opened, and Curl names their
	// fields.
	Body []byte

	credential string   // as arguments of curl
	form       []string // the fields of an upload, as arguments of curl
}

// DryRun makes a call fill plan instead of sending its request. The call is checked and encoded as
// usual, and then returns an error that matches ErrDryRun: nothing is sent, no token is requested,
// no file is opened, no hook is called, and nothing is counted. For a list, and for a method that
// makes several requests, the first request is planned. plan may be nil.
func DryRun(plan *PlannedRequest) RequestOption {
	return func(o *callOptions) {
		if o.allow("DryRun", kindAny) {
			o.plan = func(c *call) error { return planCall(c, plan) }
		}
	}
}

// planCall fills the caller's plan.
func planCall(c *call, plan *PlannedRequest) error {
	redact := c.redactor(credential.Sent{})
	p := PlannedRequest{Method: c.route().Method, URL: redact.redact(c.url.String()), Route: c.route().Template, Header: requestHeader(c, false, authorization{})}
	redact.redactHeader(p.Header)
	switch kind := c.request.auth.Kind(); {
	case kind == credential.AccessToken:
		p.setCredential(c.request.auth.Header(), "", `--header "PRIVATE-TOKEN: $FORGE_TOKEN"`)
	case kind == credential.JobToken:
		p.setCredential(c.request.auth.Header(), "", `--header "JOB-TOKEN: $CI_JOB_TOKEN"`)
	case kind == credential.UserPassword:
		p.setCredential(c.request.auth.Header(), "Basic ", `--user "$REGISTRY_USER:$REGISTRY_PASSWORD"`)
	case kind == credential.OAuthToken && c.route().base == registryBase:
		p.setCredential(c.request.auth.Header(), "Bearer ", `--header "Authorization: Bearer $REGISTRY_TOKEN"`)
	case kind == credential.OAuthToken:
		p.setCredential(c.request.auth.Header(), "Bearer ", `--header "Authorization: Bearer $FORGE_TOKEN"`)
	}
	if c.body != nil {
		p.setBody(c.body, redact)
	}
	if plan != nil {
		*plan = p
	}
	return &Error{Method: p.Method, Route: p.Route, Path: redact.redact(c.request.path), cause: ErrDryRun}
}

func (p *PlannedRequest) setCredential(header, scheme, argument string) {
	p.Header[header] = []string{scheme + safetext.Redacted}
	p.credential = argument
}

// setBody sets the body.
func (p *PlannedRequest) setBody(body *payload, redact redactor) {
	if form := body.form; form != nil {
		for _, name := range slices.Sorted(maps.Keys(form.fields)) {
			for _, text := range form.fields[name] {
				p.form = append(p.form, "--form-string "+shellQuote(redact.redact(name+"="+text)))
			}
		}
		source := cmp.Or(form.file.path, form.file.Name)
		file := fmt.Sprintf("%s=@%s;filename=%s", form.fileField, curlQuote(source), curlQuote(form.file.Name))
		p.form = append(p.form, "--form "+shellQuote(redact.redact(file)))
		return
	}
	content, _ := body.open() // in memory: nothing fails, and there is nothing to close
	text, _ := io.ReadAll(content)
	p.Body = []byte(redact.redact(string(text)))
}

// Curl returns the request as a shell command. The variable that it names must hold the credential:
// FORGE_TOKEN, CI_JOB_TOKEN, REGISTRY_TOKEN, or REGISTRY_USER and REGISTRY_PASSWORD. curl does not
// apply the rules of the package: it does not retry, and does not follow redirects. A file that is
// not from FileAt appears with its name only.
func (p PlannedRequest) Curl() string {
	arguments := []string{"curl"}
	switch {
	case p.Method == http.MethodGet && p.Body == nil:
	case p.Method == http.MethodHead:
		arguments = append(arguments, "--head")
	default:
		arguments = append(arguments, "--request "+p.Method)
	}
	arguments = append(arguments, shellQuote(p.URL))
	if p.credential != "" {
		arguments = append(arguments, p.credential)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Header)) {
		for _, value := range p.Header[name] {
			if !p.isCurlDefault(name, value) {
				arguments = append(arguments, "--header "+shellQuote(curlHeader(name, value)))
			}
		}
	}
	if p.Body != nil {
		arguments = append(arguments, "--data-raw "+shellQuote(string(p.Body)))
	}
	return strings.Join(append(arguments, p.form...), " ")
}

// isCurlDefault reports whether curl sends the header by itself, or the credential replaces it.
func (p PlannedRequest) isCurlDefault(name, value string) bool {
	switch name {
	case "User-Agent":
		return true
	case "Accept":
		return value == "*/*"
	case "Accept-Encoding":
		return value == "identity"
	case "Content-Type":
		return p.form != nil
	case "Authorization", "Private-Token", "Job-Token":
		return p.credential != ""
	}
	return false
}

// curlHeader returns a header as an argument of curl. A header without a value ends with a
// semicolon: a colon would remove the header.
func curlHeader(name, value string) string {
	if value == "" {
		return name + ";"
	}
	return name + ": " + value
}

// curlQuote quotes a part of a form field, in which commas and semicolons have a meaning.
func curlQuote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// shellQuote quotes text as one word of a shell.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
