// Package toxiproxy tests the client behind a fault proxy, which runs in the test process in front
// of a server that counts effects.
package toxiproxy
