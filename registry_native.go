package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/safetext"
)

// RegistryNativeService calls the container registry itself, at the addresses of WithRegistry. Its
// calls are authorized by registry tokens, which the client obtains with WithRegistryCredentials,
// keeps until they expire, and sends to the registry only. API credentials are not used.
//
// Calls that need the same token share one request for it. This request continues for at most 30 s
// after the contexts of these calls have ended, so that the next call can use the token.
// GitLab docs: https://docs.gitlab.com/api/container_registry/
type RegistryNativeService struct {
	service
	shared registryTokens // tokens; nil: the service was not made by NewClient
}

// registryName is the registry's name at its token endpoint.
const registryName = "container_registry"

// RegistryScope is the access that a registry token grants: a result of RepositoryScope, or
// RegistryScopeCatalog.
type RegistryScope string

// RegistryScopeCatalog lets the token's owner list the registry's repositories. Administrators
// only.
const RegistryScopeCatalog RegistryScope = "registry:catalog:*"

// RegistryAction is an action on a repository of a registry.
type RegistryAction string

const (
	// RegistryActionPull reads images.
	RegistryActionPull RegistryAction = "pull"
	// RegistryActionPush writes images.
	RegistryActionPush RegistryAction = "push"
	// RegistryActionDelete deletes manifests and tags.
	RegistryActionDelete RegistryAction = "delete"
)

// RepositoryScope returns the scope of a token for actions on one repository:
// RepositoryScope("group/app", RegistryActionPull). The actions are RegistryActionPull,
// RegistryActionPush and RegistryActionDelete; several are sent as pull,push.
func RepositoryScope(imagePath string, actions ...RegistryAction) RegistryScope {
	names := make([]string, len(actions))
	for i, action := range actions {
		names[i] = string(action)
	}
	return RegistryScope("repository:" + imagePath + ":" + strings.Join(names, ","))
}

// check returns an error for an invalid scope: without one of its parts, it would request other
// access.
func (s RegistryScope) check() error {
	parts := strings.Split(string(s), ":")
	if len(parts) != 3 || strings.ContainsAny(string(s), " \t") || hasControl(string(s)) ||
		parts[0] == "" || pathProblem(parts[1]) != "" || strings.Contains(","+parts[2]+",", ",,") {
		return &ValidationError{Param: "scope", Reason: fmt.Sprintf("%q is not of the form repository:<image path>:<actions>: use RepositoryScope or RegistryScopeCatalog", safetext.Clean(string(s), 256))}
	}
	if reason := escapedReason(parts[1]); reason != "" {
		return &ValidationError{Param: "scope", Reason: "the image path: " + reason}
	}
	return nil
}

// GetRegistryTokenOptions sets the access that a registry token grants.
type GetRegistryTokenOptions struct {
	// Scopes are the access that the token grants: results of RepositoryScope, or
	// RegistryScopeCatalog. Required.
	Scopes []RegistryScope `url:"scope,omitempty"`
}

func (o *GetRegistryTokenOptions) check() error {
	if err := required("scope", len(o.Scopes) > 0); err != nil {
		return err
	}
	for _, scope := range o.Scopes {
		if err := scope.check(); err != nil {
			return err
		}
	}
	return nil
}

// GetToken returns a token for the scopes. While the client has a valid token, GetToken returns
// that. Otherwise it obtains a new one with the credentials of WithRegistryCredentials, and keeps
// it. With any request option the token is always a new one. The other methods of this service
// obtain tokens themselves.
// GitLab docs: https://docs.gitlab.com/api/container_registry/
func (s *RegistryNativeService) GetToken(ctx context.Context, o *GetRegistryTokenOptions, opts ...RequestOption) (*RegistryToken, error) {
	r := s.newGet("/jwt/auth").queryParam("service", registryName).params(o)
	return s.fetchToken(ctx, r, "", opts)
}

// DeleteManifestOptions sets the type of the manifest to delete.
type DeleteManifestOptions struct {
	// ManifestType is the media type of the manifest. Default:
	// application/vnd.docker.distribution.manifest.v2+json. The documents omit the vendor, so that it
	// is required with WithVocabulary(Neutral).
	ManifestType string `url:"-"`
}

