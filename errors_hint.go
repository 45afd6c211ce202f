package forge

import (
	"crypto/x509"
	"errors"
	"net"
	"net/http"
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
	path       string // requested, escaped
	status     int
	message    string // of the server, cleaned
	foreign    bool   // the response is a page or plain text, which the API does not send
	base       string // the base URL, if no call to it has succeeded yet
	loopback   bool   // the server is on this machine, so that no proxy is expected
}

// hint returns what to do about the rejection; "" if the message says it.
func (r *rejection) hint() string {
	switch r.status {
	case http.StatusBadRequest:
		return r.hintScheme()
	case http.StatusUnauthorized:
		return r.hintCredential()
	case http.StatusForbidden:
		return r.hintForbidden()
	case http.StatusNotFound:
		return r.hintNotFound()
	case http.StatusMethodNotAllowed:
		if r.undocumented() {
			return "check the method and the path of the Call, or the object's state: some servers refuse an action with this status"
		}
	case http.StatusRequestURITooLong:
		return "the query is too long for this server: use fewer or shorter filters"
	}
	return ""
}

const jobTokenRefused = "this endpoint does not accept a CI job token: use an access token"

func (r *rejection) undocumented() bool { return r.route.Section == "" }

// refusesJobToken reports whether the client has a job token and the endpoint does not accept one.
func (r *rejection) refusesJobToken() bool {
	return r.credential == credential.JobToken && !r.route.JobToken && !r.undocumented()
}

func (r *rejection) hintCredential() string {
	switch {
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
	case strings.Contains(r.message, "insufficient_scope"):
		return r.hintScope()
	case r.refusesJobToken():
		return jobTokenRefused
	case strings.Contains(r.message, "sudo"):
		return ""
	case r.route.base != apiBase && r.route.Role == "":
		return "the registry's user may lack access, or the image may not exist"
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
		return "the object does not exist or is not public, and the client has no credential"
	case r.namesObject():
		return "the object does not exist, or the credential cannot see it"
	case !r.unspecific():
		return ""
	}
	base := ""
	if r.message == "" || r.object() == "" {
		base = r.hintBase()
	}
	return joinParts("; ", r.missing(), r.requirements(), base, r.hintDecoded())
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

// hintScope returns the scope that a token lacks. A scope named by the contract is included in api.
func (r *rejection) hintScope() string {
	switch {
	case r.undocumented():
		return "the token lacks a scope that this call needs"
	case r.route.scope != "":
		return "the token needs the scope api or " + r.route.scope
	case r.route.Class == ClassSafe:
		return "the token needs the scope read_api or api"
	}
	return "the token needs the scope api"
}

// unspecific reports whether the message has nothing that the status does not have.
func (r *rejection) unspecific() bool {
	text := strings.TrimPrefix(r.message, strconv.Itoa(r.status)+" ")
	return text == "" || strings.EqualFold(text, statusText(r.status))
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

// hintScheme returns a hint for a request without TLS that a TLS port received.
func (r *rejection) hintScheme() string {
	text := strings.ToLower(r.message)
	if r.foreign && strings.Contains(text, "http") && (strings.Contains(text, "https") || strings.Contains(text, "ssl")) {
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
	switch {
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return "check the host name in the address"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing accepts connections there: check the address and its port, and whether the server runs"
	}
	return ""
}
