package forge

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUsers(t *testing.T) {
	runScenarios(t, []scenario{
		{
			name:      "list",
			exchanges: []exchange{{sent: "GET /users", query: "order_by=id&pagination=keyset&per_page=100&sort=desc", answer: "users/users.json"}},
			run: func(t *testing.T, c *Client) {
				users, err := Collect(c.Users.List(t.Context(), nil))
				require.NoError(t, err)
				assertWhole(t, "users/users.json", users)
				assert.Equal(t, UserStateBlocked, users[1].State)
				assert.Equal(t, []CustomAttribute{{Key: "team", Value: "core"}}, users[1].CustomAttributes)
			},
		},
		{
			name: "get",
			exchanges: []exchange{
				{sent: "GET /users/1", answer: "users/user.json"},
				{sent: "GET /users/3", query: "with_custom_attributes=true", answer: "users/user_bare.json"},
				{sent: "GET /users/4", status: 404, answer: `{"message":"404 User Not Found"}`},
			},
			run: func(t *testing.T, c *Client) {
				user, err := c.Users.Get(t.Context(), 1, nil)
				require.NoError(t, err)
				assertWhole(t, "users/user.json", user)
				bare, err := c.Users.Get(t.Context(), 3, &GetUserOptions{WithCustomAttributes: true})
				require.NoError(t, err)
				assert.Equal(t, &User{
					ID: 3, Username: "eve", Name: "Eve", State: UserStateActive, WebURL: "https://forge.example.com/eve", Identities: []UserIdentity{},
					SCIMIdentities: []SCIMIdentity{}, Auditors: bare.Auditors, SharedRunnersMinutesLimit: new(0),
				}, bare, "null is zero; a limit of 0 is none")
				_, err = c.Users.Get(t.Context(), 4, nil)
				require.ErrorIs(t, err, ErrNotFound)
			},
		},
		{
			name: "current",
			exchanges: []exchange{
				{sent: "GET /user", answer: "users/current.json"},
				{sent: "GET /user", query: "sudo=2", answer: "users/user_bare.json"},
				{sent: "GET /user", status: 403, answer: `{"message":"403 Forbidden - Must be admin to use sudo"}`, query: "sudo=2"},
				{sent: "GET /user", status: 401, answer: `{"message":"401 Unauthorized"}`},
			},
			run: func(t *testing.T, c *Client) {
				user, err := c.Users.GetCurrent(t.Context(), nil)
				require.NoError(t, err)
				assertWhole(t, "users/current.json", user)
				assert.Equal(t, NewDate(2026, time.March, 4), user.LastActivityOn)
				assert.EqualValues(t, 2, user.CreatedBy.ID)
				assert.EqualValues(t, 10, user.Identities[1].SAMLProviderID)
				assert.Equal(t, new(50), user.ExtraSharedRunnersMinutesLimit)
				assert.Equal(t, "true", string(user.Auditors))
				user, err = c.Users.GetCurrent(t.Context(), &CurrentUserOptions{Sudo: 2})
				require.NoError(t, err)
				assert.Nil(t, user.CreatedBy)
				_, err = c.Users.GetCurrent(t.Context(), &CurrentUserOptions{Sudo: 2})
				require.ErrorIs(t, err, ErrForbidden)
				_, err = c.Users.GetCurrent(t.Context(), nil)
				require.ErrorIs(t, err, ErrUnauthorized)
			},
		},
	})
}

// TestUserFilters shows the wire form of every filter of the list.
func TestUserFilters(t *testing.T) {
	const keyset = "&order_by=id&pagination=keyset&sort=desc"
	yes, no := new(true), new(false)
	for _, row := range []struct {
		name    string
		options *ListUsersOptions
		query   string
	}{
		{"words", &ListUsersOptions{Username: "Ada", Search: "ada@example.com", ExternUID: "cn=ada", Provider: "ldapmain", TwoFactor: TwoFactorDisabled, SAMLProviderID: 7},
			"username=Ada&search=ada%40example.com&extern_uid=cn%3Dada&provider=ldapmain&two_factor=disabled&saml_provider_id=7" + keyset},
		{"true", &ListUsersOptions{Active: true, External: true, Blocked: true, Humans: yes, Admins: yes, Auditors: yes, SkipLDAP: yes, WithCustomAttributes: true},
			"active=true&external=true&blocked=true&humans=true&admins=true&auditors=true&skip_ldap=true&with_custom_attributes=true" + keyset},
		{"false is sent", &ListUsersOptions{ExcludeActive: no, ExcludeExternal: no, ExcludeHumans: no, ExcludeInternal: no, WithoutProjectBots: no, WithoutProjects: no},
			"exclude_active=false&exclude_external=false&exclude_humans=false&exclude_internal=false&without_project_bots=false&without_projects=false" + keyset},
		{"times", &ListUsersOptions{CreatedAfter: moment(), CreatedBefore: moment().UTC()},
			"created_after=2026-03-04T07%3A30%3A00.000Z&created_before=2026-03-04T07%3A30%3A00.000Z" + keyset},
		{"custom attributes", &ListUsersOptions{CustomAttributes: Hash{"team": "core & co", "shift": ""}}, "custom_attributes[team]=core+%26+co&custom_attributes[shift]=" + keyset},
		{"order", &ListUsersOptions{OrderBy: UserOrderByUpdatedAt, Sort: SortAsc}, "order_by=updated_at&pagination=keyset&sort=asc"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := serve(t, exchange{sent: "GET /users", query: withPerPage(t, row.query), answer: "[]"})
			_, err := Collect(c.Users.List(t.Context(), row.options))
			require.NoError(t, err)
		})
	}
	c := serve(t, exchange{sent: "GET /users", query: "page=1&per_page=100", answer: "[]"})
	_, err := Collect(c.Users.List(t.Context(), nil, Query("page", "1")))
	require.NoError(t, err, "offset pagination stays possible")

	c = serve(t)
	for _, row := range []struct {
		options             *ListUsersOptions
		option, param, says string
	}{
		{&ListUsersOptions{ExternUID: "1"}, "ExternUID", "extern_uid", "it needs provider as well"},
		{&ListUsersOptions{Provider: "scim"}, "Provider", "provider", "it needs extern_uid as well"},
		{&ListUsersOptions{CustomAttributes: Hash{"a[b]": "c"}}, "CustomAttributes", "custom_attributes", ""},
	} {
		_, err = Collect(c.Users.List(t.Context(), row.options))
		assertRefused(t, err, "ListUsersOptions."+row.option, row.param)
		require.ErrorContains(t, err, row.says)
	}
	_, err = c.Users.Get(t.Context(), 0, nil)
	assertRefused(t, err, "argument", "id")
}

