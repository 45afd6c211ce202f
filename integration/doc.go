// Package integration proves the client against the real parts that stand between it and a server, each in a
// folder of its own. `go test ./...` in this folder runs them; nginx and redis-server must be on the PATH, as
// `apt-get install nginx redis-server` puts them there; realclients says what it needs. `go run ./soak -for 10m` is the long run.
package integration
