package simulation

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// joined opens a connection in a separate network.
func joined(t *testing.T, latency time.Duration) (client, server *conn) {
	t.Helper()
	n := newNetwork(latency)
	l := n.listen("a:1")
	c, err := n.dial(context.Background(), "tcp", "a:1")
	require.NoError(t, err)
	s, err := l.Accept()
	require.NoError(t, err)
	return c.(*conn), s.(*conn)
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// Bytes arrive unchanged and in order, after the latency, however the writes are split.
func TestBytesArrive(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a, b := joined(t, 30*time.Millisecond)
		content, began := Pattern(300_000), time.Now()
		go func() {
			for rest, size := content, 1; len(rest) > 0; size = size*3 + 1 {
				n, err := a.Write(rest[:min(size, len(rest))])
				assert.NoError(t, err)
				rest = rest[n:]
			}
			_ = a.CloseWrite()
		}()
		got, err := io.ReadAll(b)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(content, got))
		assert.Equal(t, 30*time.Millisecond, time.Since(began))
	})
}

// A write copies its bytes: the writer may use its buffer again.
func TestWriteKeepsACopy(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a, b := joined(t, time.Second)
		p := []byte("first")
		_, _ = a.Write(p)
		copy(p, "other")
		got := make([]byte, 10)
		n, err := b.Read(got)
		require.NoError(t, err)
		assert.Equal(t, "first", string(got[:n]))
	})
}

// Neither a write nor Close waits for a reader.
func TestNothingBlocksButRead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a, b := joined(t, time.Hour)
		began := time.Now()
		for range 100 {
			_, err := a.Write(make([]byte, 100_000))
			require.NoError(t, err)
		}
		require.NoError(t, a.Close())
		assert.Equal(t, began, time.Now())
		n, err := io.Copy(io.Discard, b)
		require.NoError(t, err)
		assert.Equal(t, int64(10_000_000), n)
		assert.Equal(t, time.Hour, time.Since(began))
	})
}

// A deadline ends a read at its time, also a read that already waits. It can be removed.
func TestDeadlines(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a, b := joined(t, 0)
		began, p := time.Now(), make([]byte, 10)
		require.NoError(t, b.SetReadDeadline(began.Add(time.Minute)))
		_, err := b.Read(p)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, time.Minute, time.Since(began))
		var timeout net.Error
		require.ErrorAs(t, err, &timeout)
		assert.True(t, timeout.Timeout())

		require.NoError(t, b.SetReadDeadline(time.Time{}))
		time.AfterFunc(time.Second, func() { _ = b.SetDeadline(time.Unix(1, 0)) })
		_, err = b.Read(p)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, time.Minute+time.Second, time.Since(began))

		require.NoError(t, b.SetReadDeadline(time.Time{}))
		_, _ = a.Write([]byte("x"))
		n, err := b.Read(p)
		require.NoError(t, err)
		assert.Equal(t, 1, n)
	})
}

// After Close, the other end reads all bytes and then io.EOF. The closed end is unusable.
func TestClose(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a, b := joined(t, time.Millisecond)
		_, _ = a.Write([]byte("bye"))
		require.NoError(t, a.Close())
		require.ErrorIs(t, a.Close(), net.ErrClosed)
		_, err := a.Write([]byte("x"))
		require.ErrorIs(t, err, net.ErrClosed)
		_, err = a.Read(make([]byte, 1))
		require.ErrorIs(t, err, net.ErrClosed)

		got, err := io.ReadAll(b)
		require.NoError(t, err)
		assert.Equal(t, "bye", string(got))
		_, err = b.Write([]byte("answer")) // as in TCP: the first write is lost, the next one fails
		require.NoError(t, err)
		_, err = b.Write([]byte("answer"))
		require.ErrorIs(t, err, syscall.EPIPE)
		require.NoError(t, b.Close())
		assert.Empty(t, a.net.ends(func(*conn) bool { return true }))
	})
}

// Close ends a read that waits.
func TestCloseEndsARead(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		_, b := joined(t, 0)
		time.AfterFunc(time.Second, func() { _ = b.Close() })
		_, err := b.Read(make([]byte, 1))
		require.ErrorIs(t, err, net.ErrClosed)
	})
}

// A close that leaves bytes unread is a reset, as in TCP.
func TestCloseWithUnreadBytes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a, b := joined(t, 0)
		_, _ = a.Write([]byte("unread"))
		_ = b.Close()
		_, err := a.Read(make([]byte, 1))
		require.ErrorIs(t, err, syscall.ECONNRESET)
	})
}

