package forge

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/credential"
	"github.com/forge-sdk/forge-go/internal/throttle"
)

// Version is the version of this library, sent in the User-Agent header.
const Version = "0.1.0"

// Client calls one server with one credential. Its fields are the services. A Client is immutable,
// safe for concurrent use, and cheap to build. With derives other clients from it.
type Client struct {
	// Registry manages container registries: repositories, tags and their deletion.
	Registry *RegistryService
	// RegistryNative calls the registry itself: tokens, manifests and the catalogue. It needs
	// WithRegistry and WithRegistryCredentials.
	RegistryNative *RegistryNativeService
	// ResourceGroups reads and sets the order in which CI jobs use a shared resource.
	ResourceGroups *ResourceGroupsService
	// Repositories reads trees, files, archives, comparisons and changelogs.
	Repositories *RepositoriesService
	// SecureFiles keeps files for CI jobs, such as certificates.
	SecureFiles *SecureFilesService
	// ApprovalSettings reads and sets the rules of merge request approvals.
	ApprovalSettings *ApprovalSettingsService
	// Namespaces reads users' and groups' namespaces.
	Namespaces *NamespacesService
	// AuditEvents reads the records of actions.
	AuditEvents *AuditEventsService
	// Issues lists issues, and works with subscriptions, to-dos and time tracking.
	Issues *IssuesService
	// MergeRequests lists merge requests, their dependencies and their versions.
	MergeRequests *MergeRequestsService
	// Users reads users.
	Users *UsersService
	// Emails manages users' e-mail addresses.
	Emails *EmailsService
	// Runners reads and changes CI runners.
	Runners *RunnersService
	// PlaceholderReassignments assigns imported contributions to users.
	PlaceholderReassignments *PlaceholderReassignmentsService
	// Settings reads and changes the instance's settings.
	Settings *SettingsService
	// Integrations sets up a group's integrations with other services. A name is an IntegrationKind
	// or an IntegrationSlug; options are those of a kind or a CustomIntegration.
	Integrations *IntegrationsService

	core           *core
	registryTokens registryTokens // of RegistryNative, for With
}

// NewClient returns a client for the server at baseURL, an https address. A path prefix, a trailing
// slash and /api/v4 are optional. Without a credential option the client can only read public data.
// Plain http is accepted for loopback addresses; for other addresses it needs WithPlainHTTP, or a
// client without a credential. NewClient sends nothing.
func NewClient(baseURL string, options ...Option) (*Client, error) {
	api, err := parseBase("baseURL", "", baseURL)
	if err != nil {
		return nil, err
	}
	if err := checkPrefix(api); err != nil {
		return nil, err
	}
	api.Path = strings.TrimSuffix(api.Path, "/api/v4") + "/api/v4"
	cfg := config{
		bases:         [4]*url.URL{apiBase: api},
		userAgent:     "forge-go/" + Version,
		limits:        defaultLimits,
		newCredential: noCredential,
		builder:       &builder{transportChanged: true}, // without a parent, nothing is shared
	}
	return build(cfg, &Client{}, options)
}

// checkPrefix rejects the address of a page or of another version of the API in place of the
// server's.
func checkPrefix(api *url.URL) error {
	prefix := strings.TrimSuffix(api.Path, "/api/v4")
	switch {
	case strings.Contains(prefix, "/api/v"), strings.Contains(prefix+"/", "/-/"), strings.HasSuffix(prefix, "/api/graphql"), strings.HasSuffix(prefix, "/users/sign_in"), strings.HasSuffix(prefix, ".git"):
		return &ValidationError{Option: "baseURL", Reason: "the path is not that of the server: use its address, with or without /api/v4 at the end"}
	case api.Host == "gitlab.com" && prefix != "":
		return &ValidationError{Option: "baseURL", Reason: "the address is that of a group or project: use https://gitlab.com"}
	}
	return nil
}

