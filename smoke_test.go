package forge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type item struct {
	ID int64 `json:"id"`
}

func TestSmoke(t *testing.T) {
	var n atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := n.Add(1)
		switch r.URL.Path {
		case "/api/v4/flaky":
			if n%2 == 1 {
				w.WriteHeader(502)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"id":5}`)
		case "/api/v4/list":
			p, _ := strconv.Atoi(r.URL.Query().Get("page"))
			if p == 0 {
				p = 1
			}
			if p < 7 {
				w.Header().Set("Link", fmt.Sprintf(`<http://elsewhere/api/v4/list?page=%d&per_page=100>; rel="next"`, p+1))
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `[{"id":%d},{"id":%d}]`, p*2, p*2+1)
		case "/api/v4/reset":
			c, _, _ := http.NewResponseController(w).Hijack()
			c.Close()
		case "/api/v4/limited":
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
			fmt.Fprint(w, "Retry later")
		default:
			w.WriteHeader(404)
			fmt.Fprint(w, `{"message":{"email":["has already been taken"]}}`)
		}
	}))
	defer srv.Close()
	c, err := NewClient(srv.URL, WithToken("secret-token"), WithRetry(RetryPolicy{MinWait: time.Millisecond}))
	require.NoError(t, err)
	var it item
	var resp Response
	require.NoError(t, c.Do(context.Background(), Call{Method: "GET", Route: "/flaky"}, &it, Into(&resp)))
	require.EqualValues(t, 5, it.ID)
	require.Equal(t, 2, resp.Attempts)
	for _, opts := range [][]RequestOption{nil, {Ahead(1)}, {Ahead(4)}} {
		all, err := Collect(ListAs[item](context.Background(), c, Call{Method: "GET", Route: "/list"}, append(opts, Into(&resp))...))
		require.NoError(t, err)
		require.Len(t, all, 14)
		require.True(t, resp.Cursor.Done())
	}
	err = c.Do(context.Background(), Call{Method: "POST", Route: "/reset"}, nil)
	t.Log(err)
	var e *Error
	require.True(t, errors.As(err, &e))
	require.True(t, e.MaybeApplied)
	require.Equal(t, 1, e.Attempts)
	err = c.Do(context.Background(), Call{Method: "PUT", Route: "/reset"}, nil)
	t.Log(err)
	err = c.Do(context.Background(), Call{Method: "PUT", Route: "/nothing"}, nil)
	t.Log(err)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	err = c.Do(ctx, Call{Method: "PUT", Route: "/limited"}, nil)
	t.Log(err)
	require.ErrorIs(t, err, ErrRateLimited)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = NewClient("http://example.com", WithToken("x"))
	t.Log(err)
	err = c.Do(ctx, Call{Method: "PUT", Route: "/a/:id", Args: []Ref{Path("a/../b")}}, nil)
	t.Log(err)
}
