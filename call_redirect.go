package forge

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/forge-sdk/forge-go/internal/credential"
)

const maxRedirects = 5

// followRedirects sends the request and follows redirects by the package's own rules: net/http
// would turn a PUT into a GET, and send PRIVATE-TOKEN to any host that a response names.
func (c *call) followRedirects() (*http.Response, error) {
	target, onOrigin := &c.url, true
	for hops := 0; ; hops++ {
		resp, err := c.sendRequest(target, onOrigin)
		if err != nil || !isRedirect(resp) {
			return resp, err
		}
		c.response.setRedirect(resp.StatusCode)
		c.drain(c.attempt.conn.Reader(resp.Body, drainBytes), resp)
		c.attempt.conn.Pause() // the next hop may have to wait for a token, or for the caller's file
		next, reason := c.redirectTarget(target, resp)
		if hops == maxRedirects {
			reason = "the server redirects more than 5 times: check the base URL and the credential"
		}
		if reason != "" {
			c.response.setPermanent()
			return nil, &sentinelError{sentinel: ErrRedirect, text: reason}
		}
		c.response.setRedirect(0)
		c.attempt.followed(!sameOrigin(&c.url, next), next)
		if onOrigin = onOrigin && sameOrigin(&c.url, next); onOrigin {
			c.redirectedTo = next
		}
		target = next
	}
}

func isRedirect(resp *http.Response) bool {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirectTarget returns the address that a redirect leads to, or the reason why it must not be
// followed.
func (c *call) redirectTarget(from *url.URL, resp *http.Response) (next *url.URL, reason string) {
	location := resp.Header.Get("Location")
	next, err := from.Parse(location)
	safeMethod := c.route().Method == http.MethodGet || c.route().Method == http.MethodHead
	switch {
	case location == "":
		return nil, "the server redirects without an address"
	case err != nil || next.Host == "":
		return nil, "the server redirects to an address that cannot be parsed"
	case next.User != nil:
		return nil, "the server redirects to an address with a user or password"
	case resp.StatusCode == http.StatusSeeOther && !safeMethod:
		return nil, "the server responds to a write with 303, so the result of the write is not known"
	}
	next.Fragment, next.RawFragment = "", ""
	if sameOrigin(&c.url, next) && sameOrigin(&c.url, from) {
		if next.RawQuery == "" {
			// GitLab announces a moved project without the query. A list needs its filters.
			next.RawQuery = from.RawQuery
		}
		return next, ""
	}
	host := c.safeText(next.Scheme+"://"+next.Host, 256)
	switch {
	case c.options.kind != kindStream && (c.options.kind != kindRaw || isAPIPath(next)):
		return nil, "the server redirects to " + host + ", which is not the client's origin: if the server has moved there, pass that address to NewClient"
	case safeMethod && c.body != nil:
		return nil, "the server redirects a request with a body to " + host + ", which is not the client's origin"
	case !safeMethod:
		return nil, "the server redirects a write to " + host + ", which is not the client's origin"
	case next.Scheme != "https" && !c.mayUsePlainHTTP(next):
		return nil, "the server redirects to " + host + ", which is not https"
	}
	return next, ""
}

// isAPIPath reports whether an address is one of an API. Without a credential, the API of a server
// that has moved would return the public items only, and the caller would not see the difference.
func isAPIPath(u *url.URL) bool { return strings.Contains(u.Path, "/api/") }

// mayUsePlainHTTP reports whether a download may be redirected to http. The client itself must use
// http, and must have no credential or the option WithPlainHTTP. A request to another origin never
// has a credential.
func (c *call) mayUsePlainHTTP(next *url.URL) bool {
	return next.Scheme == "http" && c.url.Scheme == "http" &&
		(c.core().config.plainHTTP || c.request.auth.Kind() == credential.Anonymous)
}
