package forge

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/forge-sdk/forge-go/internal/credential"
)

const maxRedirects = 5

// redirectStep follows redirects by the package's own rules: net/http would turn a PUT into a GET,
// and send PRIVATE-TOKEN to any host that a response names. A request to the client's own origin
// has all headers. One to another origin, or after one, has User-Agent, Accept and Accept-Encoding,
// and neither a credential nor Sudo nor a header of the caller. The exchange has redacted Location:
// an address that quotes the token leads nowhere.
type redirectStep struct{ next exchangeStep }

// hop is one request of an attempt.
type hop struct {
	url       *url.URL
	offOrigin bool // the address, or a redirect that led to it, is not on the client's own origin
}

func (s redirectStep) do(ctx context.Context, a attempt, d delivery, auth authorization) *result {
	to := hop{url: &a.url}
	for hops := 0; ; hops++ {
		r := s.next.do(ctx, a, d, to, auth)
		if !isRedirect(r.status) {
			return r
		}
		next, reason := redirectTarget(a, to.url, r)
		if hops == maxRedirects {
			reason = "the server redirects more than 5 times: check the base URL and the credential"
		}
		switch {
		case reason != "":
			r.err, r.permanent, r.resp = &sentinelError{sentinel: ErrRedirect, text: reason}, true, nil
			return r
		case r.err != nil: // its body did not arrive
			r.status, r.sent = 0, false
			return r
		}
		d = r.delivery
		to = hop{next, to.offOrigin || !sameOrigin(&a.url, next)}
		if d.target, d.offOrigin = next, to.offOrigin; !to.offOrigin {
			d.movedTo = next
		}
	}
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// redirectTarget returns the address that a redirect leads to, or the reason why it must not be
// followed.
func redirectTarget(a attempt, from *url.URL, r *result) (next *url.URL, reason string) {
	location := r.header.Get("Location")
	next, err := from.Parse(location)
	safeMethod := a.route().Method == http.MethodGet || a.route().Method == http.MethodHead
	switch {
	case location == "":
		return nil, "the server redirects without an address"
	case err != nil || next.Host == "":
		return nil, "the server redirects to an address that cannot be parsed"
	case next.User != nil:
		return nil, "the server redirects to an address with a user or password"
	case r.status == http.StatusSeeOther && !safeMethod:
		return nil, "the server responds to a write with 303, so the result of the write is not known"
	}
	next.Fragment, next.RawFragment = "", ""
	if sameOrigin(&a.url, next) && sameOrigin(&a.url, from) {
		if next.RawQuery == "" {
			// GitLab announces a moved project without the query. A list needs its filters.
			next.RawQuery = from.RawQuery
		}
		return next, ""
	}
	host := a.redactor(r.token).safeText(next.Scheme+"://"+next.Host, 256)
	switch {
	case a.options.kind != kindStream && (a.options.kind != kindRaw || isAPIPath(next)):
		return nil, "the server redirects to " + host + ", which is not the client's origin: if the server has moved there, pass that address to NewClient"
	case safeMethod && a.body != nil:
		return nil, "the server redirects a request with a body to " + host + ", which is not the client's origin"
	case !safeMethod:
		return nil, "the server redirects a write to " + host + ", which is not the client's origin"
	case next.Scheme != "https" && !mayUsePlainHTTP(a.call, next):
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
func mayUsePlainHTTP(c *call, next *url.URL) bool {
	return next.Scheme == "http" && c.url.Scheme == "http" &&
		(c.core().config.plainHTTP || c.request.auth.Kind() == credential.Anonymous)
}
