// Package redistest runs Redis as a child process.
package redistest

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Server is a running Redis that keeps nothing on disk.
type Server struct {
	// Socket is the path of the Unix socket that it listens on.
	Socket string

	command *exec.Cmd
	ended   chan error
}

// New runs Redis for a test and stops it when the test ends. Without redis-server the test is
// skipped.
func New(t testing.TB) *Server {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not on the PATH: apt-get install redis-server")
	}
	dir := t.TempDir()
	s := &Server{Socket: filepath.Join(dir, "redis.sock"), ended: make(chan error, 1)}
	// A private socket and no port: no other process can be there.
	s.command = exec.Command(binary, "--port", "0", "--unixsocket", s.Socket, "--dir", dir, "--save", "", "--appendonly", "no") //nolint:noctx // it runs until Stop
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	go func() { s.ended <- s.command.Wait() }()
	if err := s.ready(); err != nil {
		t.Fatal("redis-server: ", err)
	}
	return s
}

// Stop ends Redis immediately. It may be called more than once.
func (s *Server) Stop() {
	_ = s.command.Process.Signal(syscall.SIGKILL)
	err := <-s.ended
	s.ended <- err
}

// Pause stops Redis without ending it: it accepts connections and sends no responses. Resume
// continues it.
func (s *Server) Pause() error { return s.command.Process.Signal(syscall.SIGSTOP) }

// Resume ends Pause.
func (s *Server) Resume() error { return s.command.Process.Signal(syscall.SIGCONT) }

// ready waits until the socket exists and accepts connections.
func (s *Server) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", s.Socket)
		if err == nil {
			return conn.Close()
		}
		select {
		case err := <-s.ended:
			s.ended <- err
			return fmt.Errorf("it ended: %w", err)
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}
