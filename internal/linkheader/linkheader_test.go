package linkheader

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Link headers of RFC 8288 in the forms of servers and proxies.
func TestNext(t *testing.T) {
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
		{"/n", []string{`<>; rel=prev, </n>; rel=next`}},
		{"/n", []string{`</p>;, </n>; rel=next`}},
		{"/n", []string{`</p>; rel=, </n>; rel=next`}},
		{"/n", []string{`</n>; title="a,"; rel=next`}},
		{"/n", []string{`</p>; title="unclosed`, `</n>; rel=next`}},
		{"/a?x=1,2;3&y=<", []string{`</a?x=1,2;3&y=<>; rel="next"`}},
		{"/a?labels=a,b&page=2", []string{`</a?labels=a,b&page=1>; rel="prev", </a?labels=a,b&page=2>; rel="next"`}},
		{"", []string{`</a>; rel="nextish"`}},
		{"", []string{`</a>; rel="x-next"`}},
		{"", []string{`</a>; title="next"`}},
		{"", []string{`</a>; x="a; rel=next; b"`}},
		{"", []string{`</a>; relation=next`}},
		{"", []string{`rel="next"; </a>`}},
	} {
		h := http.Header{"Link": test.headers}
		link, _ := Next(h)
		assert.Equal(t, test.want, link, "%q", test.headers)
	}
}

// FuzzNext checks that no header makes Next panic or hang, and that a well-formed next link is
// found after any well-formed links.
func FuzzNext(f *testing.F) {
	for _, s := range []string{`</a?page=2>; rel="next"`, `<a>, <b>; rel=next`, `<a>; title="x, y; <z>"; rel="prev next"`, `<`, `;;,<>"`, `<a>;rel="\`} {
		f.Add(s, "/a?page=2")
	}
	f.Fuzz(func(t *testing.T, header, address string) {
		found, _ := Next(http.Header{"Link": {header}})
		require.Contains(t, header, found)
		if strings.Contains(address, ">") || address == "" {
			return
		}
		quoted := `<x>; title="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(header) + `"; rel=last, <` + address + `>; rel="next"`
		requireNext(t, address, quoted)
		requireNext(t, address, "garbage", "<"+address+">; rel=next")
	})
}

func requireNext(t *testing.T, address string, headers ...string) {
	t.Helper()
	link, found := Next(http.Header{"Link": headers})
	require.True(t, found)
	require.Equal(t, address, link)
}
