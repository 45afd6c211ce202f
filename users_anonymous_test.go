package forge

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The contract contradicts itself on who may list users: Document 1 §8.1 says both, with credentials
// and without, Document 2 §4.3 asks for a token. The client sends what it has and works with either
// server.
func TestUserListWithoutCredentials(t *testing.T) {
	for _, open := range []bool{true, false} {
		t.Run(fmt.Sprint("open ", open), func(t *testing.T) {
			requests := 0
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				assert.Empty(t, r.Header.Get("PRIVATE-TOKEN")+r.Header.Get("Authorization"))
				w.Header().Set("Content-Type", "application/json")
				switch {
				case !open:
					w.WriteHeader(http.StatusUnauthorized)
					_, _ = w.Write([]byte(`{"message":"401 Unauthorized"}`))
				case r.URL.Query().Get("cursor") == "":
					next := fmt.Sprintf("http://%s%s?%s&cursor=x", r.Host, r.URL.Path, r.URL.RawQuery)
					w.Header().Set("Link", "<"+next+`>; rel="next"`)
					_, _ = w.Write([]byte(`[{"id":2,"username":"ada"}]`))
				default:
					_, _ = w.Write([]byte(`[{"id":1,"username":"eve"}]`))
				}
			}))
			defer srv.Close()
			client, err := NewClient(srv.URL)
			require.NoError(t, err)
			defer client.CloseIdleConnections()
			users, err := Collect(client.Users.List(t.Context(), nil))
			if !open {
				require.ErrorIs(t, err, ErrUnauthorized)
				assert.Equal(t, 1, requests)
				return
			}
			require.NoError(t, err)
			assert.Len(t, users, 2)
			assert.Equal(t, 2, requests)
		})
	}
}
