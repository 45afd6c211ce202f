package forgetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const manifestType = "application/vnd.neutral.distribution.manifest.v2+json"

// native sends requests to the registry and its token endpoint.
type native struct {
	caller
	s *Server
}

func (n native) do(method, address, user, secret, accept string) reply {
	n.t.Helper()
	credential := ""
	switch {
	case user != "":
		credential = "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+secret))
	case secret != "":
		credential = "Bearer " + secret
	}
	return n.as("").answer(method, address, "", "Authorization", credential, "Accept", accept)
}

func (n native) auth(user, secret string, scopes ...string) reply {
	query := url.Values{"service": {"container_registry"}, "scope": scopes}
	return n.do("GET", n.s.RegistryAuthURL+"/jwt/auth?"+query.Encode(), user, secret, "")
}

func (n native) token(user, secret string, scopes ...string) string {
	n.t.Helper()
	r := n.auth(user, secret, scopes...)
	require.Equal(n.t, 200, r.Status, r.Body)
	return r.object(n.t)["token"].(string)
}

func claimsOf(t *testing.T, token string) (c claims) {
	parts := strings.Split(token, ".")
	require.Len(t, parts, 3)
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &c))
	return c
}

func nativeWorld(t *testing.T, options ...Option) (native, *RegistryRepository) {
	s, r, c := registryWorld(t, options...)
	return native{c, s}, r
}

func TestRegistryTokens(t *testing.T) {
	n, _ := nativeWorld(t)
	jane, tom := n.s.AddUser("jane"), n.s.AddUser("tom")
	n.s.store.projects[0].AddMember(jane, Developer)
	n.s.AddProject("group/secret", Private).AddRegistryRepository("")
	job := n.s.store.projects[0].AddJobToken(jane)
	const image = "repository:group/app/web:"
	for _, tc := range []struct {
		user, secret string
		scopes       []string
		status       int
		access       []grant
	}{
		{"root", n.s.Token, []string{"registry:catalog:*"}, 200, []grant{{"registry", "catalog", []string{"*"}}}},
		{"jane", jane.Token, []string{"registry:catalog:*"}, 403, nil},
		{"jane", jane.Token, []string{image + "delete"}, 200, []grant{{"repository", "group/app/web", []string{"delete"}}}},
		{"JANE", jane.Token, []string{image + "pull,push"}, 200, []grant{{"repository", "group/app/web", []string{"pull", "push"}}}},
		{"tom", tom.Token, []string{image + "pull,push"}, 200, []grant{{"repository", "group/app/web", []string{"pull"}}}},
		{"tom", tom.Token, []string{image + "delete"}, 403, nil},
		{"tom", tom.Token, []string{"repository:group/secret:pull"}, 403, nil},
		{"tom", tom.Token, []string{"repository:nowhere/app:pull"}, 403, nil},
		{"tom", tom.Token, []string{image + "pull registry:catalog:*", image + "push"}, 200, []grant{{"repository", "group/app/web", []string{"pull"}}}},
		{"ci", job, []string{image + "push"}, 200, []grant{{"repository", "group/app/web", []string{"push"}}}},
		{"ci", job, []string{"repository:group/secret:pull"}, 403, nil},
		{"tom", jane.Token, []string{image + "pull"}, 401, nil},
		{"jane", "nonsense", []string{image + "pull"}, 401, nil},
		{"", "", []string{image + "pull"}, 401, nil},
		{"jane", jane.Token, []string{"pull"}, 400, nil},
		{"jane", jane.Token, nil, 400, nil},
	} {
		r := n.auth(tc.user, tc.secret, tc.scopes...)
		assert.Equal(t, tc.status, r.Status, "%s %v", tc.user, tc.scopes)
		if tc.status == 401 {
			assert.Equal(t, `Basic realm="registry"`, r.Header.Get("WWW-Authenticate"))
			assert.Contains(t, r.Body, `"code":"UNAUTHORIZED"`)
		}
		if tc.status != 200 {
			continue
		}
		c := claimsOf(t, r.object(t)["token"].(string))
		assert.Equal(t, tc.access, c.Access)
		assert.Equal(t, noon().Add(registryTokenLife).Unix(), c.Expires)
	}
	assert.Equal(t, 400, n.do("GET", n.s.RegistryAuthURL+"/jwt/auth?service=other&scope="+image+"pull", "root", n.s.Token, "").Status)
	for _, tc := range []struct { // a registry that is private or off is so for registry tokens, too
		level     string
		jane, tom int
	}{{"private", 200, 403}, {"disabled", 403, 403}, {"enabled", 200, 200}} {
		require.Equal(t, 200, n.send("PUT", "/projects/1/", "container_registry_access_level="+tc.level).Status)
		assert.Equal(t, tc.jane, n.auth("jane", jane.Token, image+"pull").Status, tc.level)
		assert.Equal(t, tc.tom, n.auth("tom", tom.Token, image+"pull").Status, tc.level)
	}
}

