package forge

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/forge-sdk/forge-go/internal/credential"
)

// rejection is what a hint is derived from: a call, and the response that refused it. A hint states
// as a fact only what follows from these fields. All else "may" be so, most likely cause first.
type rejection struct {
	route      *route
	credential credential.Kind
	misplaced  string                      // why the option is not that of the token
	vocabulary Vocabulary                  // of the client
	values     func(param string) []string // documented for a parameter of the call
	scopes     []string                    // that the server names
	path       string                      // requested, escaped
	query      url.Values
	status     int
	message    string // of the server, cleaned
	foreign    bool   // the response is a page or plain text, which the API does not send
	base       string // the base URL, if no call to it has succeeded yet
	loopback   bool   // the server is on this machine, so that no proxy is expected
}

// hint returns what to do about the rejection; "" if the message says it.
func (r *rejection) hint() string {
	if advice := r.route.advice; advice.status == r.status {
		return joinParts("; ", r.hintStatus(), advice.hint)
	}
	return r.hintStatus()
}

// hintStatus returns the hint that does not depend on the route alone.
func (r *rejection) hintStatus() string {
	switch r.status {
	case http.StatusBadRequest:
		return joinParts("; ", r.hintScheme(), r.hintValues())
	case http.StatusUnauthorized:
		return r.hintCredential()
	case http.StatusForbidden:
		return r.hintForbidden()
	case http.StatusNotFound:
		return r.hintNotFound()
	case http.StatusRequestEntityTooLarge:
		return "the body is larger than the server, or a proxy, accepts"
	case http.StatusMethodNotAllowed:
		if r.undocumented() && r.unspecific() {
			return "check the method and the path of the Call, or the object's state: some servers refuse an action with this status"
		}
	case http.StatusRequestURITooLong:
		if r.undocumented() {
			return "the query is too long for this server: use fewer or shorter parameters, or Call.Form, which is sent as the body"
		}
		return "the query is too long for this server: use fewer or shorter filters"
	}
	return ""
}

const jobTokenRefused = "this endpoint does not accept a CI job token: use an access token"

func (r *rejection) undocumented() bool { return r.route.Docs == "" }

// refusesJobToken reports whether the client has a job token and the endpoint does not accept one.
func (r *rejection) refusesJobToken() bool {
	return r.credential == credential.JobToken && !r.route.JobToken && !r.undocumented()
}

func (r *rejection) hintCredential() string {
	switch {
	case strings.HasPrefix(r.message, missingProofOfPossession):
		return "the server requires a DPoP proof for this token, and the client sends none: turn DPoP off for the token's user, or send the proof from the transport of WithHTTPClient"
	case r.misplaced != "":
		return r.misplaced
	case r.refusesJobToken():
		return jobTokenRefused
	case r.credential == credential.Anonymous:
		return "the call needs a credential, and the client has none"
	case r.credential == credential.JobToken:
		return "check the job token: it may have expired with its job, or this server may not accept one for this call"
	case r.credential == credential.UserPassword:
		return "check the user and the password: they may be wrong, expired or revoked"
	}
	return "check the credential: it may be wrong, expired or revoked"
}

func (r *rejection) hintForbidden() string {
	switch {
	case r.foreign:
		return "the response is not from the API: a proxy or a firewall may have refused the call"
	case strings.HasPrefix(r.message, insufficientGranularity):
		return r.hintPermissions()
	case strings.HasPrefix(r.message, insufficientScope):
		return r.hintScope()
	case r.refusesJobToken():
		return jobTokenRefused
	case strings.Contains(r.message, "sudo"):
		return ""
	case r.route.base != apiBase && r.route.Role == "":
		return "the registry's user may lack access, or the image may not exist" + r.hintImage()
	case !r.unspecific():
		return r.role()
	}
	who := ""
	switch {
	case r.credential == credential.JobToken:
		who = "a CI job token may have no access to this project, or its user may lack the role for this call"
	case r.route.Role == "":
		who = "the user may lack the role for this call"
	}
	return joinParts("; ", who, r.requirements())
}

func (r *rejection) hintNotFound() string {
	switch {
	case r.foreign:
		return joinParts("; ", r.hintBase(), r.hintDecoded())
	case r.refusesJobToken():
		return jobTokenRefused
	case r.namesObject() && r.credential == credential.Anonymous:
		return "the object does not exist or is not public, and the client has no credential" + r.hintPath()
	case r.namesObject():
		return "the object does not exist, or the credential cannot see it" + r.hintPath() + r.hintRef()
	case !r.unspecific():
		return ""
	}
	base := ""
	if r.message == "" || r.object() == "" {
		base = r.hintBase()
	}
	return joinParts("; ", r.missing()+r.hintPath(), r.hintFormat(), r.requirements(), r.hintRoute(), base, r.hintDecoded())
}

