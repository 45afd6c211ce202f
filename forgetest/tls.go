package forgetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/url"
	"strconv"
	"time"
)

// WithTLS serves over TLS, with HTTP/2 and HTTP/1.1. The server creates a certificate for the host
// of its URLs, for localhost and for 127.0.0.1. [Server.Client] trusts it; other clients need
// [Server.Certificate].
func WithTLS() Option { return func(s *Server) { s.tls = true } }

// Certificate returns the certificate of [WithTLS], which is its own authority; nil without it.
func (s *Server) Certificate() *x509.Certificate {
	if s.certificate == nil {
		return nil
	}
	return s.certificate.Leaf
}

// newCertificate creates the certificate of a server. It is valid inside a bubble of
// testing/synctest, whose clock begins in the year 2000.
func newCertificate(hosts ...string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "forgetest"},
		NotBefore:   time.Unix(0, 0).UTC(),
		NotAfter:    time.Unix(0, 0).UTC().AddDate(130, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA:        true, BasicConstraintsValid: true,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}

// setURLs sets the addresses of a server that listens at addr. A server that listens at all
// addresses of the machine is addressed as 127.0.0.1.
func (s *Server) setURLs(addr net.Addr) {
	host, scheme := addr.String(), "http"
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		s.listensEverywhere = true
		host = net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	if s.tls {
		scheme = "https"
	}
	s.RegistryURL = orElse(s.origin, scheme+"://"+host)
	s.URL = s.RegistryURL + s.prefix
	s.RegistryAuthURL = s.URL
}

// serveOn serves until the server is closed.
func (s *Server) serveOn(listener net.Listener) error {
	if !s.tls {
		return s.http.Serve(listener)
	}
	config := s.http.TLSConfig
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	config.Certificates = append(config.Certificates, *s.certificate)
	s.http.TLSConfig = config
	return s.http.ServeTLS(listener, "", "")
}

// hostOf returns the host of an address, without its port.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
