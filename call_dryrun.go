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

// PlannedRequest is a request that DryRun has kept from being sent. The client's credential is in none of its parts.
type PlannedRequest struct {
	// Method is the HTTP method.
	Method string
	// URL is the whole address.
	URL string
	// Route is the endpoint as the contract spells it, placeholders included.
	Route string
	// Header holds the headers; of the credential only the name, as its value would be asked for when the request is sent.
	Header http.Header
	// Body is the JSON or form body, which is the caller's own and may hold secrets that the server is to be told. It is nil where
	// there is none, and for uploads, whose files are not opened; Curl names their fields.
	Body []byte

	credential string   // as arguments of curl
	form       []string // the fields of an upload, likewise
}

// DryRun makes a call fill plan instead of sending its request. The call is checked and encoded as always, and then returns an error
// that matches ErrDryRun: nothing is sent, no token is asked for, no file is opened, and no hook or counter sees it. Of a list the first page
// is planned, and of a method that makes several requests the first. plan may be nil.
func DryRun(plan *PlannedRequest) RequestOption {
	return func(o *callOptions) {
		if o.fitsOnce("DryRun", kindAny, o.plan != nil) {
			o.plan = func(c *call) error { return c.planned(plan) }
		}
	}
}

// planned fills the caller's plan.
func (c *call) planned(plan *PlannedRequest) error {
	header, _ := c.plainHeader(true)
	p := PlannedRequest{Method: c.route().method, URL: c.scrub(c.url.String()), Route: c.route().template, Header: header}
	c.scrubHeader(p.Header)
	switch kind := c.auth.Kind(); {
	case kind == credential.AccessToken:
		p.proveWith(c.auth.Header(), "", `--header "PRIVATE-TOKEN: $FORGE_TOKEN"`)
	case kind == credential.JobToken:
		p.proveWith(c.auth.Header(), "", `--header "JOB-TOKEN: $CI_JOB_TOKEN"`)
	case kind == credential.UserPassword:
		p.proveWith(c.auth.Header(), "Basic ", `--user "$REGISTRY_USER:$REGISTRY_PASSWORD"`)
	case kind == credential.OAuthToken && c.route().base == registryBase:
		p.proveWith(c.auth.Header(), "Bearer ", `--header "Authorization: Bearer $REGISTRY_TOKEN"`)
	case kind == credential.OAuthToken:
		p.proveWith(c.auth.Header(), "Bearer ", `--header "Authorization: Bearer $FORGE_TOKEN"`)
	}
	if c.body != nil {
		if err := p.take(c); err != nil {
			return c.request.invalid(err)
		}
	}
	if plan != nil {
		*plan = p
	}
	return &Error{Method: p.Method, Route: p.Route, Path: c.scrub(c.request.path), cause: ErrDryRun}
}

func (p *PlannedRequest) proveWith(header, scheme, argument string) {
	p.Header[header] = []string{scheme + safetext.Redacted}
	p.credential = argument
}

// take shows the body.
func (p *PlannedRequest) take(c *call) error {
	if form := c.body.form; form != nil {
		for _, name := range slices.Sorted(maps.Keys(form.fields)) {
			p.form = append(p.form, "--form-string "+shellQuote(name+"="+c.scrub(form.fields[name])))
		}
		source := cmp.Or(form.file.path, form.file.Name)
		p.form = append(p.form, "--form "+shellQuote(fmt.Sprintf("%s=@%s;filename=%s", form.fileField, curlQuote(source), curlQuote(form.file.Name))))
		return nil
	}
	content, err := c.body.open()
	if err != nil {
		return err
	}
	defer content.Close()
	text, err := io.ReadAll(content)
	p.Body = []byte(c.scrub(string(text)))
	return err
}

// Curl writes the request as a line for a shell, which can be run as it is once the variable that it names holds the credential:
// FORGE_TOKEN, CI_JOB_TOKEN, REGISTRY_TOKEN, or REGISTRY_USER and REGISTRY_PASSWORD. curl has none of the package's rules: it
// repeats nothing and follows no redirect. A file that does not come from FileAt is given by its name only.
func (p PlannedRequest) Curl() string {
	words := []string{"curl"}
	switch p.Method {
	case http.MethodGet:
	case http.MethodHead:
		words = append(words, "--head")
	default:
		words = append(words, "--request "+p.Method)
	}
	words = append(words, shellQuote(p.URL))
	if p.credential != "" {
		words = append(words, p.credential)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Header)) {
		for _, value := range p.Header[name] {
			if !p.curlsOwn(name, value) {
				words = append(words, "--header "+shellQuote(curlHeader(name, value)))
			}
		}
	}
	if p.Body != nil {
		words = append(words, "--data-raw "+shellQuote(string(p.Body)))
	}
	return strings.Join(append(words, p.form...), " ")
}

// String is Curl.
func (p PlannedRequest) String() string { return p.Curl() }

// curlsOwn reports whether curl sends the header by itself, or the credential stands for it.
func (p PlannedRequest) curlsOwn(name, value string) bool {
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

// curlHeader writes a header as curl takes it: a colon without a value would remove the header.
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

// shellQuote makes one word of text.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
