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

	"github.com/forge-sdk/forge-go/forgetest"
)

// trackerAnswer is the server's result: a list, or the status of a refusal.
type trackerAnswer struct {
	status int
	items  []*trackerItem
}

// path returns the address of the list.
func (q *trackerRequest) path(w *trackerWorld) string {
	id, path := "999999", "acme/missing"
	switch {
	case q.Target == trackerNobody:
	case q.List == trackerGroupIssues:
		id, path = strconv.FormatInt(w.Groups[q.Target].ID, 10), w.Groups[q.Target].Path
	default:
		if q.List == trackerProjectMerges {
			id, path = strconv.FormatInt(w.Projects[q.Target].ID, 10), w.Projects[q.Target].Path
		}
	}
	if q.ByPath {
		id = url.PathEscape(path)
	}
	return "/api/v4" + strings.Replace(strings.TrimPrefix(q.List, "GET "), ":id", id, 1)
}

// ask reads all pages of a list. It returns an error if a page breaks the rules of document 1 §8.1.
func (q *trackerRequest) ask(client *http.Client, s *forgetest.Server, w *trackerWorld) (*trackerAnswer, error) {
	params := url.Values{}
	for name, values := range q.Params {
		params[name] = values
	}
	if q.Size != "" {
		params.Set("per_page", q.Size)
	}
	if q.Keyset {
		params.Set("pagination", "keyset")
	}
	next := s.URL + q.path(w) + "?" + params.Encode()
	answer := &trackerAnswer{}
	for page := 1; next != ""; page++ {
		if page > 200 {
			return nil, fmt.Errorf("the list does not end")
		}
		response, items, err := q.page(client, w, next)
		if err != nil {
			return nil, err
		}
		if answer.status = response.StatusCode; answer.status != http.StatusOK {
			return answer, nil
		}
		answer.items = append(answer.items, items...)
		if next, err = q.next(response, params, s.URL+q.path(w), page, len(items), len(answer.items)); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// page reads one page.
func (q *trackerRequest) page(client *http.Client, w *trackerWorld, address string) (*http.Response, []*trackerItem, error) {
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	if q.Who != trackerNobody {
		request.Header.Set("Private-Token", w.Users[q.Who].Token)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, nil, err
	}
	var rows []struct {
		ID  int64  `json:"id"`
		URL string `json:"web_url"`
	}
	if err := json.Unmarshal(body, &rows); err != nil {
		return nil, nil, err
	}
	var items []*trackerItem
	for _, row := range rows {
		i := slices.IndexFunc(w.Items, func(it *trackerItem) bool { return it.ID == row.ID || it.URL == row.URL })
		if i < 0 {
			return nil, nil, fmt.Errorf("an unknown item: id %d, %s", row.ID, row.URL)
		}
		items = append(items, w.Items[i])
	}
	return response, items, nil
}

// size returns the page size: 20 if the query does not set it.
func (q *trackerRequest) size() int {
	if size, err := strconv.Atoi(q.Size); err == nil {
		return size
	}
	return 20
}

// next checks the pagination of a page, and returns the address of the next page.
func (q *trackerRequest) next(response *http.Response, params url.Values, base string, page, items, sofar int) (string, error) {
	size := q.size()
	links := map[string]string{}
	for part := range strings.SplitSeq(response.Header.Get("Link"), ", ") {
		if address, rel, ok := strings.Cut(part, "; rel="); ok {
			links[strings.Trim(rel, `"`)] = strings.Trim(address, "<>")
		}
	}
	number := func(n int) string {
		if n < 1 {
			return ""
		}
		return strconv.Itoa(n)
	}
	total, err := strconv.Atoi(response.Header.Get("X-Total"))
	if err != nil {
		return "", err
	}
	pages := max(1, (total+size-1)/size)
	following := page + 1
	if page >= pages {
		following = 0
	}
	for name, want := range map[string]string{
		"X-Page": number(page), "X-Per-Page": number(size), "X-Next-Page": number(following), "X-Prev-Page": number(page - 1), "X-Total-Pages": number(pages),
	} {
		if got := response.Header.Get(name); got != want {
			return "", fmt.Errorf("page %d of %d items in pages of %d: %s is %q, not %q", page, total, size, name, got, want)
		}
	}
	if items != min(size, total-(page-1)*size) || (links["next"] != "") != (following > 0) || following == 0 && sofar != total {
		return "", fmt.Errorf("page %d of %d items in pages of %d has %d items, next is %q", page, total, size, items, links["next"])
	}
	if following == 0 || q.Links {
		return links["next"], nil
	}
	params.Set("page", strconv.Itoa(following))
	return base + "?" + params.Encode(), nil
}

// trackerEdges are page numbers and sizes outside of document 1 §8.1. Open: whether a page number
// below 1, or a size below 1 or above 100, is refused, or replaced by the nearest valid value.
var trackerEdges = []struct {
	query      string
	refused    bool // it must be refused
	refusable  bool // it may be refused
	size, page int  // the values that it acts as; size 0 is the default, page 0 is after the last
}{
	{"per_page=x", true, true, 0, 1}, {"page=x", true, true, 0, 1}, {"per_page=1.5", true, true, 0, 1},
	{"per_page=0", false, true, 20, 1}, {"per_page=-1", false, true, 20, 1},
	{"per_page=101", false, true, 100, 1}, {"per_page=1000", false, true, 100, 1},
	{"page=0", false, true, 20, 1}, {"page=-1", false, true, 20, 1}, {"page=99", false, false, 20, 0},
	{"page=2&per_page=100", false, false, 100, 0}, {"page=1&per_page=7", false, false, 7, 1},
}

// edge requests one of trackerEdges, and compares the page with the whole list.
func (q *trackerRequest) edge(client *http.Client, s *forgetest.Server, w *trackerWorld, whole []*trackerItem) error {
	edge := trackerEdges[q.Edge-1]
	address := s.URL + q.path(w) + "?" + q.Params.Encode() + "&" + edge.query
	response, items, err := q.page(client, w, address)
	if err != nil {
		return err
	}
	if response.StatusCode == http.StatusBadRequest && edge.refusable {
		return nil
	}
	want := whole[:min(edge.size, len(whole))]
	if edge.page == 0 {
		want = nil
	}
	if response.StatusCode != http.StatusOK || edge.refused || !slices.Equal(items, want) {
		return fmt.Errorf("%s: status %d with %s of %s", edge.query, response.StatusCode, trackerIDs(items), trackerIDs(whole))
	}
	return nil
}

// compare returns an error if a result disagrees with the model.
func (e *trackerExpected) compare(w *trackerWorld, answer *trackerAnswer) error {
	if answer.status != http.StatusOK {
		if !slices.Contains(e.Refusals, answer.status) {
			return fmt.Errorf("status %d; the model allows %v", answer.status, e.Refusals)
		}
		return nil
	}
	if e.Must {
		return fmt.Errorf("a list of %d; the model refuses it with %v", len(answer.items), e.Refusals)
	}
	got := map[int64]bool{}
	for _, it := range answer.items {
		if got[it.ID] {
			return fmt.Errorf("item %d is in the list twice: %s", it.ID, trackerIDs(answer.items))
		}
		got[it.ID] = true
	}
	for _, it := range w.Items {
		if verdict := e.Verdicts[it.ID]; got[it.ID] && verdict == trackerNo || !got[it.ID] && verdict == trackerYes {
			return fmt.Errorf("item %d is in the list: %t; the model says otherwise: %s\n%+v", it.ID, got[it.ID], trackerIDs(answer.items), it)
		}
	}
	for i, a := range answer.items {
		for _, b := range answer.items[i+1:] {
			if order, sure := e.Order(w, a, b, e.Desc); sure && order > 0 {
				return fmt.Errorf("item %d is before item %d: %s\n%+v\n%+v", a.ID, b.ID, trackerIDs(answer.items), a, b)
			}
		}
	}
	return nil
}

func trackerIDs(items []*trackerItem) string {
	ids := []int64{}
	for _, it := range items {
		ids = append(ids, it.ID)
	}
	return fmt.Sprint(ids)
}
