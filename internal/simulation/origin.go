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
	movedPrefix = "/moved" // a path of the server that serves the same as without it
	otherPrefix = "/call/" // of the other origin, with the call that was sent there
	backPrefix  = "/back/" // of the other origin, which redirects home
)

// target is the Location of a redirect, or the address in a link.
func (p *passage) target(t Target) string {
	uri, id := p.r.URL.RequestURI(), p.e.Call
	if p.e.Origin == "other" {
		id = p.e.Call
	}
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

// relink lets the link to the next page lead elsewhere. A page without one gets one.
func (p *passage) relink(f Fault, header http.Header) {
	var links []string
	for link := range strings.SplitSeq(header.Get("Link"), ", ") {
		if link != "" && !strings.Contains(link, `rel="next"`) {
			links = append(links, link)
		}
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
	case Other: // as a server behind a proxy does, whose links name its own host
		if page, err := strconv.Atoi(header.Get("X-Next-Page")); err == nil {
			query := p.r.URL.Query()
			query.Set("page", strconv.Itoa(page))
			links[len(links)-1] = fmt.Sprintf(`<%s%s%s?%s>; rel="next"`, p.world.scheme(), otherHost, p.r.URL.EscapedPath(), query.Encode())
			header.Set("Link", strings.Join(links, ", "))
		}
	}
}

// other is the handler of the other origin: what is moved there is served as the server would serve
// it to an administrator, without asking for a credential, as a signed address of a file store is.
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

// serve starts a server of the world's own at an address. TLS is where the address has its port.
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
