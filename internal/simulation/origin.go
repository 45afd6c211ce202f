package simulation

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	movedPrefix = "/moved" // a path prefix that the server ignores
	otherPrefix = "/call/" // a path of the other origin, followed by the call that was redirected
	backPrefix  = "/back/" // a path of the other origin that redirects back
)

// target returns the Location of a redirect, or the address of a link.
func (p *passage) target(t Target) string {
	uri, id := p.r.URL.RequestURI(), p.e.Call
	scheme, host := p.world.scheme(), p.r.Host
	switch t {
	case Moved:
		return movedPrefix + p.r.URL.EscapedPath()
	case Other:
		return scheme + otherHost + otherPrefix + url.PathEscape(id) + uri
	case Back:
		return scheme + otherHost + backPrefix + url.PathEscape(id) + uri
	case Itself:
		return uri
	case Start:
		query := p.r.URL.Query()
		for _, name := range positions {
			query.Del(name)
		}
		query.Set("page", "1")
		return p.r.URL.EscapedPath() + "?" + query.Encode()
	case Downgrade:
		return "http://" + host + uri
	case Userinfo:
		return scheme + "user:password@" + host + uri
	case Unparsable:
		return "http://[::1"
	}
	return ""
}

// relink replaces the link to the next page. It adds a link to a page without one.
func (p *passage) relink(f Fault, header http.Header) {
	var links []string
	next := ""
	for link := range strings.SplitSeq(header.Get("Link"), ", ") {
		if strings.Contains(link, `rel="next"`) {
			next = link
		} else if link != "" {
			links = append(links, link)
		}
	}
	switch {
	case f.Target == Extended && next != "":
		header.Set("Link", strings.Replace(header.Get("Link"), next, strings.Replace(next, ">;", "&extra=1>;", 1), 1))
		return
	case f.Target == Extended:
		return
	case f.Target == Unchanged:
		for _, name := range []string{"X-Page", "X-Next-Page", "X-Prev-Page", "X-Per-Page", "X-Total", "X-Total-Pages"} {
			header.Del(name)
		}
		if next != "" {
			header.Set("Link", strings.Join(append(links, fmt.Sprintf(`<%s>; rel="first"`, p.target(Start)), next), ", "))
		}
		return
	}
	links = append(links, fmt.Sprintf(`<%s>; rel="next"`, p.target(f.Target)))
	header.Set("Link", strings.Join(links, ", "))
	if header.Get("X-Page") == "" {
		return
	}
	switch f.Target {
	case Itself:
		header.Set("X-Next-Page", header.Get("X-Page"))
	case Start:
		header.Set("X-Next-Page", "1")
	case Nowhere, Unparsable:
		header.Set("X-Next-Page", "")
	case Other: // like a server behind a proxy, whose links have its own host
		if page, err := strconv.Atoi(header.Get("X-Next-Page")); err == nil {
			query := p.r.URL.Query()
			query.Set("page", strconv.Itoa(page))
			links[len(links)-1] = fmt.Sprintf(`<%s%s%s?%s>; rel="next"`, p.world.scheme(), otherHost, p.r.URL.EscapedPath(), query.Encode())
			header.Set("Link", strings.Join(links, ", "))
		}
	}
}

// other is the handler of the other origin. It serves a redirected request as the server would
// serve it to an administrator, and requires no credential, as a signed address of a file store
// does.
type other struct{ world *World }

func (o *other) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if rest, back := strings.CutPrefix(r.URL.EscapedPath(), backPrefix); back {
		_, path, _ := strings.Cut(rest, "/")
		w.Header().Set("Location", o.world.Server.URL+movedPrefix+"/"+path)
		w.WriteHeader(http.StatusFound)
		return
	}
	rest, moved := strings.CutPrefix(r.URL.EscapedPath(), otherPrefix)
	_, path, _ := strings.Cut(rest, "/")
	if !moved {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	forward := r.Clone(r.Context())
	forward.URL.Path, forward.URL.RawPath = "/"+path, ""
	if plain, err := url.PathUnescape("/" + path); err == nil && plain != "/"+path {
		forward.URL.Path, forward.URL.RawPath = plain, "/"+path
	}
	forward.Header.Set("PRIVATE-TOKEN", o.world.Server.Token)
	o.world.below.ServeHTTP(w, forward)
}

// serve starts one of the world's own servers at an address. It uses TLS at port 443.
func (w *World) serve(address, origin string, handler http.Handler) {
	server := &http.Server{
		Handler: &front{world: w, origin: origin, next: handler}, ConnContext: connContext, ErrorLog: silent(),
		BaseContext: func(net.Listener) context.Context { return w.ctx },
	}
	w.prepare(server)
	var l net.Listener = w.net.listen(address)
	if strings.HasSuffix(address, ":443") {
		l = w.wrap(l)
	}
	w.serving.Go(func() { _ = server.Serve(l) })
	w.servers = append(w.servers, server)
}
