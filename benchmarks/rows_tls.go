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
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"

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

// callsOf returns a work that sends 2,000 calls of 64 goroutines with a new client, so that no
// connection is open before.
func callsOf(goroutines, calls int, build func() (do work, closeIdle func())) work {
	return func(ctx context.Context, d *digest) error {
		do, closeIdle := build()
		defer closeIdle()
		d.count++
		return atOnce(ctx, do, goroutines, calls)
	}
}

func tlsContenders(address tlsAddress, goroutines, calls int) ([]contender, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(address.Certificate) {
		return nil, errors.New("the server has no certificate")
	}
	hand := func(t *http.Transport) (work, func()) {
		return newHand(address.URL, trusted(t, pool)).tag, t.CloseIdleConnections
	}
	return []contender{
		{forgeName, callsOf(goroutines, calls, func() (work, func()) {
			c := newOurs(address.URL, forge.WithRootCAs(pool))
			return c.tag, c.client.CloseIdleConnections
		})},
		{handName, callsOf(goroutines, calls, func() (work, func()) { return hand(tuned(goroutines)) })},
		{defaultPool, callsOf(goroutines, calls, func() (work, func()) { return hand(transport().(*http.Transport)) })},
		{peerName, callsOf(goroutines, calls, func() (work, func()) {
			t := trusted(peerTransport(), pool)
			return newPeer(address.URL, withTransport(t)).tag, t.CloseIdleConnections
		})},
	}, nil
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
		contenders, err := tlsContenders(address, goroutines, calls)
		if err != nil {
			return nil, err
		}
		taken, opened, err := b.turnsOpened(ctx, race{times: 1}, b.scaled(7, 3), contenders)
		if err != nil {
			return nil, err
		}
		count := line{what: protocol.name + ", handshakes", show: showCount, ours: middle(opened[forgeName]), hand: middle(opened[handName]), peer: middle(opened[peerName])}
		lines = append(lines, count,
			line{what: protocol.name + ", handshakes, by hand: " + defaultPool, show: showCount, ours: count.ours, hand: middle(opened[defaultPool])})
		for _, figure := range []struct {
			name string
			pick metric
		}{{"wall", wall}, {"CPU", cpu}} {
			lines = append(lines, lineOf(taken, forgeName, protocol.name+", "+figure.name, figure.pick, showTime),
				line{what: protocol.name + ", " + figure.name + ", by hand: " + defaultPool, show: showTime, ours: taken[forgeName].of(figure.pick), hand: taken[defaultPool].of(figure.pick)})
		}
	}
	return lines, nil
}

// turnsOpened lets the contenders take turns, and also returns how many connections each turn has
// opened.
func (b *bench) turnsOpened(ctx context.Context, r race, rounds int, contenders []contender) (map[string]median, map[string][]float64, error) {
	taken, opened := map[string]median{}, map[string][]float64{}
	for round := range rounds {
		for turn := range contenders {
			c := contenders[(turn+round)%len(contenders)]
			if _, err := b.opened(ctx); err != nil {
				return nil, nil, err
			}
			f, err := r.turn(ctx, c)
			if err != nil {
				return nil, nil, err
			}
			n, err := b.opened(ctx)
			if err != nil {
				return nil, nil, err
			}
			taken[c.name], opened[c.name] = append(taken[c.name], f), append(opened[c.name], n-1) // without this query
		}
	}
	return taken, opened, nil
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
