package forgetest

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func registryNativeRoutes() []route {
	return []route{
		{name: "GET /jwt/auth", handle: issueRegistryToken},
		{name: "DELETE /v2/:image_path/manifests/:tag", handle: deleteManifest},
		{name: "DELETE /v2/:image_path/tags/reference/:tag", handle: deleteReference},
		{name: "GET /v2/_catalog", handle: listCatalog},
	}
}

const (
	registryTokenLife = 5 * time.Minute
	catalogPage       = 100 // repositories of a catalogue page without n
)

// grant is the access of a registry token to one resource.
type grant struct {
	Type    string   `json:"type"`
	Name    string   `json:"name"`
	Actions []string `json:"actions"`
}

// claims are the contents of a registry token.
type claims struct {
	Audience string  `json:"aud"`
	Subject  string  `json:"sub"`
	Issued   int64   `json:"iat"`
	Expires  int64   `json:"exp"`
	Access   []grant `json:"access"`
}

// DisableRegistryTagDelete turns off the registry's feature tag_delete: the registry then rejects
// deletions by tag.
func (s *Server) DisableRegistryTagDelete() {
	s.edit()
	defer s.mu.Unlock()
	s.store.tagDeleteOff = true
}

// registryError returns the error body of the registry and of its token endpoint.
func registryError(status int, code, message string) response {
	problem := []map[string]any{{"code": code, "message": message, "detail": nil}}
	return response{status: status, doc: map[string]any{"errors": problem}}
}

// authenticateNative accepts basic credentials at the token endpoint and registry tokens at the
// registry.
func (c *call) authenticateNative() *response {
	if c.route.endpoint.Base == "registry" {
		return c.authenticateRegistry()
	}
	name, password, _ := c.r.BasicAuth()
	known, found := c.store.tokens[password]
	if _, fine := known.permissions(); !found || fine || known.scheme == "access_token" && !strings.EqualFold(known.user.Username, name) {
		a := registryError(http.StatusUnauthorized, "UNAUTHORIZED", "HTTP Basic: Access denied.")
		a.set("WWW-Authenticate", `Basic realm="registry"`)
		return &a
	}
	c.user, c.job = known.user, known.project
	return nil
}

// issueRegistryToken returns a token for the requested scopes that the user may use, or a 403 if
// there are none.
func issueRegistryToken(c *call) response {
	if c.text("service") != "container_registry" {
		return rejected(http.StatusBadRequest, "service does not have a valid value")
	}
	now := c.server.now()
	token := claims{Audience: "container_registry", Subject: c.user.Username, Issued: now.Unix(), Expires: now.Add(registryTokenLife).Unix()}
	for _, scope := range strings.Fields(strings.Join(c.params["scope"], " ")) {
		kind, rest, _ := strings.Cut(scope, ":")
		at := strings.LastIndex(rest, ":")
		if at < 0 {
			return registryError(http.StatusBadRequest, "UNSUPPORTED", "scope is invalid: "+scope)
		}
		g := grant{Type: kind, Name: rest[:at]}
		for action := range strings.SplitSeq(rest[at+1:], ",") {
			if c.mayAccess(kind, g.Name, action) {
				g.Actions = append(g.Actions, action)
			}
		}
		if g.Actions != nil {
			token.Access = append(token.Access, g)
		}
	}
	if token.Access == nil {
		return registryError(http.StatusForbidden, "DENIED", "access forbidden")
	}
	return ok(NewDocument("RegistryToken").Set("token", c.server.sign(token)))
}

// mayAccess reports whether a user may perform an action at the registry. Pushing and deleting need
// a Developer, the catalogue an administrator.
func (c *call) mayAccess(kind, name, action string) bool {
	if kind == "registry" {
		return name == "catalog" && action == "*" && c.user.Admin && c.job == nil
	}
	p := c.store.imageProject(name)
	if kind != "repository" || p == nil || c.job != nil && c.job != p || !p.registryReadableBy(c.user) {
		return false
	}
	return action == "pull" || slices.Contains([]string{"push", "delete", "*"}, action) && p.role(c.user) >= Developer
}

// imageProject returns the project that contains an image path.
func (s *store) imageProject(image string) *Project {
	i := slices.IndexFunc(s.projects, func(p *Project) bool { return strings.EqualFold(p.Path, image) || within(image, p.Path) })
	if i < 0 {
		return nil
	}
	return s.projects[i]
}

// sign returns a JSON web token signed with HMAC-SHA-256.
func (s *Server) sign(c claims) string {
	part := func(v any) string {
		data, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(data)
	}
	text := part(map[string]string{"alg": "HS256", "typ": "JWT"}) + "." + part(c)
	return text + "." + s.signature(text)
}