func TestEmails(t *testing.T) {
	taken := `{"message":{"email":["has already been taken"]}}`
	runScenarios(t, []scenario{
		{
			name: "read",
			exchanges: []exchange{
				{sent: "GET /user/emails", query: "per_page=100", answer: "emails/emails.json"},
				{sent: "GET /users/2/emails", query: "per_page=100", answer: "emails/emails.json"},
				{sent: "GET /user/emails/1", answer: "emails/email.json"},
				{sent: "GET /users/2/emails", query: "per_page=100", status: 403, answer: `{"message":"403 Forbidden"}`},
			},
			run: func(t *testing.T, c *Client) {
				emails, err := Collect(c.Emails.List(t.Context()))
				require.NoError(t, err)
				assertWhole(t, "emails/emails.json", emails)
				assert.True(t, emails[1].ConfirmedAt.IsZero())
				emails, err = Collect(c.Emails.ListForUser(t.Context(), 2))
				require.NoError(t, err)
				assertWhole(t, "emails/emails.json", emails)
				email, err := c.Emails.Get(t.Context(), 1)
				require.NoError(t, err)
				assertWhole(t, "emails/email.json", email)
				_, err = Collect(c.Emails.ListForUser(t.Context(), 2))
				require.ErrorIs(t, err, ErrForbidden)
				assert.ErrorContains(t, err, "self-managed or dedicated")
			},
		},
		{
			name: "add",
			exchanges: []exchange{
				{sent: "POST /user/emails", body: `{"email":"ada@new.example.com"}`, status: 201, answer: "emails/created.json"},
				{sent: "POST /user/emails", body: `{"email":"Ada@Example.com"}`, status: 201, answer: "emails/email.json"},
				{sent: "POST /user/emails", body: `{"email":"ada@new.example.com"}`, status: 400, answer: taken},
				{sent: "POST /users/2/emails", body: `{"email":"Ada@Example.com","skip_confirmation":true}`, status: 201, answer: "emails/email.json"},
				{sent: "POST /users/2/emails", body: `{"email":"ada@new.example.com","skip_confirmation":false}`, status: 400, answer: taken},
			},
			run: func(t *testing.T, c *Client) {
				const address = "ada@new.example.com"
				isTaken := func(err error) {
					t.Helper()
					require.ErrorIs(t, err, ErrBadRequest)
					var failed *Error
					require.ErrorAs(t, err, &failed)
					assert.Equal(t, []string{"has already been taken"}, failed.Fields["email"])
				}
				email, err := c.Emails.Create(t.Context(), &CreateEmailOptions{Email: address})
				require.NoError(t, err)
				assertWhole(t, "emails/created.json", email)
				email, err = c.Emails.Create(t.Context(), &CreateEmailOptions{Email: "Ada@Example.com"})
				require.NoError(t, err)
				assertWhole(t, "emails/email.json", email) // the values of the server, not those that were sent
				_, err = c.Emails.Create(t.Context(), &CreateEmailOptions{Email: address})
				isTaken(err)
				email, err = c.Emails.CreateForUser(t.Context(), 2, &CreateEmailForUserOptions{Email: "Ada@Example.com", SkipConfirmation: new(true)})
				require.NoError(t, err)
				assertWhole(t, "emails/email.json", email)
				_, err = c.Emails.CreateForUser(t.Context(), 2, &CreateEmailForUserOptions{Email: address, SkipConfirmation: new(false)})
				isTaken(err)
				_, err = c.Emails.Create(t.Context(), nil)
				assertRefused(t, err, "CreateEmailOptions.Email", "email")
				_, err = c.Emails.CreateForUser(t.Context(), 2, nil)
				assertRefused(t, err, "CreateEmailForUserOptions.Email", "email")
			},
		},
		{
			name: "delete",
			exchanges: []exchange{
				{sent: "DELETE /user/emails/3", status: 204},
				{sent: "DELETE /user/emails/3", status: 404, answer: `{"message":"404 Email Not Found"}`},
				{sent: "DELETE /users/2/emails/3", status: 204},
				{sent: "DELETE /users/2/emails/3", answer: `{"any":"body"}`},
			},
			run: func(t *testing.T, c *Client) {
				require.NoError(t, c.Emails.Delete(t.Context(), 3))
				require.ErrorIs(t, c.Emails.Delete(t.Context(), 3), ErrNotFound)
				require.NoError(t, c.Emails.DeleteForUser(t.Context(), 2, 3))
				require.NoError(t, c.Emails.DeleteForUser(t.Context(), 2, 3), "the contract does not show the response")
			},
		},
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
