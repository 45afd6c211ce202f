package nginx

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// config extends the base configuration, with which nginx runs as any user, in any folder.
type config struct {
	server string // directives of the server block; $UPSTREAM is the address behind nginx
	tls    bool   // HTTP/2 over TLS instead of plain HTTP
}

// server is a running nginx.
type server struct {
	url     string
	dir     string
	roots   *x509.CertPool
	command *exec.Cmd
	ended   chan error
}

// start runs nginx on a free port of 127.0.0.1, in front of upstream, until the test ends. Without
// nginx the test is skipped; the error log of a failed test is shown.
func start(t *testing.T, upstream string, c config) *server {
	t.Helper()
	// Debian has nginx in a folder that only root has on the PATH.
	binary, err := exec.LookPath("nginx")
	if err != nil {
		if binary, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			t.Skip("nginx is not on the PATH: apt-get install nginx")
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	address := listener.Addr().String()
	s := &server{url: "http://" + address, dir: t.TempDir(), ended: make(chan error, 1)}
	if c.tls {
		s.url = "https://" + address
		s.writeCertificate(t)
	}
	c.server = strings.ReplaceAll(c.server, "$UPSTREAM", strings.TrimPrefix(upstream, "http://"))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "nginx.conf"), []byte(c.text(address)), 0o600))
	// nginx inherits the listening socket, as when it upgrades itself, so that no other process can
	// take the port.
	socket, err := listener.(*net.TCPListener).File()
	require.NoError(t, err)
	defer socket.Close()
	var output bytes.Buffer
	s.command = exec.Command(binary, "-p", s.dir, "-c", "nginx.conf", "-e", "error.log")
	s.command.Stdout, s.command.Stderr = &output, &output
	s.command.ExtraFiles = []*os.File{socket}
	s.command.Env = append(os.Environ(), "NGINX=3;")
	require.NoError(t, s.command.Start())
	go func() { s.ended <- s.command.Wait() }()
	t.Cleanup(func() {
		s.stop()
		if text, err := os.ReadFile(filepath.Join(s.dir, "error.log")); err == nil && t.Failed() {
			t.Logf("nginx: %s%s", output.Bytes(), text)
		}
	})
	require.NoError(t, s.ready(t.Context(), address))
	return s
}

// stop ends nginx immediately. It may be called more than once.
func (s *server) stop() {
	_ = s.command.Process.Signal(syscall.SIGTERM)
	err := <-s.ended
	s.ended <- err
}

// ready waits until nginx responds to anything.
func (s *server) ready(ctx context.Context, address string) error {
	up := make(chan error, 1)
	go func() {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			_, _ = conn.Write([]byte("no request\r\n\r\n"))
			_, err = conn.Read(make([]byte, 1))
		}
		up <- err
	}()
	select {
	case err := <-s.ended:
		s.ended <- err
		return fmt.Errorf("nginx ended: %w", err)
	case err := <-up:
		return err
	}
}

// writeCertificate writes the certificate of httptest, which is for 127.0.0.1.
func (s *server) writeCertificate(t *testing.T) {
	t.Helper()
	authority := httptest.NewTLSServer(nil)
	defer authority.Close()
	s.roots = x509.NewCertPool()
	s.roots.AddCert(authority.Certificate())
	key, err := x509.MarshalPKCS8PrivateKey(authority.TLS.Certificates[0].PrivateKey)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: authority.Certificate().Raw}, "key.pem": {Type: "PRIVATE KEY", Bytes: key},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), pem.EncodeToMemory(block), 0o600))
	}
}

// transport returns a transport with its own connections, which trusts the certificate.
func (s *server) transport() *http.Transport {
	if s.roots == nil {
		return &http.Transport{}
	}
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
}

// log stops nginx, and returns a line for each request: "connection encoding".
func (s *server) log(t *testing.T) []string {
	t.Helper()
	s.stop()
	text, err := os.ReadFile(filepath.Join(s.dir, "access.log"))
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// text returns the configuration. The worker runs as the user who started nginx, because the folder
// may be closed to others.
func (c config) text(address string) string {
	user, listen := "", address+";"
	if os.Geteuid() == 0 {
		user = "user root root;"
	}
	if c.tls {
		listen = address + " ssl http2; ssl_certificate cert.pem; ssl_certificate_key key.pem;"
	}
	return strings.NewReplacer("$USER", user, "$SERVER", c.server, "$LISTEN", listen).Replace(template)
}

const template = `daemon off;
$USER
worker_processes 1;
pid nginx.pid;
error_log error.log warn;
events { worker_connections 1024; }
http {
	log_format short '$connection $sent_http_content_encoding';
	access_log access.log short if=$request_method;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	proxy_http_version 1.1;
	server {
		listen $LISTEN
		$SERVER
	}
}
`
