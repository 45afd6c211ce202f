package forge

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tagServer has tags, by name the age of their manifests; "" has none, and "gone" is not found. reads
// has the header X-Test of the read of each tag.
func tagServer(t *testing.T, ages map[string]string, names []string, fail string) (c *Client, most *atomic.Int32, reads *sync.Map) {
	t.Helper()
	handler, most, reads := tagHandler(t, ages, names, fail, 0)
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	return onceClient(t, srv.URL), most, reads
}

// tagHandler is the handler of tagServer. The response for a tag takes a time.
func tagHandler(t *testing.T, ages map[string]string, names []string, fail string, pause time.Duration) (h http.HandlerFunc, most *atomic.Int32, reads *sync.Map) {
	t.Helper()
	var running atomic.Int32
	now := time.Now()
	most, reads = new(atomic.Int32), new(sync.Map)
	return func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, http.MethodGet, r.Method, "a preview only reads")
		w.Header().Set("Content-Type", "application/json")
		path := strings.TrimPrefix(r.URL.Path, "/api/v4/projects/42/registry/repositories/3/tags")
		if path == "" {
			items := make([]string, len(names))
			for i, name := range names {
				items[i] = fmt.Sprintf(`{"name":%q}`, name)
			}
			fmt.Fprintf(w, "[%s]", strings.Join(items, ","))
			return
		}
		name := path[1:]
		if _, again := reads.LoadOrStore(name, r.Header.Get("X-Test")); again {
			t.Errorf("%s is read twice", name)
		}
		n := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
		}
		time.Sleep(pause)
		switch age := ages[name]; {
		case name == fail:
			w.WriteHeader(http.StatusForbidden)
		case age == "gone":
			w.WriteHeader(http.StatusNotFound)
		case age == "":
			fmt.Fprintf(w, `{"name":%q,"created_at":null}`, name)
		default:
			d, err := Age(age).duration()
			if err != nil {
				t.Errorf("%s: %v", age, err)
			}
			fmt.Fprintf(w, `{"name":%q,"created_at":%q}`, name, now.Add(-d).Format(time.RFC3339Nano))
		}
	}, most, reads
}

func tagNames(tags []*RegistryTagDetail) []string {
	names := []string{}
	for _, tag := range tags {
		names = append(names, tag.Name)
	}
	return names
}

