package forge

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// RFC 8288 as servers and proxies write it.
func TestNextLink(t *testing.T) {
	for _, test := range []struct {
		want    string
		headers []string
	}{
		{"", nil},
		{"", []string{""}},
		{"/a?page=2", []string{`</a?page=2>; rel="next"`}},
		{"/a?page=2", []string{`</a?page=2>; rel=next`}},
		{"/a?page=2", []string{`</a?page=2>;rel=next`}},
		{"/a?page=2", []string{`</a?page=2> ; rel = "next" `}},
		{"/a?page=2", []string{"</a?page=2>\t;\trel\t=\t\"next\""}},
		{"/a?page=2", []string{`</a?page=2>; REL="NEXT"`}},
		{"/a?page=2", []string{`</a?page=2>; rel="prev next"`}},
		{"/a?page=2", []string{`</a?page=2>; title="x"; rel=next`}},
		{"/a?page=2", []string{`</a?page=2>; rel=next; title="x"`}},
		{"/a?page=2", []string{`</a?page=2>; title="a, b; <c>; rel=last"; rel=next`}},
		{"/a?page=2", []string{`</a?page=2>; title="a \" b, <c>"; rel=next`}},
		{"/a?page=2", []string{`</a?page=2>; crossorigin; rel=next`}},
		{"/n", []string{`</p>; rel="prev", </n>; rel="next", </l>; rel="last"`}},
		{"/n", []string{`</l>; rel="last",</n>; rel="next"`}},
		{"/n", []string{`</p>; rel="prev"`, `</n>; rel="next"`}},
		{"/n", []string{`garbage`, `</n>; rel="next"`}},
		{"/n", []string{`<unclosed`, `</n>; rel="next"`}},
		{"/n", []string{`</p>, </n>; rel="next"`}},
		{"/n", []string{`, , </n>; rel="next"`}},
		{"/n", []string{`</p> garbage, </n>; rel=next`}},
		{"/n", []string{`</p>; title="unclosed`, `</n>; rel=next`}},
		{"/a?x=1,2;3&y=<", []string{`</a?x=1,2;3&y=<>; rel="next"`}},
		{"/a?labels=a,b&page=2", []string{`</a?labels=a,b&page=1>; rel="prev", </a?labels=a,b&page=2>; rel="next"`}},
		{"", []string{`</a>; rel="nextish"`}},
		{"", []string{`</a>; rel="x-next"`}},
		{"", []string{`</a>; title="next"`}},
		{"", []string{`</a>; title="rel=next"`}},
		{"", []string{`</a>; relation=next`}},
		{"", []string{`rel="next"; </a>`}},
	} {
		h := http.Header{"Link": test.headers}
		link, _ := nextLink(h)
		assert.Equal(t, test.want, link, "%q", test.headers)
	}
}
