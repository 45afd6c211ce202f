// Package contracttest holds the tests of the whole module: each endpoint, option, response field
// and document is checked against internal/catalogue, the machine-readable form of the contract.
//
// The tests use the exported API only. TestMain changes to the module's root, so paths are relative
// to it. The packages below are shared with the tests of the client: cases calls each endpoint
// through its typed method, callresult observes how a call ends.
package contracttest
