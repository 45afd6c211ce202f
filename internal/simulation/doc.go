// Package simulation runs the real client against forgetest in its own world: a network in memory,
// servers, and the faults of a plan. Each world is inside a bubble of testing/synctest, where time
// is virtual and starts in the year 2000.
//
// A [WorldPlan] is drawn before the bubble opens. It is plain data and has everything that will go
// wrong. [Run] opens the bubble, starts the world, runs a program in it, closes everything, and
// returns the violations: a panic of the program, and connections, goroutines and buffers that are
// still in use. The program checks its own results. [World.Wire] returns all requests that servers
// received, [World.Events] the dials and faults, and [World.Rows] the rows that faults added or
// deleted.
//
// A [Plan] adds the program to a WorldPlan: goroutines with steps. A [Step] is one call. A walk is
// one iteration over a list. [Play] runs a plan and checks its invariants. [Outcome.Story] prints a
// run.
//
// # The network
//
// A connection is two flows, one for each direction (flow.go). Each write gets the time at which it
// arrives, and the reader waits for it. So only Read waits: net/http holds a mutex while it writes,
// and a goroutine that waits for a mutex would stop virtual time. For the same reason neither this
// package nor forgetest holds a mutex while it waits. A mark in a flow is a byte at which the flow
// is closed, reset, stalled or slowed, or at which bytes are changed or sent twice.
//
// # Faults
//
// A [Fault] names the request that it hits: its call (the header X-Call and the context of a dial,
// see [World.Call]), the page of a list, the attempt, and the point at which it acts. The order in
// which requests arrive does not matter, so that a plan means the same in every run. Faults act in
// a handler in front of forgetest's own handler (front.go), which knows the connection; in the dial
// function (dial.go); and in the bytes that a client writes (dial.go, AtHead). A fault at a byte of
// a body acts on the content. A fault at a byte of the header acts on the bytes of the connection.
// Over TLS these are encrypted, and a changed byte ends the connection. Over HTTP/2 they may belong
// to another request; [Exchange.Struck] reports this.
//
// Three limits are intended. A changed byte in a download without a checksum is delivered, because
// no one can detect it. A row that is deleted between two pages by offset makes the list omit
// another row. A fault AtHead is on the wire as Lost, because no server receives the request.
//
// # Time
//
// The clock of a bubble starts at midnight UTC on 2000-01-01, and all data must be older. The
// certificate of all servers is valid from 1990. Clients decide by its size whether RateLimit-Reset
// is a Unix time or a number of seconds. So the fault [ResetUnix] comes from a server whose clock
// is 30 years ahead.
//
// # Buffers
//
// [WatchBuffers] replaces the client's pools (internal/bufpool). A returned buffer is overwritten,
// and the buffer that was returned last is handed out first, so that a buffer with two owners is
// found.
package simulation
