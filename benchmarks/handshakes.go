package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"

	"github.com/forge-sdk/forge-go"
)

// tlsAddress is what the server process reports about its TLS server.
type tlsAddress struct {
	URL         string
	Certificate []byte // PEM
}

// startTLS starts a server with the same responses that is reached over TLS.
func startTLS(handler http.Handler, connState func(net.Conn, http.ConnState), http2 bool) tlsAddress {
	srv := httptest.NewUnstartedServer(handler)
	srv.EnableHTTP2 = http2
	srv.Config.ConnState, srv.Config.ErrorLog = connState, log.New(io.Discard, "", 0) // clients end surplus handshakes
	srv.StartTLS()
	return tlsAddress{srv.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})}
}

// trusted returns t with the authorities, in place of those of the system.
func trusted(t *http.Transport, pool *x509.CertPool) *http.Transport {
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t
}

// peerTransport returns a transport with the pool that the peer has by itself.
func peerTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = runtime.GOMAXPROCS(0) + 1
	return t
}

// newClient makes a client, and returns its call and how to close its idle connections.
type newClient func() (do work, closeIdle func())

// callsOf returns a work that sends calls of several goroutines with a new client, so that no
// connection is open before.
func callsOf(goroutines, calls int, build newClient) work {
	return func(ctx context.Context, d *digest) error {
		do, closeIdle := build()
		defer closeIdle()
		d.add("", "", 0, 0)
		return atOnce(ctx, do, goroutines, calls)
	}
}

// tlsClients returns the contenders by name.
func tlsClients(address tlsAddress, goroutines int) (map[string]newClient, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(address.Certificate) {
		return nil, errors.New("the server has no certificate")
	}
	hand := func(build func(string, http.RoundTripper) *byHand, n int) newClient {
		return func() (work, func()) {
			t := http.DefaultTransport.(*http.Transport).Clone()
			if n > 0 {
				t = pooled(n)
			}
			return build(address.URL, trusted(t, pool)).tag, t.CloseIdleConnections
		}
	}
	clients := map[string]newClient{
		forgeName: func() (work, func()) {
			c := newOurs(address.URL, forge.WithRootCAs(pool))
			return c.tag, c.client.CloseIdleConnections
		},
		handName: hand(newHand, goroutines), defaultPool: hand(newHand, 0),
		peerName: func() (work, func()) {
			t := trusted(peerTransport(), pool)
			return newPeer(address.URL, withTransport(t)).tag, t.CloseIdleConnections
		},
	}
	if hasV2 {
		clients[v2Name] = hand(newV2, goroutines)
	}
	return clients, nil
}

// handshakes measures 2,000 calls of 64 goroutines over TLS: the connections, each of which has a
// handshake, and the time. Each round has a new client.
func handshakes(ctx context.Context, b *bench) (lines []line, err error) {
	const goroutines = 64
	calls := b.scaled(2000, 1000)
	for _, protocol := range []struct{ name, path string }{{"HTTP/1.1", "tls1"}, {"HTTP/2", "tls2"}} {
		var address tlsAddress
		err := newHand(b.server, transport()).decode(ctx, http.MethodGet, b.at(protocol.path), http.NoBody, "", &address)
		if err != nil {
			return nil, err
		}
		clients, err := tlsClients(address, goroutines)
		if err != nil {
			return nil, err
		}
		var contenders, once []contender
		for _, name := range slices.Sorted(maps.Keys(clients)) {
			do, _ := clients[name]()
			once = append(once, contender{name, do})
			contenders = append(contenders, contender{name, callsOf(goroutines, calls, clients[name])})
		}
		if err := (race{sent: oneTag()}).agree(ctx, once); err != nil {
			return nil, err
		}
		taken, connections, err := b.countTurns(ctx, b.scaled(7, 3), contenders)
		if err != nil {
			return nil, err
		}
		lines = append(lines, connectionLines(connections, protocol.name+", handshakes")...)
		for i, l := range costs(taken, forgeName, "")[:2] {
			l.what = protocol.name + ", " + l.what
			pool := line{what: l.what + ", by hand with the " + defaultPool, show: showTime, ours: l.ours, hand: taken[defaultPool].of([]metric{wall, cpu}[i])}
			lines = append(lines, l, pool)
		}
	}
	return lines, nil
}

// countTurns lets the contenders take turns, and also returns how many connections each turn has
// opened.
func (b *bench) countTurns(ctx context.Context, rounds int, contenders []contender) (map[string]median, map[string][]float64, error) {
	taken, connections := map[string]median{}, map[string][]float64{}
	for round := range rounds {
		for turn := range contenders {
			c := contenders[(turn+round)%len(contenders)]
			var f figures
			n, err := openedBy(ctx, b.server, func(ctx context.Context) (err error) {
				f, err = race{times: 1}.turn(ctx, c, nil)
				return err
			})
			if err != nil {
				return nil, nil, err
			}
			taken[c.name], connections[c.name] = append(taken[c.name], f), append(connections[c.name], n)
		}
	}
	return taken, connections, nil
}

// sendTLS starts a TLS server and responds with its address.
func (s *server) sendTLS(w http.ResponseWriter, http2 bool) {
	text, err := json.Marshal(startTLS(s, s.countNew, http2))
	if err != nil {
		panic(err) // texts cannot fail
	}
	answer(w, text)
}

func (s *server) countNew(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		s.opened.Add(1)
	}
}
