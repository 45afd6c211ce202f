// Package http2 tests the client over HTTP/2: against net/http's server, and against one that
// writes frames by hand.
package http2
