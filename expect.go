package forge

import (
	"crypto/tls"
	"net"
	"net/http"
)

// expectAbove is the size in bytes from which a body waits until the server asks for it. One that refuses it, as too large or for its
// token, may close the connection under a body that is being sent, and the answer would be lost to a broken pipe.
const expectAbove = 64 << 10

// expect makes a large body wait.
func expect(req *http.Request) {
	if req.ContentLength > expectAbove {
		req.Header["Expect"] = []string{"100-continue"}
		req.ProtoMajor, req.ProtoMinor = 1, 1 // without which net/http sends the header and does not wait
	}
}

// expectLess sends the body at once over HTTP/2, where a refusal does not close the connection, and nginx leaves Expect unanswered.
func expectLess(header http.Header, conn net.Conn) {
	if t, secure := conn.(*tls.Conn); secure && header["Expect"] != nil && t.ConnectionState().NegotiatedProtocol == "h2" {
		delete(header, "Expect")
	}
}

// mayDropExpect reports whether a 417 can be mended by sending the body at once (RFC 9110 §10.1.1).
func (c *call) mayDropExpect() bool {
	return c.last.status == http.StatusExpectationFailed && !c.noExpect && c.body != nil && c.body.size > expectAbove
}
