package forge

import (
	"net/http"
	"net/url"

	"github.com/forge-sdk/forge-go/internal/credential"
)

const maxRedirects = 5

// exchange sends the request and follows redirects by the package's own rules: net/http's would turn a PUT into a GET, and
// carry PRIVATE-TOKEN to whatever host an answer names.
func (c *call) exchange() (*http.Response, error) {
	target, home := &c.url, true
	for hops := 0; ; hops++ {
		answer, err := c.hop(target, home)
		if err != nil || !isRedirect(answer) {
			return answer, err
		}
		c.last.status = answer.StatusCode
		c.drain(c.last.conn.Reader(answer.Body, drainBytes), answer)
		c.last.conn.Pause() // the next hop may have to wait for a token, or for the caller's file
		next, reason := c.follow(target, answer)
		if hops == maxRedirects {
			reason = "the server redirects more than 5 times"
		}
		if reason != "" {
			c.last.final = true
			return nil, &failure{sentinel: ErrRedirect, text: reason}
		}
		c.last.status, c.last.redirected, c.last.away = 0, true, !sameOrigin(&c.url, next)
		if home = home && sameOrigin(&c.url, next); home {
			c.moved = next
		}
		target = next
	}
}

func isRedirect(answer *http.Response) bool {
	switch answer.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// follow gives the address that a redirect leads to, or the reason why it must not be followed.
func (c *call) follow(from *url.URL, answer *http.Response) (next *url.URL, reason string) {
	location := answer.Header.Get("Location")
	next, err := from.Parse(location)
	safeMethod := c.route().method == http.MethodGet || c.route().method == http.MethodHead
	switch {
	case location == "":
		return nil, "the server redirects without an address"
	case err != nil || next.Host == "":
		return nil, "the server redirects to an address that cannot be parsed"
	case next.User != nil:
		return nil, "the server redirects to an address with a user or password"
	case answer.StatusCode == http.StatusSeeOther && !safeMethod:
		return nil, "the server answers a write with 303, so its result is not known"
	}
	next.Fragment, next.RawFragment = "", ""
	if sameOrigin(&c.url, next) && sameOrigin(&c.url, from) {
		if next.RawQuery == "" {
			// A moved project is announced without the query; without its filters a list would be another list.
			next.RawQuery = from.RawQuery
		}
		return next, ""
	}
	host := c.clean(next.Scheme+"://"+next.Host, 256)
	switch {
	case c.options.kind != kindOpen:
		return nil, "the server redirects to " + host + ", which is not the client's origin: if that is where it lives now, give its address to NewClient"
	case !safeMethod:
		return nil, "the server redirects a write to " + host + ", which is not the client's origin"
	case next.Scheme != "https" && !c.mayUsePlainHTTP(next):
		return nil, "the server redirects the download to " + host + ", which is not https"
	}
	return next, ""
}

// mayUsePlainHTTP reports whether a download may go on over http: where the client itself uses it,
// and either has no credential or was told to. The request to another origin has none anyway.
func (c *call) mayUsePlainHTTP(next *url.URL) bool {
	return next.Scheme == "http" && c.url.Scheme == "http" &&
		(c.core().config.plainHTTP || c.auth.Kind() == credential.Anonymous)
}
