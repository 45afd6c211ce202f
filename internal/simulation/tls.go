package simulation

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"
)

// certificate is shared by all servers. It is valid before the clock of a bubble starts.
type certificate struct {
	own   tls.Certificate
	roots *x509.CertPool
}

// theCertificate is created once per process. No bubble's time is in it.
var theCertificate = sync.OnceValues(func() (*certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "simulation"},
		DNSNames:    []string{"forge.test", "other.test", "auth.test"},
		NotBefore:   time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:    time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	c := &certificate{tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, x509.NewCertPool()}
	c.roots.AddCert(leaf)
	return c, nil
})

// openTransport creates the transport of the clients.
func (w *World) openTransport() {
	w.transport = &http.Transport{DialContext: w.net.dial}
	switch w.plan.Protocol {
	case H2C:
		w.transport.Protocols = new(http.Protocols)
		w.transport.Protocols.SetUnencryptedHTTP2(true)
	case TLS, TLS1:
		w.transport.TLSClientConfig = &tls.Config{RootCAs: w.certificate.roots, MinVersion: tls.VersionTLS12}
		w.transport.ForceAttemptHTTP2 = w.plan.Protocol == TLS
	}
	if w.proxied() {
		w.transport.Proxy = http.ProxyURL(proxyURL())
	}
}

// prepare enables the protocol of the plan on a server.
func (w *World) prepare(s *http.Server) {
	if w.plan.Streams > 0 {
		s.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: w.plan.Streams}
	}
	if w.plan.Protocol == H2C {
		s.Protocols = new(http.Protocols)
		s.Protocols.SetHTTP1(true)
		s.Protocols.SetUnencryptedHTTP2(true)
	}
}

// wrap adds TLS to a listener if the plan uses TLS.
func (w *World) wrap(l net.Listener) net.Listener {
	switch w.plan.Protocol {
	case TLS:
		return tls.NewListener(l, w.serverTLS("h2", "http/1.1"))
	case TLS1:
		return tls.NewListener(l, w.serverTLS("http/1.1"))
	}
	return l
}

func (w *World) serverTLS(protocols ...string) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{w.certificate.own}, NextProtos: protocols, MinVersion: tls.VersionTLS12,
	}
}

// scheme returns the scheme of the world's addresses.
func (w *World) scheme() string {
	if w.plan.Protocol.secure() {
		return "https://"
	}
	return "http://"
}

// The hosts of a world. Hosts without TLS are loopback addresses, to which a credential may be
// sent.
const otherHost = "other.test"

func (w *World) home() (host, address string) {
	if w.plan.Protocol.secure() {
		return "forge.test", "forge.test:443"
	}
	return "127.0.0.1", "127.0.0.1:80"
}

func (w *World) auth() (host, address string) {
	if w.plan.Protocol.secure() {
		return "auth.test", "auth.test:443"
	}
	return "127.0.0.2", "127.0.0.2:80"
}

func (w *World) otherAddress() string {
	if w.plan.Protocol.secure() {
		return otherHost + ":443"
	}
	return otherHost + ":80"
}

func silent() *log.Logger { return log.New(io.Discard, "", 0) }

// token returns a credential that a world issues.
func token(kind string, n int) string { return fmt.Sprintf("simulated-%s-%04d", kind, n) }
