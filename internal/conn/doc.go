// Package conn opens the connections of a client, and bounds how long an attempt waits for the
// server. It sees no credential, no route and no option of a call. Its inputs are parameters:
// [Limits] and [Counter].
//
// Its decisions, each with its reason and what was rejected:
//
//   - "Nothing was sent" means that the attempt had no connection (httptrace.GotConn). For a
//     caller's RoundTripper that reports no connections, only an error of dialing means it. A read
//     over such a transport is not traced, since it may be sent again in both cases.
//   - net/http never sends a request again by itself. Without the trace it does so without a limit
//     and without a report: one POST was sent 161 times in 3 s after GOAWAY. GetBody returns
//     [ErrNotProcessed], and a second connection within one request (GetConn, GotConn) ends the
//     attempt. Both mean that the server did not process the request, so the loop of the call
//     retries every class, and counts. GetConn alone is not enough, since net/http may have an idle
//     connection for the request. GotConn alone would wait for a connection that is then closed,
//     and would fail with the error of that connection. Rejected: no GetBody (requests without a
//     body are sent again anyway, and a routine GOAWAY would leave every write in doubt).
//   - A transport keeps up to 512 idle connections to a host. With fewer, a program with more
//     goroutines opens most of its connections again in each burst. Rejected: turns for dials
//     (they saved few connections of a cold burst, and cost a context for each request) and
//     MaxConnsPerHost (calls beyond it would wait).
//   - Clients without WithHTTPClient share one transport, created by the first of them: a
//     client costs microseconds, and idle connections are not multiplied.
//   - Large bodies wait (Expect: 100-continue, over HTTP/1.1 only). Otherwise it is a matter
//     of chance whether the client gets the response of a server that refuses a body and
//     closes the connection. Rejected: reading the response after a failed write, which
//     net/http does not offer.
//   - A bare io.EOF never leaves the package. In Go it means that everything was read. A caller
//     that checks for it would treat a lost connection as the end of the data.
//   - One [Context] serves one request. It has a timer only after the first call of Done, as
//     net/http makes it; a transport that responds from memory does not, which saves a ninth of a
//     small call. Without a timer, Err and TimeoutCause check the time themselves and report the
//     same end.
//   - The timer is not reset on every read. It fires early and is set again. Two resets for each
//     read showed in every profile. Rejected: a timer that several calls reuse, because a timer
//     from a testing/synctest bubble must not be used outside the bubble.
//   - The Context has a child of the standard library only after the first call of Done.
//     Rejected: a custom implementation, for which the standard library starts a goroutine
//     wherever another context is derived from it, as tracers do.
package conn
