package forgetest

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// Status responds with a status code and an error body, without executing the call. 204, 205 and
// 304 have no body. The codes 520 to 527 and 530 are those of the proxies of a content delivery
// network, and have the text that these proxies send.
//
// An interim code (100 to 199) is sent alone: after 101 the connection stays open and silent, as
// if it had switched to another protocol; after the others it is closed without a final
// response. [Informational] sends one before the real response.
func Status(code int) Fault {
	return StatusMessage(code, fmt.Sprintf("%d %s", code, statusText(code)))
}

// StatusMessage responds as [Status] does, with the given message in the body:
// StatusMessage(409, "Resource lock").
func StatusMessage(code int, message string) Fault {
	if code < 200 {
		return Fault{kind: unfinished, status: code}
	}
	return Fault{kind: replace, status: code, make: func(*Server, *http.Request) response {
		a := failure(code, "%s", message)
		switch code {
		case http.StatusNoContent, http.StatusResetContent, http.StatusNotModified:
			a.doc = nil
		}
		a.encode(encoder{})
		return a
	}}
}

// Informational sends an interim response (103 Early Hints, with a Link header that names no page),
// then executes the call and sends the final response.
func Informational(code int) Fault { return Fault{kind: interim, status: code} }

// OverrideStatus executes the call and sends its response, body included, with another status code,
// for example 206 or 226 for a complete response, or 202 instead of 201.
func OverrideStatus(code int) Fault { return Fault{kind: restate, status: code} }

// RefuseKeyset responds 405 to requests for keyset pagination, like servers that do not support it
// for the list. Other requests are not affected, and Times and After do not count them.
func RefuseKeyset() Fault {
	f := Status(http.StatusMethodNotAllowed)
	f.only = func(r *http.Request) bool { return r.URL.Query().Get("pagination") == "keyset" }
	return f
}

// proxyStatus has the texts of the codes that net/http does not know.
var proxyStatus = map[int]string{
	520: "Web Server Returned an Unknown Error", 521: "Web Server Is Down", 522: "Connection Timed Out", 523: "Origin Is Unreachable",
	524: "A Timeout Occurred", 525: "SSL Handshake Failed", 526: "Invalid SSL Certificate", 527: "Railgun Error", 530: "Origin DNS Error",
}

func statusText(code int) string { return orElse(proxyStatus[code], http.StatusText(code)) }

// sendInterim sends the interim response. Headers that are already set are sent with it and with
// the final response.
func sendInterim(w http.ResponseWriter, code int) {
	w.Header().Set("Link", "</assets/style.css>; rel=preload; as=style")
	w.WriteHeader(code)
	w.Header().Del("Link")
}

// sendUnfinished writes an interim response without a final one, which net/http does not
// support. After 101 it waits until the client disconnects or the server stops.
func sendUnfinished(w http.ResponseWriter, r *http.Request, code int) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = conn.Close() }()
	upgrade := ""
	if code == http.StatusSwitchingProtocols {
		upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
		defer context.AfterFunc(r.Context(), func() { _ = conn.Close() })()
	}
	_, err = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\n%s\r\n", code, statusText(code), upgrade)
	if err == nil && upgrade != "" {
		_, _ = io.Copy(io.Discard, conn)
	}
}
