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
	if matchesTag(r.Header.Values("If-None-Match"), tag) {
		a.status, a.body = http.StatusNotModified, nil
		a.header.Del("Content-Type")
		a.header.Del("Content-Length")
	}
}

// matchesTag reports whether the values of If-None-Match include a tag. The comparison is weak (RFC
// 9110 §8.8.3.2).
func matchesTag(values []string, tag string) bool {
	wanted := strings.Split(strings.Join(values, ","), ",")
	return slices.ContainsFunc(wanted, func(value string) bool {
		value = strings.TrimSpace(value)
		return value == "*" || strings.TrimPrefix(value, "W/") == strings.TrimPrefix(tag, "W/")
	})
}