// NewClientFromEnv returns a client for FORGE_URL and FORGE_TOKEN or, in a CI job that sets
// neither, for CI_API_V4_URL and CI_JOB_TOKEN. The two pairs are never mixed. A job token grants
// access to the registry of the job's project, and to generating changelogs. For the server that
// runs the job, the client also trusts the certificates in CI_SERVER_TLS_CA_FILE, unless
// WithRootCAs or the transport of WithHTTPClient sets the certificates. A credential option is
// rejected: use With, which keeps the address and the certificates.
func NewClientFromEnv(options ...Option) (*Client, error) {
	e := environment()
	if e.missing != "" {
		return nil, &ValidationError{Option: "environment", Reason: e.missing}
	}
	c, err := NewClient(e.address, slices.Concat([]Option{withFixedToken(e.tokenName, e.kind, e.token)}, options, []Option{trustJobServer})...)
	var invalid *ValidationError
	if errors.As(err, &invalid) && invalid.Option == "baseURL" {
		named := *invalid
		named.Option, named.Reason = e.addressName, strings.TrimSuffix(named.Reason, passedWithToken)
		err = &named
	}
	return c, err
}

// environmentPair is an address and a token, with the names of their variables.
type environmentPair struct {
	addressName, address, tokenName, token string
	kind                                   credential.Kind
	missing                                string // what is not set; "" if both are
}

func environment() environmentPair {
	pair := func(addressName, tokenName string, kind credential.Kind) (e environmentPair) {
		e = environmentPair{addressName: addressName, address: os.Getenv(addressName), tokenName: tokenName, token: os.Getenv(tokenName), kind: kind}
		switch {
		case e.address == "":
			e.missing = tokenName + " is set and " + addressName + " is not: set both"
		case e.token == "":
			e.missing = addressName + " is set and " + tokenName + " is not: set both"
		}
		return e
	}
	own, job := pair("FORGE_URL", "FORGE_TOKEN", credential.AccessToken), pair("CI_API_V4_URL", "CI_JOB_TOKEN", credential.JobToken)
	if own.address != "" || own.token != "" {
		return own
	}
	if job.address == "" && job.token == "" {
		job.missing = "set FORGE_URL and FORGE_TOKEN, or run in a CI job that sets CI_API_V4_URL and CI_JOB_TOKEN"
		if os.Getenv("GITLAB_TOKEN") != "" || os.Getenv("GITLAB_URL") != "" {
			job.missing += "; GITLAB_URL and GITLAB_TOKEN are not read"
		}
	}
	return job
}

// With returns a client that differs from c in the given options. c does not change. The two
// clients share:
//
//   - connections, unless the transport or its certificates differ;
//   - the retry budget, pacing and the waits that the server has requested, unless the credential
//     differs: the same token in a new option is the same credential; a token source or an OAuth
//     token in a new option is a different one;
//   - registry tokens, unless the registry or its credentials differ.
func (c *Client) With(options ...Option) (*Client, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	cfg := c.core.config
	cfg.builder = new(builder)
	return build(cfg, c, options)
}

// build applies the options and returns the client. parent is the client that With derives it from;
// for NewClient it has no core.
func build(cfg config, parent *Client, options []Option) (*Client, error) {
	for _, option := range options {
		if option == nil {
			continue
		}
		if err := option(&cfg); err != nil {
			return nil, err
		}
	}
	changed := cfg.builder
	if changed.onRefresh != nil && changed.credential != "WithOAuth" {
		return nil, &ValidationError{Option: "WithOnRefresh", Reason: "it needs WithOAuth in the same options: the client refreshes no other token"}
	}
	c := &core{stats: new(counters), offsetLists: new(offsetLists)}
	if parent.core != nil {
		c.transport, c.stats, c.offsetLists = parent.core.transport, parent.core.stats, parent.core.offsetLists
	}
	if changed.transportChanged {
		transport, err := cfg.openTransport()
		if err != nil {
			return nil, err
		}
		c.transport = transport
	}
	if changed.credentialChanged || changed.transportChanged {
		cfg.apiCredential = cfg.newCredential(c.transport)
	}
	tokens := c.share(&cfg, parent)
	if (cfg.apiCredential.Kind() != credential.Anonymous || cfg.registryBasicAuth.Kind() != credential.Anonymous) && !cfg.plainHTTP {
		for b, address := range cfg.bases {
			if address != nil && address.Scheme == "http" && !isLoopback(address.Hostname()) {
				option, param := base(b).option()
				return nil, &ValidationError{Option: option, Param: param, Reason: "plain http would send the credential unencrypted: use https, or WithPlainHTTP"}
			}
		}
	}
	cfg.builder = nil
	c.config = cfg
	return newServices(c, tokens), nil
}

