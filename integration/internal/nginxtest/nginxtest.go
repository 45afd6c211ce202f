// Package nginxtest runs nginx as a child process, with a generated configuration.
package nginxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ErrMissing is returned if nginx is not on the PATH.
var ErrMissing = errors.New("nginx is not on the PATH: apt-get install nginx")

// Config extends the base configuration, with which nginx runs as any user, in any folder.
type Config struct {
	// HTTP holds directives of the http block: upstreams, maps.
	HTTP string
	// Server holds directives of the server block.
	Server string
	// TLS listens with HTTP/2 over TLS instead of plain HTTP, with a new certificate.
	TLS bool
}

// Server is a running nginx.
type Server struct {
	// URL is the address, without a trailing slash.
	URL string
	// Dir holds nginx.conf, error.log and access.log.
	Dir string

	command   *exec.Cmd
	authority []byte // PEM
	ended     chan error
}

// New runs nginx for a test and stops it when the test ends. Without nginx the test is skipped; the
// error log of a failed test is shown.
func New(t testing.TB, config Config) *Server {
	t.Helper()
	s, err := Start(t.TempDir(), config)
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop()
		if text, err := os.ReadFile(filepath.Join(s.Dir, "error.log")); err == nil && t.Failed() {
			t.Logf("nginx: %s", text)
		}
	})
	return s
}

// Start runs nginx on a free port of 127.0.0.1 with all its files in dir. The caller must stop it.
func Start(dir string, config Config) (*Server, error) {
	binary, err := find()
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	s := &Server{URL: "http://" + listener.Addr().String(), Dir: dir, ended: make(chan error, 1)}
	if config.TLS {
		s.URL = "https://" + listener.Addr().String()
		if s.authority, err = writeCertificate(dir); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(config.text(listener.Addr().String())), 0o600); err != nil {
		return nil, err
	}
	// nginx inherits the listening socket, as when it upgrades itself, so that no other process can
	// take the port.
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	var output bytes.Buffer
	s.command = exec.Command(binary, "-p", dir, "-c", "nginx.conf", "-e", "error.log") //nolint:noctx // it runs until Stop
	s.command.Stdout, s.command.Stderr = &output, &output
	s.command.ExtraFiles = []*os.File{socket}
	s.command.Env = append(os.Environ(), "NGINX=3;")
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	go func() { s.ended <- s.command.Wait() }()
	if err := s.ready(); err != nil {
		s.Stop()
		return nil, fmt.Errorf("nginx: %w\n%s", err, output.Bytes())
	}
	return s, nil
}

// Stop ends nginx immediately. It may be called more than once.
func (s *Server) Stop() {
	_ = s.command.Process.Signal(syscall.SIGTERM)
	err := <-s.ended
	s.ended <- err
}

// Transport returns a transport with its own connections, which trusts the certificate.
func (s *Server) Transport() *http.Transport {
	t := &http.Transport{}
	if s.authority != nil {
		t.TLSClientConfig, t.ForceAttemptHTTP2 = trust(s.authority), true
	}
	return t
}

// AccessLog returns a line for each request that has ended: "connection status method address
// encoding".
func (s *Server) AccessLog() []string {
	text, err := os.ReadFile(filepath.Join(s.Dir, "access.log"))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// ready waits until nginx responds to anything.
func (s *Server) ready() error {
	address := strings.TrimPrefix(strings.TrimPrefix(s.URL, "http://"), "https://")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
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
		return fmt.Errorf("it ended: %w", err)
	case err := <-up:
		return err
	}
}

// text returns the configuration. The worker runs as the user who started nginx, because the folder
// may be closed to others.
func (c Config) text(address string) string {
	user, listen, certificate := "", address, ""
	if os.Geteuid() == 0 {
		user = "user root root;"
	}
	if c.TLS {
		listen, certificate = address+" ssl http2", "ssl_certificate cert.pem; ssl_certificate_key key.pem;"
	}
	return strings.NewReplacer("$USER", user, "$HTTP", c.HTTP, "$SERVER", c.Server, "$LISTEN", listen, "$CERTIFICATE", certificate).Replace(template)
}

const template = `daemon off;
$USER
worker_processes 1;
pid nginx.pid;
error_log error.log warn;
events { worker_connections 1024; }
http {
	log_format short '$connection $status $request_method $request_uri $sent_http_content_encoding';
	access_log access.log short if=$request_method;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	proxy_http_version 1.1;
	$HTTP
	server {
		listen $LISTEN;
		$CERTIFICATE
		$SERVER
	}
}
`

// find returns the path of nginx. It also looks in Debian's folder, which only root has on the
// PATH.
func find() (string, error) {
	for _, name := range []string{"nginx", "/usr/sbin/nginx"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrMissing
}