// A reset ends both directions, after the bytes that were sent before it.
func TestReset(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a, b := joined(t, time.Millisecond)
		_, _ = b.Write([]byte("half"))
		b.reset()
		got, err := io.ReadAll(a)
		require.ErrorIs(t, err, syscall.ECONNRESET)
		assert.Equal(t, "half", string(got))
		_, err = a.Write([]byte("x"))
		require.Error(t, err)
		_, err = b.Read(make([]byte, 1))
		require.Error(t, err)
	})
}

// Marks act at their byte, however the writes are split, and report that they were reached.
func TestMarks(t *testing.T) {
	content := "0123456789abcdefghij"
	for kind, want := range map[FaultKind]struct {
		got  string
		err  error
		took time.Duration
	}{
		Cut:    {"0123456", nil, 0},
		Reset:  {"0123456", syscall.ECONNRESET, 0},
		Stall:  {content, nil, time.Minute},
		Garble: {"0123456" + "bml" + "abcdefghij", nil, 0},
		Repeat: {"0123456789" + "789abcdefghij", nil, 0},
		Slow:   {content, nil, 0},
	} {
		for _, size := range []int{1, 3, 10, 20} {
			if kind == Repeat && size < 10 || kind == Garble && size < 10 {
				continue // the bytes that they act on must be in one write
			}
			inBubble(t, func(t *testing.T) {
				a, b := joined(t, 0)
				hits, began := 0, time.Now()
				b.out.arm(7, mark{kind: kind, wait: time.Minute, length: 3, hit: func() { hits++ }})
				for rest := content; rest != ""; rest = rest[min(size, len(rest)):] {
					_, _ = b.Write([]byte(rest[:min(size, len(rest))]))
				}
				_ = b.CloseWrite()
				got, err := io.ReadAll(a)
				require.ErrorIs(t, err, want.err)
				assert.Equal(t, want.got, string(got), kind)
				assert.Equal(t, 1, hits)
				if kind == Slow { // 13 bytes are left, in pieces of at most 3
					assert.GreaterOrEqual(t, time.Since(began), 5*time.Minute)
				} else {
					assert.Equal(t, want.took, time.Since(began), kind)
				}
			})
		}
	}
}

// After a stall forever nothing is delivered, not even the end. Close ends it.
func TestDeadFlow(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a, b := joined(t, 0)
		b.strike(mark{kind: Stall})
		_, _ = b.Write([]byte("lost"))
		_ = b.Close()
		_ = a.SetReadDeadline(time.Now().Add(time.Hour))
		_, err := a.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	})
}

// A mark that was not reached is removed with its response.
func TestDisarm(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		a, b := joined(t, 0)
		b.out.arm(3, mark{kind: Cut, hit: func() { t.Error("it was hit") }})
		b.out.disarm()
		_, _ = b.Write([]byte("whole"))
		_ = b.Close()
		got, err := io.ReadAll(a)
		require.NoError(t, err)
		assert.Equal(t, "whole", string(got))
	})
}

// A dial fails if nothing listens at the address, if the listener has closed, or during a restart.
func TestDials(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		n := newNetwork(0)
		dial := func(address string) error {
			c, err := n.dial(context.Background(), "tcp", address)
			if err != nil {
				var op *net.OpError
				require.ErrorAs(t, err, &op)
				assert.Equal(t, "dial", op.Op)
				assert.Nil(t, c)
			}
			return err
		}
		l := n.listen("a:1")
		require.NoError(t, dial("a:1"))
		var unknown *net.DNSError
		require.ErrorAs(t, dial("b:1"), &unknown)

		first, err := l.Accept()
		require.NoError(t, err)
		n.restart("a:1", time.Minute)
		_, err = first.Write([]byte("x"))
		require.Error(t, err)
		require.ErrorIs(t, dial("a:1"), syscall.ECONNREFUSED)
		time.Sleep(time.Minute)
		require.NoError(t, dial("a:1"))
		_ = l.Close()
		require.ErrorIs(t, dial("a:1"), syscall.ECONNREFUSED)
		_, err = l.Accept()
		require.ErrorIs(t, err, net.ErrClosed)

		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		slow := newNetwork(time.Hour)
		slow.listen("a:1")
		_, err = slow.dial(ctx, "tcp", "a:1")
		require.True(t, errors.Is(err, context.DeadlineExceeded) && strings.Contains(err.Error(), "dial"), err)
	})
}
