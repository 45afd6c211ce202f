package forge

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkErrors is for profiles: calls that the server refuses, and a first retry after a 503.
func BenchmarkErrors(b *testing.B) {
	for _, status := range []int{200, 304, 404, 429, 503} {
		b.Run(strconv.Itoa(status), func(b *testing.B) {
			header := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"01HZY3V4W5"}, "Retry-After": {"0"}}
			text := []byte(`{"message":"404 Tag Not Found"}`)
			n := 0
			transport := roundTripper(func(req *http.Request) (*http.Response, error) {
				code := status
				if n++; status == 503 && n%2 == 0 {
					code = 200
				}
				a := &memoryAnswer{Response: http.Response{StatusCode: code, Header: header, ContentLength: int64(len(text)), Request: req}}
				a.Reset(text)
				a.Body = a
				return &a.Response, nil
			})
			retry := WithRetry(RetryPolicy{MaxAttempts: 1})
			if status == 503 {
				retry = WithRetry(RetryPolicy{MinWait: 1, MaxWait: 1})
			}
			client, err := NewClient("https://forge.example.com", WithToken("glpat-0123456789abcdefghij"), retry, WithHTTPClient(&http.Client{Transport: transport}))
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				_, err := client.Registry.GetTag(b.Context(), Path("group/app"), 7, "release/1.0", Header("If-None-Match", `"1"`))
				if (err == nil) != (status == 200 || status == 503) {
					b.Fatal(err)
				}
			}
		})
	}
}
