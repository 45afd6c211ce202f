// Package toxitest runs toxiproxy inside the process.
package toxitest

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Toxic is something that goes wrong on a connection, in toxiproxy's own words.
type Toxic struct {
	// Type is latency, reset_peer, limit_data, timeout, bandwidth or slicer.
	Type string `json:"type"`
	// Stream is downstream (answers, the default of toxiproxy) or upstream (requests).
	Stream string `json:"stream,omitempty"`
	// Toxicity is the share of the connections that it strikes; 0 is all.
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

// Start starts a proxy on a free port of 127.0.0.1 in front of upstream, a host and port or an address. The caller closes it.
func Start(upstream string, toxics ...Toxic) (*Proxy, error) {
	p := &Proxy{
		Address:  "127.0.0.1:0",
		server:   toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
		upstream: strings.TrimPrefix(upstream, "http://"),
	}
	return p, p.up(toxics)
}

// URL is the address for clients.
func (p *Proxy) URL() string { return "http://" + p.Address }

// Close ends the proxy and its connections.
func (p *Proxy) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.proxy.Stop()
}

// Become ends all connections and has other toxics for new ones, at the same address. (Toxics of a running connection can be
// exchanged too, but some act only on connections that begin with them.)
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
