package forgetest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"crypto/sha256"

	"github.com/forge-sdk/forge-go/forgetest"
)

var linkURL = regexp.MustCompile("<[^>]*>")

// page is what a client sees of one page.
type page struct {
	Status int
	Header map[string]string
	Names  []string
	Error  string
}

// pageOf requests a page. The name of the list and of the position parameter are replaced, so that
// pages of two lists can be compared.
func pageOf(t *testing.T, srv *forgetest.Server, path, name string, query url.Values, column string) page {
	t.Helper()
	response, body := fetch(t, srv, "GET", path+"?"+query.Encode(), nil)
	p := page{Status: response.StatusCode, Header: map[string]string{}}
	for _, header := range []string{"X-Page", "X-Per-Page", "X-Prev-Page", "X-Next-Page", "X-Total", "X-Total-Pages", "Link", "Content-Type"} {
		values, sent := response.Header[header]
		p.Header[header] = fmt.Sprint(sent, values)
	}
	p.Header["Link"] = linkURL.ReplaceAllStringFunc(p.Header["Link"], func(link string) string {
		u, err := url.Parse(strings.Trim(link, "<>"))
		require.NoError(t, err)
		query := u.Query()
		for _, position := range []string{"page_token", "cursor"} {
			if query.Has(position) {
				query.Set("POSITION", query.Get(position))
				query.Del(position)
			}
		}
		u.RawQuery = query.Encode()
		return "<" + strings.Replace(u.String(), "/"+name+"?", "/LIST?", 1) + ">"
	})
	if p.Status != 200 {
		p.Error = string(body)
		return p
	}
	var items []map[string]any
	require.NoError(t, json.Unmarshal(body, &items))
	require.NotNil(t, items, "an empty list is [], not null")
	for _, item := range items {
		p.Names = append(p.Names, fmt.Sprint(item[column]))
	}
	return p
}

// A page of an added route is the page of a list of the contract with as many items, with any
// parameters.
func TestWritePageMatchesTheContract(t *testing.T) {
	srv := forgetest.New(t)
	for _, n := range []int{0, 1, 19, 20, 21, 99, 100, 101, 250} {
		srv.AddGroup(fmt.Sprintf("g%d", n))
		srv.AddProject(fmt.Sprintf("g%d/app", n)).AddIssues(n, nil)
	}
	srv.Handle("GET /groups/:id/jobs", func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, err := fmt.Sscanf(forgetest.GroupFrom(r).Path, "g%d", &n)
		assert.NoError(t, err)
		var jobs []map[string]any
		for i := range n {
			jobs = append(jobs, map[string]any{"iid": n - i})
		}
		forgetest.WritePage(w, r, jobs)
	})
	rapid.Check(t, func(draw *rapid.T) {
		group := fmt.Sprintf("g%d", rapid.SampledFrom([]int{0, 1, 19, 20, 21, 99, 100, 101, 250}).Draw(draw, "n"))
		query := url.Values{}
		for _, name := range []string{"page", "per_page"} {
			if rapid.Bool().Draw(draw, "has "+name) {
				query.Set(name, rapid.OneOf(rapid.StringMatching(`[0-9]{1,3}`), rapid.SampledFrom([]string{"", "x", "-1", "1.5", "99999999999999999999"})).Draw(draw, name))
			}
		}
		if rapid.IntRange(0, 9).Draw(draw, "mode") == 0 {
			query.Set("pagination", "keyset")
		}
		contract := pageOf(t, srv, "/groups/"+group+"/issues", "issues", query, "iid")
		added := pageOf(t, srv, "/groups/"+group+"/jobs", "jobs", query, "iid")
		require.Equal(draw, contract, added)
	})

}

