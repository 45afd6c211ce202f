package conn

import (
	"crypto/tls"
	"net"
	"net/http"
)

// minExpectSize is the size in bytes above which a body waits until the server requests it. A
// server that refuses the body, as too large or for its token, may close the connection during the
// upload, and the response would be lost to a broken pipe.
const minExpectSize = 64 << 10

// ExpectContinue makes a large body wait, and reports whether it does.
func ExpectContinue(req *http.Request) bool {
	if req.ContentLength <= minExpectSize {
		return false
	}
	req.Header["Expect"] = []string{"100-continue"}
	req.ProtoMajor, req.ProtoMinor = 1, 1 // otherwise net/http sends the header and does not wait
	return true
}

// dropExpectOnHTTP2 makes net/http send the body immediately over HTTP/2, where a refusal does not
// close the connection and nginx does not respond to Expect.
func dropExpectOnHTTP2(header http.Header, conn net.Conn) {
	t, secure := conn.(*tls.Conn)
	if secure && header["Expect"] != nil && t.ConnectionState().NegotiatedProtocol == "h2" {
		delete(header, "Expect")
	}
}
