package forge

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAllocations holds what a call takes to what it took when this was written: it is the part of speed that a busy machine does
// not change. The module benchmarks/ measures the rest.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates on its own account: run without -race")
	}
	for name, test := range memoryCalls(t) {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, test.call(t.Context()))
			allocations := testing.AllocsPerRun(100, func() { _ = test.call(t.Context()) }) / test.items
			t.Logf("%.1f allocations", allocations)
			assert.LessOrEqual(t, allocations, test.limit)
		})
	}
}

// BenchmarkCall is for profiles.
func BenchmarkCall(b *testing.B) {
	for name, test := range memoryCalls(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = test.call(b.Context())
			}
		})
	}
}

type memoryCall struct {
	limit, items float64 // allocations for each item
	call         func(context.Context) error
}

// memoryCalls are answered from memory; the answer itself takes one allocation.
func memoryCalls(t testing.TB) map[string]memoryCall {
	tag, err := os.ReadFile("testdata/registry/tag.json")
	require.NoError(t, err)
	return map[string]memoryCall{
		"one issue": {40, 1, func() func(context.Context) error {
			client := memoryClient(t, largeIssue(t))
			return func(ctx context.Context) error {
				_, err := client.Issues.Subscribe(ctx, Path("group/app"), 5)
				return err
			}
		}()},
		"one registry tag": {25, 1, func() func(context.Context) error {
			client := memoryClient(t, tag)
			return func(ctx context.Context) error {
				_, err := client.Registry.GetTag(ctx, Path("group/app"), 7, "release/1.0")
				return err
			}
		}()},
		"a page of 100 issues": {25, 100, func() func(context.Context) error {
			client := memoryClient(t, largePage(t))
			return func(ctx context.Context) error {
				_, err := Collect(client.Issues.List(ctx, nil))
				return err
			}
		}()},
	}
}

// memoryClient gets the same answer to all its calls, without a network.
func memoryClient(t testing.TB, text []byte) *Client {
	header := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"01HZY3V4W5"}}
	transport := roundTripper(func(req *http.Request) (*http.Response, error) {
		a := &memoryAnswer{Response: http.Response{StatusCode: http.StatusOK, Header: header, ContentLength: int64(len(text)), Request: req}}
		a.Reset(text)
		a.Body = a
		return &a.Response, nil
	})
	client, err := NewClient("https://forge.example.com", WithToken("glpat-0123456789abcdefghij"), WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	return client
}

// memoryAnswer is an answer and its body in one allocation.
type memoryAnswer struct {
	http.Response
	bytes.Reader
}

func (*memoryAnswer) Close() error { return nil }