// The rules of Document 1 §4.1.1, one by one and together.
func TestPreviewDeleteTags(t *testing.T) {
	ages := map[string]string{"latest": "2month", "v1": "9d", "v2": "8d", "v3": "2d", "v4": "1h", "v4-lts": "5d", "xv1": "40d", "broken": "", "lost": "gone"}
	names := []string{"broken", "latest", "lost", "v1", "v2", "v3", "v4", "v4-lts", "xv1"}
	for _, row := range []struct {
		name         string
		options      DeleteTagsOptions
		remove, keep []string
	}{
		{"all but latest", DeleteTagsOptions{NameRegexDelete: ".*"}, []string{"broken", "v4", "v3", "v4-lts", "v2", "v1", "xv1"}, nil},
		{"whole names", DeleteTagsOptions{NameRegexDelete: "v[12]"}, []string{"v2", "v1"}, nil},
		{"not a part of one", DeleteTagsOptions{NameRegexDelete: "v"}, nil, nil},
		{"an alternation without parentheses, as servers read it", DeleteTagsOptions{NameRegexDelete: "v4|v1"}, []string{"v4", "v4-lts", "v1", "xv1"}, nil},
		{"the alias", DeleteTagsOptions{NameRegex: "v1"}, []string{"v1"}, nil},
		{"keep pattern", DeleteTagsOptions{NameRegexDelete: "v.*", NameRegexKeep: ".*-lts"}, []string{"v4", "v3", "v2", "v1"}, nil},
		{"keep all", DeleteTagsOptions{NameRegexDelete: ".*", NameRegexKeep: ".*"}, nil, nil},
		{"keep the newest that match", DeleteTagsOptions{NameRegexDelete: "v[1-4]", KeepN: 2}, []string{"v2", "v1"}, []string{"v4", "v3"}},
		{"older than", DeleteTagsOptions{NameRegexDelete: "v[1-4]", OlderThan: "1d"}, []string{"v3", "v2", "v1"}, []string{"v4"}},
		{"older than a month", DeleteTagsOptions{NameRegexDelete: ".*v1", OlderThan: "1month"}, []string{"xv1"}, []string{"v1"}},
		{"a broken image is new", DeleteTagsOptions{NameRegexDelete: "broken|v3", KeepN: 1}, []string{"v3"}, []string{"broken"}},
		{"and not old", DeleteTagsOptions{NameRegexDelete: "broken", OlderThan: "1h"}, nil, []string{"broken"}},
		{"together", DeleteTagsOptions{NameRegexDelete: "v.*", NameRegexKeep: ".*-lts", KeepN: 1, OlderThan: "7d"}, []string{"v2", "v1"}, []string{"v4", "v3"}},
		{"together, where the number decides", DeleteTagsOptions{NameRegexDelete: "v.*", NameRegexKeep: ".*-lts", KeepN: 3, OlderThan: "7d"},
			[]string{"v1"}, []string{"v4", "v3", "v2"}},
		{"keep more than there are", DeleteTagsOptions{NameRegexDelete: "v[12]", KeepN: 9}, nil, []string{"v2", "v1"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, _, reads := tagServer(t, ages, names, "")
			options := row.options
			var page Response
			preview, err := c.Registry.PreviewDeleteTags(t.Context(), ID(42), 3, &options, Into(&page), Ahead(1), Header("X-Test", "1"))
			require.NoError(t, err)
			assert.Equal(t, append([]string{}, row.remove...), tagNames(preview.Delete), "delete")
			assert.Equal(t, append([]string{}, row.keep...), tagNames(preview.Keep), "keep")
			assert.Equal(t, len(names), preview.Total)
			assert.WithinDuration(t, time.Now(), preview.At, time.Minute)
			unknown := strings.Join(preview.Unknown, "\n")
			assert.Equal(t, len(row.remove) > 0, strings.Contains(unknown, "protection rule"))
			assert.Equal(t, len(row.remove) > 0 && row.options.OlderThan != "", strings.Contains(unknown, "age is counted"))
			assert.True(t, unknown == "" || strings.HasSuffix(unknown, "."), unknown)
			assert.Equal(t, row.options.OlderThan == "1month", strings.Contains(unknown, "a month as 30 days"))
			assert.NotContains(t, unknown, "GitLab.com")
			assert.Equal(t, row.options, options, "the caller's options do not change")
			assert.True(t, page.Cursor.Done())
			_, latest := reads.Load("latest")
			assert.False(t, latest, "tags that cannot match are not read")
			reads.Range(func(name, header any) bool {
				return assert.Equal(t, "1", header, "%s is read with the options of the list", name)
			})
		})
	}
}

// A pattern that is valid alone may nest too deeply with the anchors. It is refused, in either field.
func TestPreviewOfDeepPatterns(t *testing.T) {
	deep := strings.Repeat("(", 999) + "a" + strings.Repeat(")", 999)
	for _, o := range []*DeleteTagsOptions{{NameRegexDelete: deep}, {NameRegexDelete: "a", NameRegexKeep: deep}} {
		require.NoError(t, o.check())
		_, err := serve(t).Registry.PreviewDeleteTags(t.Context(), ID(42), 3, o)
		require.ErrorContains(t, err, "nests too deeply")
		assertRefused(t, err, "request", "")
	}
}

// Ages are computed with the server's clock, since the clock of this machine may be wrong.
func TestPreviewUsesTheServersClock(t *testing.T) {
	const tag = `{"name":"v1","created_at":"2031-05-06T07:00:00Z"}`
	for _, row := range []struct {
		date string
		goes bool
	}{{"Tue, 06 May 2031 08:59:59 GMT", false}, {"Tue, 06 May 2031 09:00:01 GMT", true}, {"soon", false}} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Date", row.date)
			if strings.HasSuffix(r.URL.Path, "/tags") {
				fmt.Fprintf(w, "[%s]", tag)
				return
			}
			fmt.Fprint(w, tag)
		}))
		preview, err := onceClient(t, srv.URL).Registry.PreviewDeleteTags(t.Context(), ID(42), 3, &DeleteTagsOptions{NameRegexDelete: "v1", OlderThan: "2h"})
		srv.Close()
		require.NoError(t, err)
		assert.Equal(t, row.goes, len(preview.Delete) == 1, row.date)
		if at, err := http.ParseTime(row.date); err == nil {
			assert.Equal(t, at, preview.At)
		} else {
			assert.WithinDuration(t, time.Now(), preview.At, time.Minute)
		}
	}
}