func TestManifestDeletion(t *testing.T) {
	for _, form := range []string{"/manifests/", "/tags/reference/"} {
		n, r := nativeWorld(t)
		manifests := form == "/manifests/"
		at := n.s.RegistryURL + "/v2/group/app/web" + form
		token := n.token("root", n.s.Token, "repository:group/app/web:delete")
		assert.Equal(t, 401, n.as(token).get("/user").Status, "a registry token is not a token of the API")
		assert.Equal(t, 401, n.as("").with("GET", "/user", "Authorization", "Bearer "+token).Status)
		wrongAccept := 202
		if manifests {
			wrongAccept = 406
		}
		n.s.store.projects[0].ProtectRegistryTags("latest")
		more := n.s.store.projects[0].AddRegistryRepository("more").AddTag("v1", nil)
		for _, step := range []struct {
			tag, token, accept string
			status             int
			body               string
		}{
			{"v1", "", manifestType, 401, "UNAUTHORIZED"},
			{"v1", n.s.Token, manifestType, 401, "UNAUTHORIZED"}, // no access token
			{"v1", token[:len(token)-2] + "xx", manifestType, 401, "UNAUTHORIZED"},
			{"v1", n.token("root", n.s.Token, "repository:group/app/web:pull,push"), manifestType, 401, "UNAUTHORIZED"},
			{"v1", n.token("root", n.s.Token, "repository:group/app:delete"), manifestType, 401, "UNAUTHORIZED"},
			{"latest", token, manifestType, 403, "DENIED"},
			{"none", token, manifestType, 404, "MANIFEST_UNKNOWN"},
			{"feature/x", token, manifestType, 404, "no such route"}, // a slash needs escaping
			{"v2", token, "application/json, " + manifestType + ";q=0.9", 202, ""},
			{"v2", token, manifestType, 404, "MANIFEST_UNKNOWN"},
			{"feature%2Fx", token, "application/json", wrongAccept, ""},
			{"v1", token, manifestType, 202, ""},
		} {
			a := n.do("DELETE", at+step.tag, "", step.token, step.accept)
			assert.Regexp(t, step.body+`(\W|$)`, a.Body, "%s %s", form, step.tag)
			assert.Equal(t, step.status, a.Status, "%s%s %s", form, step.tag, a.Body)
			assert.Equal(t, a.Status == 401 || a.Status == 202, a.Header.Get("Docker-Distribution-Api-Version") == "registry/2.0", step.tag)
		}
		want := []string{"latest"}
		if manifests {
			want = []string{"feature/x", "latest"}
		}
		assert.Equal(t, want, r.Tags())
		route := "DELETE /v2/:image_path" + form + ":tag"
		assert.Equal(t, 11, n.s.CountRequests(route))
		assert.Equal(t, 4-len(want), n.s.CountApplied(route))
		digest := more.tag("v1").doc.text("digest")
		more.AddTag("v2", func(d *Document) { d.Set("digest", digest) }).AddTag("v3", nil)
		ofMore := n.token("root", n.s.Token, "repository:group/app/more:delete")
		assert.Equal(t, 202, n.do("DELETE", n.s.RegistryURL+"/v2/group/app/more"+form+digest, "", ofMore, manifestType).Status)
		assert.Equal(t, []string{"v3"}, more.Tags(), "all tags of the image")
		unknown := n.token("root", n.s.Token, "repository:group/app/none:delete")
		assert.Contains(t, n.do("DELETE", n.s.RegistryURL+"/v2/group/app/none"+form+"x", "", unknown, manifestType).Body, `"NAME_UNKNOWN"`)
		for _, accept := range []string{"", "*/*", strings.Replace(manifestType, "v2", "v1", 1)} {
			if manifests {
				assert.Equal(t, 406, n.do("DELETE", at+"feature%2Fx", "", token, accept).Status, accept)
			}
		}
		n.s.DisableRegistryTagDelete()
		assert.Equal(t, 405, n.do("DELETE", at+"latest", "", token, manifestType).Status)
	}
}

