// Package realclients drives clients that others wrote against forgetest: python-gitlab as Debian has it, @gitbeaker/rest
// and client-go. Each calls every endpoint of the contract that it has, and the test compares what it saw with what the
// server holds. `apt-get install python3-gitlab nodejs npm` and `npm ci` in this folder put them there; without one of
// them its test is skipped.
package realclients
