// Package throttle delays requests to spare a server, and limits retries. It knows no request, no
// client and no credential: callers pass the Key of a request and the Quota of its route.
//
// The decisions about waits and budgets:
//
//   - The retry budget is 40 retries. Each retry takes one from the budget. A retry that succeeds
//     returns one, and a first attempt that succeeds returns a tenth. So a dead server gets few
//     requests more than there are calls. Rejected: a share of recent calls, which needs a window
//     of time and does not stop a short burst.
//   - A request that a server refused because an HTTP/2 connection has too many streams takes
//     nothing from the retry budget: the server works, and reports that it did not process the
//     request. Otherwise a burst over its limit of streams would fail calls.
//   - A wait that a server announces delays new requests for an hour at most, so that an absurd
//     header cannot shut a client down. Every call still fails immediately if the wait is longer
//     than its policy or its context allows.
//   - A wait is announced for the origin, or only for the route if that has a quota.
//   - A quota delays only what the server would certainly refuse: an object that was counted
//     before, a route whose limit a response has shown, a call within the window of the last one.
//     A request that the server may accept is sent.
//   - Pacing delays no call while the calls fit into the window: only callers that have waited for
//     a window are paced in it. Rejected: to spread every window, which delays a caller of few
//     calls.
//   - Half of a paced window is sent immediately. The rest is spread while more callers wait or
//     have requests in flight than requests are left, so that the end of a job is not delayed.
//   - What other clients use is seen in responses: less is left than this client can have used. The
//     rest of the window is then divided in the proportion of what all have used.
//   - A wait of pacing that is too long for a call does not begin. The call is sent, since only the
//     server knows that it refuses it.
//   - RateLimit-Limit is not read: it is converted to a minute, and Remaining is of the real
//     period.
//   - Quotas are counted by the server's clock, from the Date of its responses.
//   - Dates in Retry-After are compared with the Date of the same response, so that a wrong clock
//     does no harm. RateLimit-Reset is read as a Unix time if it is large and as seconds if it is
//     small: both are in use.
//   - Waits that a server requests get jitter of a tenth, a second at most, and only upwards. A
//     backoff is spread over half to one and a half of its value. Rejected: full jitter (from
//     zero), which sends some retries immediately; equal jitter, which spreads too little.
package throttle