// object returns what the address names, apart from an endpoint that the contract has.
func (r *rejection) object() string {
	switch named := strings.Contains(r.route.Template, ":"); {
	case named && r.undocumented():
		return "endpoint or the object"
	case named:
		return "object"
	}
	return ""
}

// missing returns the usual cause of a 404 without a message.
func (r *rejection) missing() string {
	object := r.object()
	switch {
	case object == "" && r.undocumented():
		return "the endpoint may not exist"
	case object == "":
		return ""
	case r.credential == credential.Anonymous:
		return "the " + object + " may not exist or may not be public: the client has no credential"
	}
	return "the " + object + " may not exist, or the user may lack access to it"
}

// requirements returns the role that the contract requires, and what the server may lack.
func (r *rejection) requirements() string {
	role, rest := r.role(), r.availability()
	switch {
	case rest == "":
		return role
	case role == "":
		return "this endpoint may need " + rest
	}
	return role + "; it may need " + rest
}

func (r *rejection) role() string {
	if r.route.Role == "" {
		return ""
	}
	return "this endpoint needs " + r.route.Role
}

// availability returns the tiers, the offerings and the release that have the endpoint.
func (r *rejection) availability() string {
	tier, offering, release := r.route.Tier, "", ""
	if r.route.Offering != "" {
		offering = "a " + r.route.Offering + " instance"
	}
	if r.route.Release != "" {
		release = "release " + r.route.Release + " or later"
	}
	return joinParts(", ", tier, offering, release)
}

// hintPermissions returns the permissions that a fine-grained token needs.
func (r *rejection) hintPermissions() string {
	if r.route.Permissions == "" {
		return "the token is fine-grained and lacks the permission that the message names: add it to the token"
	}
	return "the token is fine-grained, and this endpoint needs " + strings.Join(strings.Fields(r.route.Permissions), " and ") + ": add what it lacks to the token"
}

// hintScope returns the scope that a token lacks: one that the server names, otherwise that of the
// contract, in the server's word.
func (r *rejection) hintScope() string {
	named := strings.FieldsFunc(strings.Join(r.scopes, " "), func(c rune) bool { return c == ' ' || c == ',' })
	switch {
	case len(named) > 0:
		return "the token needs the scope " + strings.Join(named, " or ")
	case r.undocumented():
		return "the token lacks a scope that this call needs"
	case r.route.scope != "":
		scope, _ := r.vocabulary.wire(scopeWord, r.route.scope)
		return "the token needs the scope api or " + scope
	case r.route.Class == RetryClassSafe:
		return "the token needs the scope read_api or api"
	}
	return "the token needs the scope api"
}

// unspecific reports whether the message has nothing that the status does not have.
func (r *rejection) unspecific() bool {
	text := strings.TrimPrefix(r.message, strconv.Itoa(r.status)+" ")
	return text == "" || strings.EqualFold(text, statusText(r.status)) || text == "Not Allowed" // the server's text of a 405
}

// namesObject reports whether the message of a 404 names what was not found: "404 Project Not
// Found", or MANIFEST_UNKNOWN of a registry.
func (r *rejection) namesObject() bool {
	text := strings.ToLower(r.message)
	return !r.unspecific() && (strings.HasSuffix(text, " not found") || strings.Contains(text, "_unknown"))
}

// hintBase returns a hint that the base URL may be wrong.
func (r *rejection) hintBase() string {
	if r.base == "" {
		return ""
	}
	return "check the base URL: the API was requested at " + r.base
}

// hintDecoded returns the least likely cause of a 404: a proxy that decodes the slashes of a path
// requests another address.
func (r *rejection) hintDecoded() string {
	if r.loopback || !strings.Contains(r.path, "%2F") {
		return ""
	}
	return "if the object exists, a proxy may have decoded the %2F of the address (nginx does so if proxy_pass has a path): use forge.ID, which needs no %2F"
}

// hintPath continues the hint of a 404 for a path that no project has.
func (r *rejection) hintPath() string {
	path, _, _ := strings.Cut(strings.TrimPrefix(r.path, "/projects/"), "/")
	isID := strings.Trim(path, "0123456789") == ""
	switch {
	case isID || !r.route.project:
	case strings.HasSuffix(path, ".git"):
		return "; the path of a project is that of its address without .git"
	case !strings.Contains(path, "%2F"):
		return "; the path of a project begins with that of its group or user, as in group/app"
	}
	return ""
}

