package forge

import (
	"context"
	"crypto/x509"
	"net/http"
	"net/url"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"

	"github.com/forge-sdk/forge-go/internal/credential"
	"golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go/internal/throttle"
)

// config is what the options set.
type config struct {
	bases             [4]*url.URL // by base
	newCredential     func(http.RoundTripper) credential.Credential
	apiCredential     credential.Credential
	registryBasicAuth credential.Credential // of the registry's token endpoint
	transport         http.RoundTripper
	rootCAs           *x509.CertPool // nil: the transport's own
	userAgent         string
	log               callLog
	limiter           Limiter
	retry             RetryPolicy
	plainHTTP         bool
	strict            bool
	onAttempt         func(context.Context, Attempt)
	limits            limits
	vocabulary        *words // nil: none
	drift             *Drift

	builder *builder // while options are applied
}

// builder is what NewClient and With need while they apply options.
type builder struct {
	given     []string // names of options
	onRefresh func(*oauth2.Token)

	credentialChanged, transportChanged, registryChanged bool
}

// limits bound what a server can make the client wait for or hold.
type limits struct {
	conn.Limits
	json   int64 // bytes of a JSON response, decompressed
	stream int64 // bytes of a download; 0: no limit
}

var defaultLimits = limits{conn.Limits{Header: time.Minute, Stall: time.Minute, Err: ErrTimeout}, 32 << 20, 0}

// Option configures a Client. In one NewClient or With there is at most one credential, and each
// option is given at most once, as the first would be lost: With replaces what a client has. Of
// WithRetry and WithUserAgent the last counts.
type Option func(*config) error

// Limiter holds a caller to a rate of its own; *rate.Limiter of golang.org/x/time/rate is one.
// Wait is called before every attempt, retries included.
type Limiter interface {
	// Wait returns when the attempt may be sent, or an error when it may not.
	Wait(ctx context.Context) error
}

// core is what a call needs of its client. Client embeds it; services and requests point to it.
type core struct {
	config      config
	transport   http.RoundTripper
	throttle    *throttle.Gate // of the API's credential
	native      *throttle.Gate // of the registry's
	stats       *counters
	offsetLists *offsetLists
}

// check refuses a Client that was not made by NewClient.
func (c *core) check() error {
	if c == nil || c.config.bases[apiBase] == nil {
		return &ValidationError{Option: "Client", Reason: "it was not made by NewClient, NewClientFromEnv or With"}
	}
	return nil
}

// gateFor returns the gate of the credential that requests to the address have.
func (c *core) gateFor(b base) *throttle.Gate {
	if b == registryBase || b == authBase {
		return c.native
	}
	return c.throttle
}

// credentialFor returns the credential of requests to the address. The registry's is a token
// for the scope of the request, which its service sets.
func (c *core) credentialFor(b base) *credential.Credential {
	switch b {
	case apiBase:
		return &c.config.apiCredential
	case authBase:
		return &c.config.registryBasicAuth
	}
	return new(credential.Credential)
}

// baseURL returns the address of the API, and "" for a client that was not made by NewClient.
func (c *core) baseURL() string {
	if c.check() != nil {
		return ""
	}
	return c.config.bases[apiBase].String()
}

// redact removes the client's credentials from text.
func (c *core) redact(text string) string {
	if c.check() != nil {
		return text
	}
	text = c.config.apiCredential.Redact(text, credential.Sent{})
	return c.config.registryBasicAuth.Redact(text, credential.Sent{})
}

// service gives the services their verbs.
type service struct{ core *core }

// owner returns the core, or one that sends nothing if the service was not made by NewClient.
func (s service) owner() *core {
	if s.core == nil {
		return &core{}
	}
	return s.core
}

// jobAuthorities is the variable of a CI job that names a file with the certificates of its server.
const jobAuthorities = "CI_SERVER_TLS_CA_FILE"