func TestRegistryChallengesAndExpiry(t *testing.T) {
	n, _ := nativeWorld(t, WithPrefix("/forge"))
	pass := ticking(n.s)
	at := n.s.RegistryURL + "/v2/group/app/web/manifests/v1"
	assert.Equal(t, n.s.RegistryURL+"/forge", n.s.RegistryAuthURL)
	ask := func(token string) string {
		return n.do("DELETE", at, "", token, manifestType).Header.Get("WWW-Authenticate")
	}
	challenge := `Bearer realm="` + n.s.RegistryAuthURL + `/jwt/auth",service="container_registry",scope="repository:group/app/web:delete"`
	assert.Equal(t, challenge, ask(""))
	assert.Equal(t, challenge+`,error="invalid_token"`, ask("a.b.c"))
	assert.Equal(t, challenge+`,error="insufficient_scope"`, ask(n.token("root", n.s.Token, "repository:group/app/web:pull")))
	token := n.token("root", n.s.Token, "repository:group/app/web:delete")
	pass(registryTokenLife)
	assert.Equal(t, challenge+`,error="invalid_token"`, ask(token))
	pass(-time.Second)
	assert.Equal(t, 202, n.do("DELETE", at, "", token, manifestType).Status)
}

func TestCatalog(t *testing.T) {
	n, _ := nativeWorld(t)
	p := n.s.AddProject("group/more")
	for _, name := range []string{"e", "c", "d", "a", "b"} {
		p.AddRegistryRepository(name)
	}
	token := n.token("root", n.s.Token, "registry:catalog:*")
	all := []string{"group/app", "group/app/web", "group/more/a", "group/more/b", "group/more/c", "group/more/d", "group/more/e"}
	get := func(query string) (reply, []string) {
		r := n.do("GET", n.s.RegistryURL+"/v2/_catalog"+query, "", token, "")
		var body struct{ Repositories []string }
		require.NoError(t, json.Unmarshal([]byte(r.Body), &body), r.Body)
		return r, body.Repositories
	}
	whole, names := get("")
	assert.Equal(t, all, names)
	assert.Empty(t, whole.Header.Get("Link"))
	assert.Equal(t, []string{"registry/2.0", ""}, []string{whole.Header.Get("Docker-Distribution-Api-Version"), whole.Header.Get("ETag")})
	var walked []string
	pages := 0
	for query := "?n=1"; query != ""; pages++ {
		r, names := get(query)
		walked = append(walked, names...)
		link, found := strings.CutPrefix(r.Header.Get("Link"), "</v2/_catalog") // relative
		assert.Equal(t, found, len(walked) < len(all))
		query = strings.TrimSuffix(link, `>; rel="next"`)
	}
	assert.Equal(t, all, walked)
	assert.Equal(t, 7, pages)
	exact, names := get("?n=7")
	assert.Equal(t, all, names)
	assert.Empty(t, exact.Header.Get("Link"))
	_, names = get("?last=group/more/d")
	assert.Equal(t, []string{"group/more/e"}, names)
	_, names = get("?last=z")
	assert.Empty(t, names)
	for _, bad := range []string{"0", "-1", "x"} {
		r := n.do("GET", n.s.RegistryURL+"/v2/_catalog?n="+bad, "", token, "")
		assert.Equal(t, 400, r.Status)
		assert.Contains(t, r.Body, `"PAGINATION_NUMBER_INVALID"`)
	}
	r := n.do("GET", n.s.RegistryURL+"/v2/_catalog", "", n.token("root", n.s.Token, "repository:group/app:pull"), "")
	assert.Equal(t, 401, r.Status)
	assert.Contains(t, r.Header.Get("WWW-Authenticate"), `scope="registry:catalog:*",error="insufficient_scope"`)
	assert.Equal(t, 405, n.do("POST", n.s.RegistryURL+"/v2/_catalog", "", token, "").Status)
	for i := range 94 { // 101 repositories
		p.AddRegistryRepository(fmt.Sprint("x", i))
	}
	many, names := get("")
	assert.Len(t, names, 100)
	assert.NotEmpty(t, many.Header.Get("Link"))
	assert.Equal(t, 404, n.do("GET", n.s.URL+apiPath+"/v2/_catalog", "", token, "").Status) // the registry is not part of the API
}