// DeleteManifest deletes a tag by its reference, or an image by its digest. The feature tag_delete
// of the registry must be enabled; otherwise Error.Status is 405.
// GitLab docs: https://docs.gitlab.com/api/container_registry/
func (s *RegistryNativeService) DeleteManifest(ctx context.Context, imagePath, reference string, o *DeleteManifestOptions, opts ...RequestOption) error {
	r := s.newDelete("/v2/:image_path/manifests/:tag", imagePath, reference).scoped(s, RepositoryScope(imagePath, RegistryActionDelete)).manifest(o)
	return exec(ctx, r, opts)
}

// DeleteTagReference deletes a tag by its reference.
// GitLab docs: https://docs.gitlab.com/api/container_registry/
//
// Deprecated: since 16.4; use DeleteManifest.
func (s *RegistryNativeService) DeleteTagReference(ctx context.Context, imagePath, tag string, opts ...RequestOption) error {
	r := s.newDelete("/v2/:image_path/tags/reference/:tag", imagePath, tag).scoped(s, RepositoryScope(imagePath, RegistryActionDelete))
	return exec(ctx, r, opts)
}

// ListCatalog lists all repositories of the registry. The credentials must be an administrator's.
// The contract does not show the response; it is read as the registry protocol specifies.
// GitLab docs: https://docs.gitlab.com/api/container_registry/
func (s *RegistryNativeService) ListCatalog(ctx context.Context, opts ...RequestOption) iter.Seq2[*CatalogRepository, error] {
	r := s.newGet("/v2/_catalog").scoped(s, RegistryScopeCatalog).itemsIn("repositories", "n")
	return list[CatalogRepository](ctx, r, opts)
}

// scoped authorizes the request with a token for the scope.
func (r *request) scoped(s *RegistryNativeService, scope RegistryScope) *request {
	if r.auth = s.bearerFor(scope); r.err == nil {
		r.err = scope.check()
	}
	return r
}

const manifestType = "application/vnd.docker.distribution.manifest.v2+json"

// manifest sets the Accept header to the media type of manifests.
func (r *request) manifest(o *DeleteManifestOptions) *request {
	kind, named := "", true
	if o != nil {
		kind = o.ManifestType
	}
	if kind == "" {
		kind, named = r.core.config.vocabulary.wire(mediaWord, manifestType)
	}
	r.accept = kind
	switch {
	case r.err != nil:
	case !named:
		nameless := unnamed("Accept", " as ManifestType")
		nameless.Option = "DeleteManifestOptions.ManifestType"
		r.err = nameless
	case hasControl(kind):
		r.err = &ValidationError{Option: "DeleteManifestOptions.ManifestType", Param: "Accept", Reason: "it has control bytes"}
	}
	return r
}

// RegistryToken is a token for the registry. It is redacted when it is printed or logged.
type RegistryToken struct {
	// Token is the secret itself.
	Token string `json:"token"`
	// ExpiresIn is how long the token is valid, in seconds; 0 if the server does not send it. Not part
	// of the contract.
	ExpiresIn int `json:"expires_in"`
	// IssuedAt is when the token was issued. Not part of the contract.
	IssuedAt time.Time `json:"issued_at"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// Format writes the type of the value instead of the token.
func (t RegistryToken) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "forge.RegistryToken([redacted])")
}

// LogValue returns a placeholder for the token.
func (t RegistryToken) LogValue() slog.Value { return slog.StringValue("[redacted]") }

// MarshalJSON writes a placeholder for the token. To store the token, store Token itself.
func (t RegistryToken) MarshalJSON() ([]byte, error) { return []byte(`"[redacted]"`), nil }

// CatalogRepository is an entry of the registry's catalogue.
type CatalogRepository struct {
	// Name is the image path.
	Name string `json:"name"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field. It
	// is nil for a bare name, which is what registries send.
	Extra map[string]json.RawMessage `json:"-"`
}

// String returns the image path.
func (c CatalogRepository) String() string { return c.Name }

// decodeOther reads a bare name.
func (c *CatalogRepository) decodeOther(r *jsonread.Reader) bool {
	return r.Kind() == "string" && jsonread.Text(&c.Name, r)
}

// otherForm returns the name of an entry that has nothing else.
func (c CatalogRepository) otherForm() (any, bool) { return c.Name, len(c.Extra) == 0 }