// share sets the gates: those of the parent if the credentials are the same, otherwise new ones. It
// returns the registry's tokens by the same rule.
func (c *core) share(cfg *config, parent *Client) registryTokens {
	if parent.core != nil && (!cfg.builder.credentialChanged || cfg.apiCredential.Same(parent.core.config.apiCredential)) {
		c.apiGate = parent.core.apiGate
	} else {
		c.apiGate = throttle.NewGate()
	}
	if parent.core != nil && (!cfg.builder.registryChanged || cfg.sameRegistry(&parent.core.config)) {
		c.registryGate = parent.core.registryGate
		return parent.registryTokens
	}
	c.registryGate = throttle.NewGate()
	return newRegistryTokens()
}

// sameRegistry reports whether both configs have the same registry and the same credentials for it.
func (c *config) sameRegistry(other *config) bool {
	for _, b := range []base{registryBase, authBase} {
		one, two := c.bases[b], other.bases[b]
		if (one == nil) != (two == nil) || one != nil && one.String() != two.String() {
			return false
		}
	}
	return c.registryBasicAuth.Same(other.registryBasicAuth)
}

// check returns an error for a Client that was not made by NewClient.
func (c *Client) check() error {
	if c == nil {
		return (*core)(nil).check()
	}
	return c.core.check()
}

// newServices returns a client whose services use the core and the registry's tokens.
func newServices(c *core, tokens registryTokens) *Client {
	s := service{c}
	return &Client{
		core:           c,
		registryTokens: tokens,
		Registry:       &RegistryService{s}, RegistryNative: &RegistryNativeService{s, tokens},
		ResourceGroups: &ResourceGroupsService{s}, Repositories: &RepositoriesService{s},
		SecureFiles: &SecureFilesService{s}, ApprovalSettings: &ApprovalSettingsService{s},
		Namespaces: &NamespacesService{s}, AuditEvents: &AuditEventsService{s},
		Issues: &IssuesService{s}, MergeRequests: &MergeRequestsService{s},
		Users: &UsersService{s}, Emails: &EmailsService{s},
		Runners: &RunnersService{s}, PlaceholderReassignments: &PlaceholderReassignmentsService{s},
		Settings: &SettingsService{s}, Integrations: &IntegrationsService{s},
	}
}

// CloseIdleConnections closes the connections that no call is using. Clients made without
// WithHTTPClient and WithRootCAs share their idle connections, so it affects all of them.
func (c *Client) CloseIdleConnections() {
	if c.check() != nil {
		return
	}
	if t, ok := c.core.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// String returns the type and the address of the API. Without it, fmt would read the fields of the
// client while other goroutines use them.
func (c Client) String() string { return "forge.Client(" + c.BaseURL() + ")" }

// Format writes String, for all verbs.
func (c Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// BaseURL returns the address of the API, /api/v4 included.
func (c *Client) BaseURL() string {
	if c == nil {
		return ""
	}
	return c.core.baseURL()
}

// Redact returns text without the client's credentials. Use it for text that is stored, such as a
// recorded exchange. It removes the token that the client sends, the credentials of
// WithRegistryCredentials, and the refresh token and client secret of WithOAuth, also if they are
// escaped as in JSON and URLs. Of tokens that change, it removes the latest one; one of
// WithTokenSource is not known before it was sent. It does not remove credentials shorter than 8
// bytes, which may be part of other words.
func (c *Client) Redact(text string) string {
	if c == nil {
		return text
	}
	return c.core.redact(text)
}

// service returns a service of the client. Requests of a nil client are not sent.
func (c *Client) service() service {
	if c == nil {
		return service{}
	}
	return service{c.core}
}

// Stats returns the counters of c, which all clients derived from the same NewClient share,
// whatever their credentials. The counters are not a snapshot: calls may change some while others
// are read.
func (c *Client) Stats() Stats {
	if c.check() != nil {
		return Stats{}
	}
	s := c.core.stats
	return Stats{
		Calls: s.calls.Load(), Failures: s.failures.Load(), Attempts: s.attempts.Load(), Retries: s.retries.Load(),
		RateLimitWaits: s.rateLimitWaits.Load(), RateLimitWaitTime: time.Duration(s.rateLimitWaitTime.Load()),
		PacingWaits: s.pacingWaits.Load(), PacingWaitTime: time.Duration(s.pacingWaitTime.Load()),
		BytesSent: s.sent.Load(), BytesReceived: s.received.Load(),
	}
}