func (s *Server) signature(text string) string {
	mac := hmac.New(sha256.New, []byte(s.store.signingKey))
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// verify parses a token of this server that has not expired.
func (s *Server) verify(token string) (c claims, valid bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || !hmac.Equal([]byte(parts[2]), []byte(s.signature(parts[0]+"."+parts[1]))) {
		return c, false
	}
	data, _ := base64.RawURLEncoding.DecodeString(parts[1])
	return c, json.Unmarshal(data, &c) == nil && s.now().Unix() < c.Expires
}

// authenticateRegistry requires a registry token for the scope of the route.
func (c *call) authenticateRegistry() *response {
	need := grant{"repository", c.args["image_path"], []string{"delete"}}
	if need.Name == "" {
		need = grant{"registry", "catalog", []string{"*"}}
	}
	bearer, _ := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer ")
	token, valid := c.server.verify(bearer)
	allowed := slices.ContainsFunc(token.Access, func(g grant) bool {
		return g.Type == need.Type && g.Name == need.Name && (slices.Contains(g.Actions, need.Actions[0]) || slices.Contains(g.Actions, "*"))
	})
	if valid && allowed {
		c.user = c.store.userByName(token.Subject)
		return nil
	}
	challenge := `Bearer realm="` + c.server.RegistryAuthURL + `/jwt/auth",service="container_registry",scope="` +
		need.Type + ":" + need.Name + ":" + need.Actions[0] + `"`
	switch {
	case valid:
		challenge += `,error="insufficient_scope"`
	case bearer != "":
		challenge += `,error="invalid_token"`
	}
	a := registryError(http.StatusUnauthorized, "UNAUTHORIZED", "authentication required")
	a.set("WWW-Authenticate", challenge)
	a.set("Docker-Distribution-Api-Version", "registry/2.0")
	return &a
}

// deleteManifest removes a tag. The Accept header must name the manifest's media type, of any
// vendor.
func deleteManifest(c *call) response {
	if !slices.ContainsFunc(listed(c.r.Header, "Accept"), isManifestType) {
		return registryError(http.StatusNotAcceptable, "UNSUPPORTED", "Accept must name the media type of the image manifest, version 2")
	}
	return deleteReference(c)
}

func isManifestType(accepted string) bool {
	kind, _, _ := strings.Cut(accepted, ";")
	matched, _ := regexp.MatchString(`^application/vnd\.[a-z0-9-]+\.distribution\.manifest\.v2\+json$`, strings.TrimSpace(kind))
	return matched
}

// deleteReference removes a tag by its name, or all tags of an image by its digest.
func deleteReference(c *call) response {
	list := c.store.registryRepositories()
	i := slices.IndexFunc(list, func(r *RegistryRepository) bool { return r.Path == c.args["image_path"] })
	if c.store.tagDeleteOff {
		return registryError(http.StatusMethodNotAllowed, "UNSUPPORTED", "The operation is unsupported.")
	}
	if i < 0 {
		return registryError(http.StatusNotFound, "NAME_UNKNOWN", "repository name not known to registry")
	}
	var gone []*registryTag
	for _, t := range list[i].tags {
		if t.name == c.args["tag"] || t.doc.text("digest") == c.args["tag"] {
			gone = append(gone, t)
		}
	}
	if gone == nil {
		return registryError(http.StatusNotFound, "MANIFEST_UNKNOWN", "manifest unknown")
	}
	if slices.ContainsFunc(gone, func(t *registryTag) bool { return list[i].project.registry.isProtected(t.name) }) {
		return registryError(http.StatusForbidden, "DENIED", "requested access to the resource is denied")
	}
	list[i].remove(gone...)
	a := response{status: http.StatusAccepted, body: []byte{}}
	a.set("Docker-Distribution-Api-Version", "registry/2.0")
	return a
}

// listCatalog lists all repositories by path: n at a time, after last, with a relative Link to the
// rest.
func listCatalog(c *call) response {
	n := catalogPage
	if c.r.URL.Query().Has("n") {
		var err error
		if n, err = strconv.Atoi(c.text("n")); err != nil || n <= 0 {
			return registryError(http.StatusBadRequest, "PAGINATION_NUMBER_INVALID", "invalid number of results requested")
		}
	}
	list := c.store.registryRepositories()
	slices.SortFunc(list, func(a, b *RegistryRepository) int { return cmp.Compare(a.Path, b.Path) })
	names := []string{}
	for _, r := range list {
		if r.Path > c.text("last") {
			names = append(names, r.Path)
		}
	}
	more := len(names) > n
	names = names[:min(n, len(names))]
	a := ok(singleField{"repositories", names})
	a.set("Docker-Distribution-Api-Version", "registry/2.0")
	if more {
		query := url.Values{"last": {names[n-1]}, "n": {strconv.Itoa(n)}}
		a.set("Link", "</v2/_catalog?"+query.Encode()+`>; rel="next"`)
	}
	return a
}
