// Package simulation runs the real client against forgetest in a world of its own: a network in
// memory, servers, and the faults of a plan, inside a bubble of testing/synctest, where time is
// virtual and starts in the year 2000.
//
// A [WorldPlan] is drawn before the bubble opens, is plain data, and says everything that will go
// wrong. [Run] opens the bubble, starts the world, runs a program in it, closes everything, and
// returns what the world found: a panic of the program, and connections, goroutines and buffers
// that are left. What the program finds is its own matter; [World.Wire] tells it all requests that
// servers saw, [World.Events] and [World.Rows] the rest.
//
// # The network
//
// A connection is two flows (flow.go). Each piece that is written gets the time at which it arrives,
// and the reader waits for it. So nothing but Read waits: net/http holds a mutex while it writes,
// and a goroutine that waits for a mutex would stop virtual time. For the same reason no mutex is
// held here while something waits, and none in forgetest. Marks in a flow make a byte the place
// where it is cut, reset, stalled, slowed, changed or repeated on delivery.
//
// # Faults
//
// A [Fault] is keyed by what it hits: the call (the header X-Call and the context of a dial, see
// [World.Call]), the page of a list, the attempt, the point on the way. Which request arrives first
// does not matter, so that a plan means the same in every run. Faults act in a handler in front of
// forgetest's own (front.go), which knows its connection, in the dial function (dial.go), and in
// what a client writes (dial.go, AtHead). At a byte of a body they act on the content, at a byte of
// the header on the bytes of the connection: over TLS those are encrypted, and a changed one ends
// the connection; over HTTP/2 they may be another request's. [Exchange.Struck] tells both.
//
// Three things cannot be otherwise. A byte that is changed in a download without a checksum is
// delivered, as nobody can see it. A row that is deleted between two pages by offset makes the list
// miss another one. A fault AtHead is on the wire as Lost, because no server sees the request.
//
// # Time
//
// The clock of a bubble starts at midnight UTC on 2000-01-01, and nothing may be dated later:
// the certificate of all servers is valid from 1990 on. Clients tell a Unix time in RateLimit-Reset
// from a number of seconds by its size, so that the fault [ResetUnix] comes from a server whose
// clock is 30 years ahead.
//
// # Buffers
//
// [WatchBuffers] takes the place of the client's pools (internal/bufpool). What is given back is
// overwritten, and the latest is handed out first, so that a buffer with two owners is noticed.
package simulation