// sendFile uploads a file as multipart.
func (c caller) sendFile(path, field, content string) reply {
	c.t.Helper()
	return c.upload(path, map[string]string{"@" + field: content})
}

func TestPlaceholders(t *testing.T) {
	s := New(t, WithNeutralNames())
	g := s.AddGroup("group")
	jane, owner, maintainer := s.AddUser("jane"), s.AddUser("owner"), s.AddUser("maintainer")
	s.AddUser("tom").Edit(func(d *Document) { d.Set("public_email", "tom@public.example") })
	g.AddMember(owner, Owner)
	g.AddMember(maintainer, Maintainer)
	for i, name := range []string{"Jane, old", "Tom", "Nobody"} {
		g.AddPlaceholder(Placeholder{SourceHost: "https://old.example", ImportType: "bitbucket", SourceID: decimal(int64(i + 1)), SourceName: name, SourceUser: "old"})
	}
	c := newCaller(t, s)
	path := "/groups/group/placeholder_reassignments"
	file := c.as(owner.Token).get(path)
	assert.Equal(t, 200, file.Status)
	assert.Equal(t, "text/csv; charset=utf-8", file.Header.Get("Content-Type"))
	assert.Contains(t, file.Header.Get("Content-Disposition"), "attachment")
	assert.Equal(t, placeholderHeader+"https://old.example,bitbucket,1,\"Jane, old\",old,,\nhttps://old.example,bitbucket,2,Tom,old,,\nhttps://old.example,bitbucket,3,Nobody,old,,\n", file.Body)

	answer := c.as(owner.Token).sendFile(path, "file", placeholderHeader+
		"https://old.example,bitbucket,1,x,old,jane,\nhttps://old.example,bitbucket,2,x,old,,tom@public.example\nhttps://old.example,bitbucket,3,x,old,stranger,\n")
	assert.Equal(t, 201, answer.Status, answer.Body)
	assert.Contains(t, answer.object(t)["message"], "is being processed")
	assert.Nil(t, g.Placeholders()[0].User) // processed in the background
	s.FinishBackgroundJobs()
	assert.Equal(t, jane, g.Placeholders()[0].User)
	assert.Equal(t, "tom", g.Placeholders()[1].User.Username)
	assert.Nil(t, g.Placeholders()[2].User)
	assert.Equal(t, placeholderHeader+"https://old.example,bitbucket,3,Nobody,old,,\n", c.get(path).Body)

	assert.Equal(t, 403, c.as(maintainer.Token).get(path).Status)
	assert.Equal(t, 403, c.as(maintainer.Token).sendFile(path, "file", placeholderHeader).Status)
	assert.Equal(t, 401, c.as("").get(path).Status)
	assert.Equal(t, 404, c.get("/groups/jane/placeholder_reassignments").Status) // a personal namespace
	assert.Equal(t, 404, c.sendFile("/groups/jane/placeholder_reassignments", "file", placeholderHeader).Status)
	assert.JSONEq(t, `{"error":"file is missing"}`, c.sendFile(path, "other", placeholderHeader).Body)
	assert.JSONEq(t, `{"error":"file is missing"}`, c.post(path).Body)
	assert.JSONEq(t, `{"error":"file is invalid"}`, c.send("POST", path, "file=text").Body)
	for _, content := range []string{"", "a,b\n", "Source host\n"} {
		assert.Equal(t, 400, c.sendFile(path, "file", content).Status)
	}

	deployed := New(t)
	deployed.AddGroup("group")
	assert.Contains(t, newCaller(t, deployed).get(path).Body, "GitLab username,GitLab public email\n")
}
