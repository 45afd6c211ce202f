package forgetest

import (
	"net/http"
	"strings"
)

// credential describes a token; scheme is access_token or job_token.
type credential struct {
	scheme  string
	user    *User
	scopes  []string // of an access token; none means all
	project *Project // the only one that a job token has access to; nil for all
}

// authenticate finds the user of the request (Document 1 §5). It rejects an invalid credential even
// if the call requires none.
func (c *call) authenticate() *response {
	if c.route.endpoint.Base != "api" {
		return c.authenticateNative()
	}
	token, scheme := c.token()
	known, ok := c.store.tokens[token]
	switch {
	case token == "" && c.route.endpoint.accepts("none"):
		return nil
	case !ok, known.scheme != scheme, !c.route.endpoint.accepts(scheme), known.scheme == "job_token" && !c.takesJobs():
		return fail(failure(http.StatusUnauthorized, "401 Unauthorized"))
	}
	c.user, c.job = known.user, known.project
	if granted, fine := known.permissions(); fine {
		return c.permit(granted)
	}
	return c.inScope(known.scopes)
}

// token returns the token of the request, and the scheme of its header; "" if there is none.
func (c *call) token() (token, scheme string) {
	if token = c.r.Header.Get("PRIVATE-TOKEN"); token != "" {
		return token, "access_token"
	}
	if bearer, found := strings.CutPrefix(c.r.Header.Get("Authorization"), "Bearer "); found && bearer != "" {
		return bearer, "access_token"
	}
	return c.r.Header.Get("JOB-TOKEN"), "job_token"
}

// permissions returns the permissions of a fine-grained token; fine is false for others.
func (k credential) permissions() (granted []string, fine bool) {
	if len(k.scopes) == 0 {
		return nil, false
	}
	list, fine := strings.CutPrefix(k.scopes[0], fineGrained)
	return strings.Fields(list), fine
}

// takesJobs reports whether this release accepts job tokens for the endpoint: the changelog accepts
// them since 17.7 (Document 1 §4.3).
func (c *call) takesJobs() bool {
	return c.route.endpoint.ID != "repositories.generate_changelog" || c.server.release.has(release{17, 7})
}

// inScope rejects calls that the token's scopes do not allow. A call with a required scope accepts
// this scope or api, which includes every scope. The documents name only manage_runners; that api
// suffices is an interpretation. Deployed servers call the scope manage_runner.
func (c *call) inScope(scopes []string) *response {
	needed := c.route.endpoint.Auth.Scope
	for _, scope := range scopes {
		if scope == "api" || scope == "read_api" && c.r.Method == http.MethodGet && needed == "" ||
			scope == needed || scope == strings.TrimSuffix(needed, "s") {
			return nil
		}
	}
	if len(scopes) == 0 {
		return nil
	}
	accepted := "api"
	switch {
	case needed != "" && !c.server.neutral:
		accepted += " " + strings.TrimSuffix(needed, "s")
	case needed != "":
		accepted += " " + needed
	case c.r.Method == http.MethodGet:
		accepted = "read_api api"
	}
	return fail(response{status: http.StatusForbidden, doc: map[string]any{
		"error": "insufficient_scope", "scope": accepted,
		"error_description": "The request requires higher privileges than provided by the access token.",
	}})
}

// impersonate lets administrators act as another user (Document 1 §5 rule 3).
func (c *call) impersonate() *response {
	ref := c.params.Get("sudo")
	if ref == "" {
		ref = c.r.Header.Get("Sudo")
	}
	if ref == "" {
		return nil
	}
	if c.user == nil || !c.user.Admin {
		return fail(failure(http.StatusForbidden, "403 Forbidden - Must be admin to use sudo"))
	}
	u := c.store.findUser(ref)
	if u == nil {
		return fail(notFound("User with ID or username '" + ref + "'"))
	}
	c.user = u
	return nil
}

// authorize checks the role that the route requires in addition to read access.
func (c *call) authorize() *response {
	switch {
	case c.user != nil && c.user.Admin:
		return nil
	case c.route.admin:
		return fail(failure(http.StatusForbidden, "403 Forbidden"))
	case c.route.role == NoAccess, c.route.author && c.mr.writtenBy(c.user):
		return nil
	}
	role := NoAccess
	switch {
	case c.project != nil:
		role = c.project.role(c.user)
	case c.group != nil:
		role = c.group.role(c.user)
	}
	if role < c.route.role {
		return fail(failure(http.StatusForbidden, "403 Forbidden"))
	}
	return nil
}
