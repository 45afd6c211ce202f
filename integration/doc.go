// Package integration tests the client against real parts between a client and a server, each in a
// separate folder. `go test ./...` in this folder runs the tests. nginx and redis-server must be on
// the PATH (`apt-get install nginx redis-server`); realclients documents its own needs. `go run
// ./soak -for 10m` is the long run.
package integration
