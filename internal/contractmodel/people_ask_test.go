package contractmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// peoplePage is one response of a list.
type peoplePage struct {
	status int
	ids    []int64
	rows   []map[string]json.RawMessage
	body   string
	header http.Header
	next   string // rel=next
}

// get requests a page over plain HTTP. who is -1 without a credential.
func (s *peopleServer) get(t *rapid.T, who int, address string) *peoplePage {
	req, err := http.NewRequest(http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if who >= 0 {
		req.Header.Set("PRIVATE-TOKEN", s.users[who].Token)
	}
	res, err := peopleHTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	p := &peoplePage{status: res.StatusCode, body: string(body), header: res.Header}
	if p.status == http.StatusOK {
		if err := json.Unmarshal(body, &p.rows); err != nil {
			t.Fatalf("GET %s: %v in %s", address, err, body)
		}
		for _, row := range p.rows {
			id, err := strconv.ParseInt(string(row["id"]), 10, 64)
			if err != nil {
				t.Fatalf("GET %s: a row without an id in %s", address, body)
			}
			p.ids = append(p.ids, id)
		}
	}
	for link := range strings.SplitSeq(res.Header.Get("Link"), ",") {
		target, rel, _ := strings.Cut(strings.TrimSpace(link), ";")
		if strings.Contains(rel, `rel="next"`) {
			p.next = strings.Trim(target, "<>")
		}
	}
	return p
}

// walk requests all pages. problem describes a violation of the rules of document 1 §8.1.
func (s *peopleServer) walk(t *rapid.T, who int, address string, query url.Values, perPage int, keyset bool) (pages []*peoplePage, problem string) {
	if perPage == 0 {
		perPage = 20 // not sent
	} else {
		query.Set("per_page", strconv.Itoa(perPage))
	}
	if keyset {
		query.Set("pagination", "keyset")
	}
	for next := address + "?" + query.Encode(); next != ""; {
		page := s.get(t, who, next)
		pages = append(pages, page)
		if page.status != http.StatusOK || len(pages) > 300 {
			break
		}
		next = page.next
	}
	if pages[0].status != http.StatusOK {
		return pages, ""
	}
	for i, page := range pages {
		last := i == len(pages)-1
		switch {
		case page.status != http.StatusOK:
			return pages, fmt.Sprintf("page %d: status %d", i+1, page.status)
		case len(page.ids) > perPage, !last && len(page.ids) != perPage:
			return pages, fmt.Sprintf("page %d of %d has %d items, of %d", i+1, len(pages), len(page.ids), perPage)
		case !keyset && last && i > 0 && len(page.ids) == 0:
			return pages, fmt.Sprintf("page %d is empty, and page %d announced it", i+1, i)
		}
	}
	if keyset {
		return pages, ""
	}
	return pages, peopleHeaders(pages, perPage)
}

// peopleHeaders checks the headers of offset pagination.
func peopleHeaders(pages []*peoplePage, perPage int) string {
	total := 0
	for _, page := range pages {
		total += len(page.ids)
	}
	for i, page := range pages {
		number := func(n int, there bool) string { return map[bool]string{true: strconv.Itoa(n)}[there] }
		for name, want := range map[string]string{
			"X-Page": number(i+1, true), "X-Per-Page": number(perPage, true), "X-Total": number(total, true),
			"X-Next-Page": number(i+2, i+1 < len(pages)), "X-Prev-Page": number(i, i > 0), "X-Total-Pages": number(len(pages), true),
		} {
			got := page.header.Get(name)
			if got != want && (name != "X-Total-Pages" || total > 0 || got != "0") {
				return fmt.Sprintf("page %d of %d: %s is %q, not %q", i+1, len(pages), name, got, want)
			}
		}
	}
	return ""
}

// fits reports whether a list agrees with an expected result. Tied rows may be in any order.
func (a *peopleAnswer) fits(status int, ids []int64) bool {
	if a.Refused != nil {
		return slices.Contains(a.Refused, status)
	}
	if status != http.StatusOK {
		return false
	}
	for _, tied := range a.Rows {
		if len(ids) < len(tied) {
			return false
		}
		got := slices.Sorted(slices.Values(ids[:len(tied)]))
		if !slices.Equal(got, slices.Sorted(slices.Values(tied))) {
			return false
		}
		ids = ids[len(tied):]
	}
	return len(ids) == 0
}

// peopleCompare compares every page with the model's results, and notes the status and the filters that found something.
func peopleCompare(t *rapid.T, s *peopleServer, w *peopleWorld, q *peopleQuery, address string, perPage int, answers []peopleAnswer, note func(string)) {
	pages, problem := s.walk(t, q.Who, s.URL+"/api/v4"+address, q.Params, perPage, q.Keyset)
	request := fmt.Sprintf("user %d: GET %s?%s", q.Who, address, q.Params.Encode())
	if problem != "" {
		t.Fatalf("%s: %s", request, problem)
	}
	var ids []int64
	for _, page := range pages {
		ids = append(ids, page.ids...)
	}
	if !slices.ContainsFunc(answers, func(a peopleAnswer) bool { return a.fits(pages[0].status, ids) }) {
		t.Logf("%+v", *w)
		t.Fatalf("%s\nis %d %v %.200s\nmodel: %+v", request, pages[0].status, ids, pages[0].body, answers[:min(len(answers), 8)])
	}
	note(strconv.Itoa(pages[0].status))
	for name := range q.Params {
		if len(ids) > 0 {
			note("found by " + name)
		}
	}
	if !q.Keyset && pages[0].status == http.StatusOK {
		n := number(t, "page", 1, len(pages)+2)
		q.Params.Set("page", strconv.Itoa(n))
		want := ids[min((n-1)*perPage, len(ids)):min(n*perPage, len(ids))]
		if page := s.get(t, q.Who, s.URL+"/api/v4"+address+"?"+q.Params.Encode()); !slices.Equal(page.ids, want) {
			t.Fatalf("%s&page=%d\nis %d %v\nand was %v", request, n, page.status, page.ids, want)
		}
		q.Params.Del("page")
	}
}
