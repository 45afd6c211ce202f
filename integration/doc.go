// Package integration tests the client against real parts between a client and a server, each in a
// separate folder. `go test ./...` in this folder runs the tests. nginx must be on the PATH
// (`apt-get install nginx`); realclients documents its own needs.
package integration
