package forgetest

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
)

// checkCondition adds an ETag to the response of a GET with a body, and makes it a 304 without a
// body if the request has the tag in If-None-Match. Deployed servers do both, the documents do not
// have it. A tag that the handler of Handle has set is kept.
func (a *response) checkCondition(r *http.Request) {
	if r.Method != http.MethodGet || a.status != http.StatusOK || len(a.body) == 0 {
		return
	}
	tag := a.header.Get("ETag")
	if tag == "" {
		hash := fnv.New64a()
		_, _ = hash.Write(a.body)
		tag = fmt.Sprintf(`W/"%016x"`, hash.Sum64())
		a.set("ETag", tag)
	}
	if slices.ContainsFunc(listed(r.Header, "If-None-Match"), func(value string) bool { return isTag(value, tag) }) {
		a.status, a.body = http.StatusNotModified, nil
		a.header.Del("Content-Type")
		a.header.Del("Content-Length")
	}
}

// listed returns the items of a header that is a list, from all its lines.
func listed(h http.Header, name string) (items []string) {
	for _, line := range h.Values(name) {
		items = append(items, strings.Split(line, ",")...)
	}
	return items
}

// isTag reports whether an item of If-None-Match is a tag, or any. The comparison is weak (RFC 9110
// §8.8.3.2).
func isTag(item, tag string) bool {
	item = strings.TrimSpace(item)
	return item == "*" || strings.TrimPrefix(item, "W/") == strings.TrimPrefix(tag, "W/")
}