// hintRef continues the hint of a 404 for a ref, or for a path in it, that the repository lacks.
func (r *rejection) hintRef() string {
	if !r.route.refs || strings.Contains(r.message, "Project") {
		return ""
	}
	named := []string{}
	for _, param := range []string{"from", "to", "ref", "sha", "path"} {
		if value := r.query.Get(param); value != "" {
			named = append(named, param+"="+strconv.Quote(value))
		}
	}
	if len(named) == 0 {
		return ""
	}
	return "; the call had " + joinWords(named...)
}

// hintImage continues the hint for an image path that may begin with the host of the registry.
func (r *rejection) hintImage() string {
	first, _, more := strings.Cut(strings.TrimPrefix(r.query.Get("scope"), "repository:"), "/")
	if !more || !strings.ContainsAny(first, ".") {
		return ""
	}
	return "; an image path has no host: omit " + strconv.Quote(first) + " if it is one"
}

// hintFormat returns the formats of an archive for a call with another one.
func (r *rejection) hintFormat() string {
	if r.route.quota != archiveQuota || r.values == nil {
		return ""
	}
	_, format, _ := strings.Cut(r.path[strings.LastIndexByte(r.path, '/')+1:], ".")
	formats := r.values("-") // the option is a part of the path, and no parameter
	if format == "" || len(formats) == 0 || slices.Contains(formats, format) {
		return ""
	}
	return "this version has the formats " + strings.Join(formats, " ")
}

// hintRoute returns a hint for a Call with the path of a project or group in its route.
func (r *rejection) hintRoute() string {
	for _, kind := range []string{"projects", "groups"} {
		rest, is := strings.CutPrefix(r.route.Template, "/"+kind+"/")
		if first, _, more := strings.Cut(rest, "/"); is && more && strings.Trim(first, "0123456789") != "" && first[0] != ':' {
			return fmt.Sprintf(`a path is one argument: use /%s/:id with Args: forge.Path("acme/app")`, kind)
		}
	}
	return ""
}

// hintValues returns the values that this version has for a parameter with another one.
func (r *rejection) hintValues() string {
	before, _, rejected := strings.Cut(r.message, " does not have a valid value")
	param := before[strings.LastIndexAny(before, " ,")+1:]
	if !rejected {
		return ""
	}
	values := r.values(param)
	for i, value := range values {
		if word, _ := r.vocabulary.wire(entityWord, value); word != value {
			return "GitLab has its own words for " + param + ": create the client without WithVocabulary(forge.Neutral)"
		}
		if strings.Contains(value, ",") {
			values[i] = strconv.Quote(value)
		}
	}
	if values == nil {
		return ""
	}
	return "this version has " + strings.Join(values, ", ") + " for " + param
}

// hintScheme returns a hint for a request without TLS that a TLS port received.
func (r *rejection) hintScheme() string {
	text := strings.ToLower(r.message)
	if _, port, _ := strings.Cut(text, "http request "); strings.Contains(port, "https") || strings.Contains(text, "ssl-enabled server port") {
		return "the port expects TLS: use https in the address"
	}
	return ""
}

// hintTLS returns a hint for a rejected certificate or TLS connection.
func hintTLS(err error) string {
	if err == nil { // the variables below are allocated
		return ""
	}
	var unknown x509.UnknownAuthorityError
	var roots x509.SystemRootsError
	switch {
	case errors.As(err, &unknown), errors.As(err, &roots):
		return "if a private authority signed the server's certificate, pass the authority to WithRootCAs (NewClientFromEnv uses " + jobAuthorities + " in a CI job)"
	case strings.Contains(err.Error(), "first record does not look like a TLS handshake"):
		return "the port serves plain http or another protocol: check the address"
	case strings.Contains(err.Error(), "remote error: tls: certificate required"), strings.Contains(err.Error(), "remote error: tls: bad certificate"):
		return "the server requests a client certificate: set TLSClientConfig.Certificates in the transport of WithHTTPClient"
	}
	return ""
}

// hintUnreachable returns a hint for an address at which no server responds.
func hintUnreachable(err error) string {
	if err == nil {
		return ""
	}
	var lookup *net.DNSError
	unknown, refused := errors.As(err, &lookup) && lookup.IsNotFound, errors.Is(err, syscall.ECONNREFUSED)
	switch {
	case (unknown || refused) && isProxyDial(err):
		return "the proxy cannot be reached: check its address in HTTPS_PROXY, or in the transport of WithHTTPClient"
	case unknown:
		return "check the host name in the address"
	case strings.Contains(err.Error(), "malformed HTTP response"):
		return "the port serves another protocol than HTTP: check the address and its port"
	case refused:
		return "nothing accepts connections there: check the address and its port, and whether the server runs"
	}
	return ""
}

func isProxyDial(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "proxyconnect"
}
