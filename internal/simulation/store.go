package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
)

// gatherStore reads the effects of the program's writes from the server.
func (p *player) gatherStore(out *Outcome) {
	out.stored, out.spent, out.addresses = map[string][]sum{}, map[string]int64{}, map[string]int{}
	uses := func(names ...string) bool {
		return slices.ContainsFunc(p.seen, func(o *observed) bool { return slices.Contains(names, o.step.Call) })
	}
	if uses("SecureFiles.Upload") {
		p.gatherFiles(out)
	}
	if uses("Emails.Create", "Emails.CreateForUser") {
		for _, path := range []string{"/user/emails", fmt.Sprintf("/users/%d/emails", p.f.member.ID)} {
			for _, email := range p.list(path) {
				out.addresses[email["email"].(string)]++
			}
		}
	}
	for _, o := range p.seen {
		if strings.HasSuffix(o.row.route, "/add_spent_time") {
			path := fmt.Sprintf("/projects/%d/issues/%d/time_stats", p.f.work.ID, p.f.own[o.step.ID])
			var stats struct {
				Spent int64 `json:"total_time_spent"`
			}
			p.read(path, &stats)
			out.spent[o.step.ID] = stats.Spent
		}
	}
}

func (p *player) gatherFiles(out *Outcome) {
	for _, file := range p.list(fmt.Sprintf("/projects/%d/secure_files", p.f.work.ID)) {
		name := file["name"].(string)
		path := fmt.Sprintf("/projects/%d/secure_files/%v/download", p.f.work.ID, file["id"])
		out.stored[name] = append(out.stored[name], sumOf(p.raw(path, "").Body.Bytes()))
	}
}

// raw reads a path as the administrator.
func (p *player) raw(path, query string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, p.w.Server.URL+"/api/v4"+path+query, nil)
	r.Header.Set("PRIVATE-TOKEN", p.w.Server.Token)
	recorder := httptest.NewRecorder()
	p.w.below.ServeHTTP(recorder, r)
	return recorder
}

func (p *player) read(path string, out any) {
	response := p.raw(path, "")
	if err := json.Unmarshal(response.Body.Bytes(), out); err != nil {
		panic(fmt.Sprintf("%s: %v: %s", path, err, response.Body))
	}
}

// list reads all pages of a list.
func (p *player) list(path string) (all []map[string]any) {
	for page := "1"; page != ""; {
		response := p.raw(path, "?per_page=100&page="+page)
		var items []map[string]any
		if err := json.Unmarshal(response.Body.Bytes(), &items); err != nil {
			panic(fmt.Sprintf("%s: %v: %s", path, err, response.Body))
		}
		all = append(all, items...)
		page = response.Header().Get("X-Next-Page")
	}
	return all
}

// find requests the IDs that furnish does not know, and sets up the integration that steps only
// read.
func (p *player) find() {
	var versions []struct{ ID int64 }
	p.read(fmt.Sprintf("/projects/%d/merge_requests/%d/versions", p.f.app.ID, p.f.versioned.IID), &versions)
	p.f.own["version"] = versions[0].ID
	body := strings.NewReader(`{"recipients":"a@example.com"}`)
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPut, p.w.Server.URL+"/api/v4/groups/quiet/integrations/emails-on-push", body)
	r.Header.Set("PRIVATE-TOKEN", p.w.Server.Token)
	r.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	if p.w.below.ServeHTTP(recorder, r); recorder.Code >= 300 {
		panic(recorder.Body.String())
	}
}