// A keyset page of an added route is that of the tree, except for the name of the position.
func TestWriteKeysetPageMatchesTheContract(t *testing.T) {
	srv := forgetest.New(t)
	sizes := []int{1, 7, 20, 45}
	for _, n := range sizes {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprintf("f%02d", i)] = "x"
		}
		srv.AddProject(fmt.Sprintf("acme/p%d", n)).AddFiles(files)
	}
	type entry struct {
		Path string `json:"path"`
	}
	srv.Handle("GET /projects/:id/repository/entries", func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, err := fmt.Sscanf(forgetest.ProjectFrom(r).Path, "acme/p%d", &n)
		assert.NoError(t, err)
		entries := make([]entry, n)
		for i := range entries {
			entries[i].Path = fmt.Sprintf("f%02d", i)
		}
		sort.Slice(entries, func(i, j int) bool { return entries[i].Path < entries[j].Path })
		forgetest.WriteKeysetPage(w, r, entries, func(e entry) string {
			srv.AddUser("nobody") // the key may use the server
			return e.Path
		})
	})
	rapid.Check(t, func(draw *rapid.T) {
		base := fmt.Sprintf("/projects/acme%%2Fp%d/repository/", rapid.SampledFrom(sizes).Draw(draw, "n"))
		query := url.Values{"per_page": {fmt.Sprint(rapid.IntRange(1, 50).Draw(draw, "per page"))}}
		if rapid.IntRange(0, 3).Draw(draw, "mode") > 0 {
			query.Set("pagination", "keyset")
		}
		token := ""
		for range rapid.IntRange(1, 8).Draw(draw, "pages") {
			if token != "" {
				query.Set("page_token", token)
			}
			contract := pageOf(t, srv, base+"tree", "tree", query, "path")
			query.Del("page_token")
			if token != "" {
				query.Set("cursor", token)
			}
			added := pageOf(t, srv, base+"entries", "entries", query, "path")
			query.Del("cursor")
			require.Equal(draw, contract, added)
			if _, after, found := strings.Cut(contract.Header["Link"], "POSITION="); found {
				token, _, _ = strings.Cut(after, "&")
				token, _, _ = strings.Cut(token, ">")
			}
		}
	})
	response, _ := fetch(t, srv, "GET", "/projects/1/repository/entries?pagination=keyset&cursor=nonsense", nil)
	assert.Equal(t, 400, response.StatusCode)
}

// A GET of JSON has an ETag, which changes with the body, and If-None-Match makes it a 304: for
// routes of the contract and for added ones.
func TestConditionalRequests(t *testing.T) {
	srv := forgetest.New(t)
	app := srv.AddProject("acme/app")
	app.AddIssues(30, nil)
	srv.Handle("GET /groups/:id/jobs", func(w http.ResponseWriter, r *http.Request) {
		forgetest.WritePage(w, r, make([]job, app.AddIssue(nil).ID))
	})
	srv.Handle("POST /groups/:id/jobs", serveJob)
	for _, path := range []string{"/issues", "/groups/acme/jobs"} {
		first, body := fetch(t, srv, "GET", path, nil)
		tag := first.Header.Get("ETag")
		assert.Regexp(t, `^W/"[0-9a-f]{16}"$`, tag)
		app.AddIssue(nil)
		if path == "/issues" {
			second, changed := fetch(t, srv, "GET", path, nil)
			assert.NotEqual(t, sha256.Sum256(body), sha256.Sum256(changed))
			assert.NotEqual(t, tag, second.Header.Get("ETag"))
			tag = second.Header.Get("ETag")
		}
		for header, method := range map[string]string{tag: "HEAD", tag[2:]: "GET", `"other", ` + tag: "GET", "*": "GET"} {
			same, none := fetch(t, srv, method, path, nil, "If-None-Match", header)
			assert.Equal(t, []any{304, tag, ""}, []any{same.StatusCode, same.Header.Get("ETag"), same.Header.Get("Content-Type")}, "%s: %s", path, header)
			assert.Empty(t, none)
			assert.Contains(t, same.Header.Get("Link"), `page=2&per_page=20>; rel="next"`)
			last := srv.Requests()[len(srv.Requests())-1]
			assert.Empty(t, last.ResponseBody)
			assert.Equal(t, 304, last.Status)
		}
		other, body := fetch(t, srv, "GET", path, nil, "If-None-Match", `W/"other"`)
		assert.Equal(t, 200, other.StatusCode)
		assert.NotEmpty(t, body)
	}
	srv.Handle("GET /groups/:id/tagged", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"own"`)
		_, _ = w.Write([]byte("{}"))
	})
	tagged, _ := fetch(t, srv, "GET", "/groups/acme/tagged", nil)
	same, _ := fetch(t, srv, "GET", "/groups/acme/tagged", nil, "If-None-Match", `"own"`)
	assert.Equal(t, []any{`"own"`, 304}, []any{tagged.Header.Get("ETag"), same.StatusCode})
	for method, path := range map[string]string{"POST": "/groups/acme/jobs", "GET": "/groups/none/jobs", "PUT": "/user"} {
		response, _ := fetch(t, srv, method, path, nil, "If-None-Match", "*")
		assert.NotEqual(t, 304, response.StatusCode)
		assert.Empty(t, response.Header.Get("ETag"))
	}
}
