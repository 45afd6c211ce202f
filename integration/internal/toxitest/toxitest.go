// Package toxitest runs toxiproxy in the process of the test.
package toxitest

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Toxic is a fault of a connection, in toxiproxy's terms.
type Toxic struct {
	// Type is latency, reset_peer, limit_data, timeout, bandwidth or slicer.
	Type string `json:"type"`
	// Stream is downstream (responses, the default of toxiproxy) or upstream (requests).
	Stream string `json:"stream,omitempty"`
	// Toxicity is the share of the connections that have the fault; 0 means all.
	Toxicity float64 `json:"toxicity,omitempty"`
	// Attributes are the parameters of the type.
	Attributes map[string]int `json:"attributes"`
}

// Proxy stands in front of one server.
type Proxy struct {
	// Address is host and port.
	Address string

	server   *toxiproxy.ApiServer
	upstream string

	mu    sync.Mutex
	proxy *toxiproxy.Proxy
}

// Start starts a proxy on a free port of 127.0.0.1 in front of upstream, a host and port or an
// address. The caller must close it.
func Start(upstream string, toxics ...Toxic) (*Proxy, error) {
	p := &Proxy{
		Address:  "127.0.0.1:0",
		server:   toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
		upstream: strings.TrimPrefix(upstream, "http://"),
	}
	return p, p.up(toxics)
}

// URL returns the address for clients.
func (p *Proxy) URL() string { return "http://" + p.Address }

// Close stops the proxy and closes its connections.
func (p *Proxy) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proxy.Stop()
}

// Become closes all connections and uses other toxics for new ones, at the same address. (Toxics of
// an open connection can be replaced too, but some act only on connections that start with them.)
func (p *Proxy) Become(toxics ...Toxic) error {
	p.Close()
	return p.up(toxics)
}

func (p *Proxy) up(toxics []Toxic) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proxy = toxiproxy.NewProxy(p.server, "proxy", p.Address, p.upstream)
	for _, toxic := range toxics {
		if toxic.Toxicity == 0 {
			toxic.Toxicity = 1
		}
		text, err := json.Marshal(toxic)
		if err != nil {
			return err
		}
		if _, err = p.proxy.Toxics.AddToxicJson(bytes.NewReader(text)); err != nil {
			return err
		}
	}
	if err := p.proxy.Start(); err != nil {
		return err
	}
	p.Address = p.proxy.Listen
	return nil
}