// Tags are read concurrently, at most eight at a time, and the first failure ends the preview.
func TestPreviewReads(t *testing.T) {
	var names []string
	ages := map[string]string{}
	for i := range 100 {
		names = append(names, fmt.Sprintf("v%03d", i))
		ages[names[i]] = "1d"
	}
	// Each read takes a second.
	preview := func(fail string, limit time.Duration) (got *DeleteTagsPreview, most int32, reads int, err error) {
		synctest.Test(t, func(t *testing.T) {
			handler, concurrent, names := tagHandler(t, ages, names, fail, time.Second)
			s := newBubbleServer(handler)
			c := s.client(t)
			defer s.close(c)
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			got, err = c.Registry.PreviewDeleteTags(ctx, ID(42), 3, &DeleteTagsOptions{NameRegexDelete: ".*"})
			time.Sleep(time.Minute) // the server has ended its requests too
			names.Range(func(any, any) bool { reads++; return true })
			most = concurrent.Load()
		})
		return got, most, reads, err
	}
	got, most, _, err := preview("", time.Hour)
	require.NoError(t, err)
	assert.Len(t, got.Delete, 100)
	assert.EqualValues(t, 8, most)

	got, _, reads, err := preview("v010", time.Hour)
	require.ErrorIs(t, err, ErrForbidden)
	assert.Nil(t, got)
	assert.Less(t, reads, len(names)) // the order of the reads is not fixed

	got, _, _, err = preview("", 8*time.Second)
	assert.Nil(t, got)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// atCall returns a function that acts at its nth call.
func atCall(n int32, act func()) func() {
	var calls atomic.Int32
	return func() {
		if calls.Add(1) == n {
			act()
		}
	}
}

// A preview that is interrupted, by its context or by a function of the caller, is an error or a
// panic, and never a shorter preview.
func TestPreviewInterrupted(t *testing.T) {
	const tags = 20
	var names []string
	ages := map[string]string{}
	for i := range tags {
		names = append(names, fmt.Sprintf("v%03d", i))
		ages[names[i]] = "1d"
	}
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	for _, code := range allCallersCode() {
		for n := int32(1); n <= tags+1; n += 2 { // the list is the first call
			preview := func(ctx context.Context, act func()) (*DeleteTagsPreview, error) {
				c, _, _ := tagServer(t, ages, names, "")
				c, err := c.With(code.with(atCall(n, act)))
				require.NoError(t, err)
				return c.Registry.PreviewDeleteTags(ctx, ID(42), 3, &DeleteTagsOptions{NameRegexDelete: ".*"})
			}
			soon(t, func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				got, err := preview(ctx, cancel)
				if err == nil {
					require.Len(t, got.Delete, tags, "%s, call %d", code.name, n)
				} else {
					require.ErrorIs(t, err, context.Canceled)
					asError(t, err)
				}
				assert.PanicsWithValue(t, "a bug of the caller", func() {
					_, _ = preview(t.Context(), func() { panic("a bug of the caller") })
				}, "%s, call %d", code.name, n)
			})
		}
		release := make(chan struct{})
		soon(t, func() {
			ctx, expire := expiring(t.Context())
			c, _, _ := tagServer(t, ages, names, "")
			c, err := c.With(code.with(atCall(5, func() { expire(); <-release })))
			require.NoError(t, err)
			_, err = c.Registry.PreviewDeleteTags(ctx, ID(42), 3, &DeleteTagsOptions{NameRegexDelete: ".*"})
			require.ErrorIs(t, err, context.DeadlineExceeded)
			asError(t, err)
		})
		close(release)
	}

	// The context ends as the reads that have a turn succeed, and before others have one.
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var calls atomic.Int32
		all := make(chan struct{})
		handler, _, _ := tagHandler(t, ages, names, "", 0)
		s := newBubbleServer(handler)
		c := s.client(t, WithLogger(slog.New(logHandler(func() {
			switch n := calls.Add(1); {
			case n == 1+previewReads:
				cancel()
				close(all)
			case n > 1:
				<-all
			}
		}))))
		defer s.close(c)
		_, err := c.Registry.PreviewDeleteTags(ctx, ID(42), 3, &DeleteTagsOptions{NameRegexDelete: "v00[0-8]"})
		require.ErrorIs(t, err, context.Canceled)
	})
}

// Tags of one time are sorted by name.
func TestPreviewOrder(t *testing.T) {
	at := time.Now()
	var tags []*RegistryTagDetail
	for _, name := range []string{"b", "a", "c"} {
		tag := &RegistryTagDetail{CreatedAt: at}
		tag.Name = name
		tags = append(tags, tag)
	}
	preview := &DeleteTagsPreview{At: at}
	(&deletionRules{keepN: 1}).sort(tags, preview)
	assert.Equal(t, []string{"a"}, tagNames(preview.Keep))
	assert.Equal(t, []string{"b", "c"}, tagNames(preview.Delete))
}
