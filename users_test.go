package forge

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const userPages = "order_by=id&pagination=keyset&per_page=100&sort=desc"

func TestUsers(t *testing.T) {
	ctx := t.Context()
	runCalls(t, []callRow{
		{"GET /users", userPages, "", "users/list.json", func(c *Client) (any, error) { return Collect(c.Users.List(ctx, nil)) }},
		{"GET /users", "page=1&per_page=100", "", "users/list.json", func(c *Client) (any, error) { return Collect(c.Users.List(ctx, nil, Query("page", "1"))) }},
		{"GET /users/1", "with_custom_attributes=true", "", "users/get.json", func(c *Client) (any, error) { return c.Users.Get(ctx, 1, &GetUserOptions{WithCustomAttributes: true}) }},
		{"GET /users/3", "", "", "users/user_bare.json", func(c *Client) (any, error) { return c.Users.Get(ctx, 3, nil) }},
		{"GET /user", "sudo=2", "", "users/current.json", func(c *Client) (any, error) { return c.Users.GetCurrent(ctx, &GetCurrentUserOptions{Sudo: 2}) }},
	})
	c := serve(t)
	for option, options := range map[string]*ListUsersOptions{"ExternUID": {ExternUID: "1"}, "Provider": {Provider: "scim"}, "CustomAttributes": {CustomAttributes: Hash{"a[b]": "c"}}} {
		_, err := Collect(c.Users.List(t.Context(), options))
		assertRefused(t, err, "ListUsersOptions."+option, map[string]string{"ExternUID": "extern_uid", "Provider": "provider", "CustomAttributes": "custom_attributes"}[option])
	}
}

func TestEmails(t *testing.T) {
	ctx := t.Context()
	create := func(c *Client) (any, error) {
		return c.Emails.Create(ctx, &CreateEmailOptions{Email: "Ada@Example.com"})
	}
	const taken = `400 {"message":{"email":["has already been taken"]}}`
	runCalls(t, []callRow{
		{"POST /user/emails", "", `{"email":"Ada@Example.com"}`, "emails/add_current.json", create}, // the values of the server, not those that were sent
		{"POST /user/emails", "", `{"email":"Ada@Example.com"}`, taken, create},
		{"POST /users/2/emails", "", `{"email":"Ada@Example.com","skip_confirmation":true}`, "emails/get_current.json", func(c *Client) (any, error) {
			return c.Emails.CreateForUser(ctx, 2, &CreateEmailForUserOptions{Email: "Ada@Example.com", SkipConfirmation: new(true)})
		}},
		{"DELETE /user/emails/3", "", "", "204", func(c *Client) (any, error) { return nil, c.Emails.Delete(ctx, 3) }},
		{"DELETE /user/emails/3", "", "", `404 {"message":"404 Email Not Found"}`, func(c *Client) (any, error) { return nil, c.Emails.Delete(ctx, 3) }},
		{"DELETE /users/2/emails/3", "", "", `200 {"any":"body"}`, func(c *Client) (any, error) { return nil, c.Emails.DeleteForUser(ctx, 2, 3) }},
	})
}

// The contract contradicts itself about who may list users: Document 1 §8.1 allows callers with and
// without credentials, Document 2 §4.3 requires a token. The client sends its credential if it has
// one, and works with both kinds of servers.
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
