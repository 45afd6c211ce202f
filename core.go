package forge

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/credential"
	"github.com/forge-sdk/forge-go/internal/safetext"
	"github.com/forge-sdk/forge-go/internal/throttle"
	"golang.org/x/oauth2"
)

// core is the part of a client that its calls use. The Client, its services and its requests point
// to it.
type core struct {
	config       config
	transport    http.RoundTripper
	apiGate      *throttle.Gate // of the API's credential
	registryGate *throttle.Gate // of the registry's
	stats        *counters
	offsetLists  *offsetLists
}

// check returns an error for a Client that was not made by NewClient.
func (c *core) check() error {
	if c == nil || c.config.bases[apiBase] == nil {
		return &ValidationError{Option: "Client", Reason: "it was not made by NewClient, NewClientFromEnv or With"}
	}
	return nil
}

// gateFor returns the gate for requests to b.
func (c *core) gateFor(b base) *throttle.Gate {
	if b == registryBase || b == authBase {
		return c.registryGate
	}
	return c.apiGate
}

// credentialFor returns the credential for requests to b. For the registry it is a token for the
// scope of the request, which the service sets.
func (c *core) credentialFor(b base) *credential.Credential {
	switch b {
	case apiBase:
		return &c.config.apiCredential
	case authBase:
		return &c.config.registryBasicAuth
	}
	return new(credential.Credential)
}

// baseURL returns the address of the API, or "" for a client that was not made by NewClient.
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
	return c.config.registryBasicAuth.RedactStored(c.config.apiCredential.RedactStored(text))
}

// safeText is safetext.Clean for text of a server, which may contain a credential of the client.
func (c *core) safeText(text string, limit int) string {
	return safetext.Truncate(c.redact(safetext.Printable(text)), limit)
}

// service is embedded in all services. Its methods build requests.
type service struct{ core *core }

// owner returns the core, or one that sends nothing if the service was not made by NewClient.
func (s service) owner() *core {
	if s.core == nil {
		return &core{}
	}
	return s.core
}

// config holds the values that the options set.
type config struct {
	bases             [4]*url.URL // indexed by base
	newCredential     func(http.RoundTripper) credential.Credential
	apiCredential     credential.Credential
	registryBasicAuth credential.Credential // of the registry's token endpoint
	transport         http.RoundTripper
	rootCAs           *x509.CertPool // nil: the transport's own
	userAgent         string
	log               *slog.Logger // nil: none
	limiter           Limiter
	withoutPacing     bool
	retry             RetryPolicy
	plainHTTP         bool
	strict            bool
	onAttempt         func(context.Context, Attempt)
	limits            limits
	header            http.Header // of each call
	perPage           int         // 0: maxPerPage
	vocabulary        Vocabulary
	drift             *Drift

	builder *builder // while options are applied
}

// builder is the state of NewClient and With while they apply options.
type builder struct {
	credential                string // the option that sets one
	givenClient, givenRootCAs bool   // WithHTTPClient, WithRootCAs
	onRefresh                 func(*oauth2.Token)

	credentialChanged, transportChanged, registryChanged bool
}

// limits bound how long a server can make the client wait, and how many bytes it can send.
type limits struct {
	conn.Limits
	json   int64         // bytes of a JSON response, decompressed
	stream int64         // bytes of a download; 0: no limit
	call   time.Duration // of all attempts and waits; 0: no limit
}

var defaultLimits = limits{conn.Limits{Header: time.Minute, Stall: time.Minute, Err: ErrTimeout}, 32 << 20, 0, 0}

// Option configures a Client. Of two equal options in one call of NewClient or With, the last one
// counts, and the options of With replace those of its client. Two credentials in one call are an
// error, also of one kind. A nil Option is ignored.
type Option func(*config) error

// Limiter limits the client's request rate. *rate.Limiter of golang.org/x/time/rate implements it.
// Wait is called before every attempt, retries included.
type Limiter interface {
	// Wait returns nil when the attempt may be sent. An error, such as that of ctx, ends the call.
	Wait(ctx context.Context) error
}
