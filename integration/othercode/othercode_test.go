package othercode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// client-go works over forge: pages, an upload and a download, and an error.
func TestClientGoWorks(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("group/app").AddIssues(5, nil)
	client := srv.Client()
	git, err := ClientGo(client)
	require.NoError(t, err)
	issues, err := gitlab.ScanAndCollect(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Issue, *gitlab.Response, error) {
		return git.Issues.ListIssues(&gitlab.ListIssuesOptions{Scope: gitlab.Ptr("all"), ListOptions: gitlab.ListOptions{PerPage: 2}}, page)
	})
	require.NoError(t, err)
	assert.Len(t, issues, 5)
	file, _, err := git.SecureFiles.CreateSecureFile("group/app", strings.NewReader("content"), &gitlab.CreateSecureFileOptions{Name: gitlab.Ptr("a.p12")})
	require.NoError(t, err)
	body, _, err := git.SecureFiles.DownloadSecureFile("group/app", file.ID)
	require.NoError(t, err)
	content, err := io.ReadAll(body)
	require.NoError(t, err)
	assert.Equal(t, "content", string(content))
	_, _, err = git.Users.GetUser(12345, nil)
	require.ErrorIs(t, err, gitlab.ErrNotFound)
	assert.EqualValues(t, len(srv.Requests()), client.Stats().Attempts)
}

// Of 500 creates of each kind, none takes effect twice, each success has taken effect, and an
// error that is not a status knows whether it may have.
func TestCreatesOnce(t *testing.T) {
	for _, kind := range kinds {
		if kind.method != http.MethodPost {
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			s := newShop(t)
			outcomes := s.order(kind, s.over(), 500)
			succeeded, unknown := 0, 0
			s.mu.Lock() // a handler may still run: a response that its client has lost ends later
			defer s.mu.Unlock()
			for title, err := range outcomes {
				n := s.created[title]
				require.LessOrEqual(t, n, 1, title)
				var failed *forge.Error
				switch {
				case err == nil:
					succeeded++
					require.Equal(t, 1, n, title)
				case errors.As(err, &failed) && failed.Status == 0 && n == 1:
					unknown++
					require.True(t, failed.MaybeApplied, "%s: %v", title, err)
				}
			}
			assert.Greater(t, succeeded, 50)
			assert.Greater(t, unknown, 25)
		})
	}
}

// shop is a server that creates, with a fault before or after the effect of most requests.
type shop struct {
	*server
	created map[string]int // effects by title
}

func newShop(t *testing.T) *shop {
	random, s := rand.New(rand.NewPCG(7, 8)), &shop{created: map[string]int{}}
	s.server = newServer(t, func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		fault := random.IntN(8)
		if fault >= 3 {
			s.created[titleOf(r)]++
		}
		s.mu.Unlock()
		switch fault {
		case 0, 3:
			lost(w, r)
		case 1, 4:
			w.WriteHeader(http.StatusBadGateway)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 5:
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
			_ = http.NewResponseController(w).Flush()
			lost(w, r)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			issue(w, r)
		}
	})
	return s
}

// order makes n creates in 16 goroutines, and returns their errors by title.
func (s *shop) order(kind kind, from sender, n int) map[string]error {
	const workers = 16
	var mu sync.Mutex
	var running sync.WaitGroup
	outcomes := map[string]error{}
	for worker := range workers {
		running.Go(func() {
			for i := worker; i < n; i += workers {
				title := fmt.Sprint("create ", i)
				err := kind.send(s.t.Context(), from, title)
				mu.Lock()
				outcomes[title] = err
				mu.Unlock()
			}
		})
	}
	running.Wait()
	return outcomes
}

// No redirect sends a token to another origin, and none changes a write. The same code alone shows
// that the test finds both.
func TestRedirects(t *testing.T) {
	leaked, rewritten := redirect(t, (*server).over)
	assert.Empty(t, leaked)
	assert.Empty(t, rewritten)
	leaked, rewritten = redirect(t, (*server).alone)
	assert.NotEmpty(t, leaked)
	assert.NotEmpty(t, rewritten)
}

// redirect sends each kind of request into each redirect. It returns the requests whose token
// arrived at another origin, and the writes that succeeded and arrived with another method, or
// without their body.
func redirect(t *testing.T, from func(*server) sender) (leaked, rewritten []string) {
	t.Helper()
	location, code := "", 0
	away := newServer(t, issue)
	home := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved/to" {
			issue(w, r)
			return
		}
		w.Header().Set("Location", location)
		w.WriteHeader(code)
	})
	for _, target := range []*server{home, away} {
		for _, code = range []int{301, 302, 303, 307, 308} {
			for _, kind := range kinds {
				location = target.URL + "/moved/to"
				err, name := kind.send(t.Context(), from(home), "the title"), fmt.Sprint(kind.name, " ", code)
				arrived, elsewhere := home.requests()[1:], away.requests()
				for _, r := range elsewhere {
					if strings.Contains(fmt.Sprint(r), token) {
						leaked = append(leaked, name)
					}
				}
				if arrived = append(arrived, elsewhere...); err != nil || kind.method == http.MethodGet {
					continue
				}
				if last := arrived[len(arrived)-1]; last.method != kind.method || last.title != "the title" {
					rewritten = append(rewritten, name)
				}
			}
		}
	}
	return leaked, rewritten
}

// The figures of docs/other-clients.md: with its own retries, client-go over forge sends a create
// again after a 502, and multiplies the reads.
func TestRetriesOfClientGo(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	for _, own := range []bool{true, false} {
		from, creates, reads := s.over(), 1, 4
		if own {
			from.options = []gitlab.ClientOptionFunc{gitlab.WithCustomBackoff(func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 })}
			creates, reads = 6, 24
		}
		require.Error(t, kinds[2].send(t.Context(), from, "x"))
		assert.Len(t, s.requests(), creates)
		require.Error(t, kinds[0].send(t.Context(), from, ""))
		assert.Len(t, s.requests(), reads)
	}
}

// The methods of client-go that put a token into the address, and WithToken, are refused.
func TestRefusedMethods(t *testing.T) {
	s := newServer(t, issue)
	git, err := s.over().clientGo()
	require.NoError(t, err)
	for name, call := range map[string]func() error{
		"GetJobTokensJob": func() error {
			_, _, err := git.Jobs.GetJobTokensJob(&gitlab.GetJobTokensJobOptions{JobToken: gitlab.Ptr("x")})
			return err
		},
		"DeleteRegisteredRunner": func() error {
			_, err := git.Runners.DeleteRegisteredRunner(&gitlab.DeleteRegisteredRunnerOptions{Token: gitlab.Ptr("x")})
			return err
		},
		"WithToken": func() error {
			_, _, err := git.Issues.GetIssue(1, 5, gitlab.WithToken(gitlab.PrivateToken, "x"))
			return err
		},
	} {
		var invalid *forge.ValidationError
		require.ErrorAs(t, call(), &invalid, name)
	}
	assert.Empty(t, s.requests())
}

// No error, response or log of client-go contains the token, not even if the server sends it back.
func TestSecrets(t *testing.T) {
	for name, fault := range map[string]http.HandlerFunc{
		"ok":        issue,
		"forbidden": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"lost":      lost,
		"redirect":  http.RedirectHandler("https://b.example.com/?x="+token, http.StatusFound).ServeHTTP,
	} {
		s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Echo", r.Header.Get("Private-Token"))
			fault(w, r)
		})
		var out bytes.Buffer
		from := s.over()
		from.options = append(from.options, gitlab.WithCustomLogger(log.New(&out, "", 0)))
		git, err := from.clientGo()
		require.NoError(t, err)
		value, resp, err := git.Issues.UpdateIssue(1, 5, &gitlab.UpdateIssueOptions{Title: gitlab.Ptr("t")})
		fmt.Fprintf(&out, "%+v %#v %+v %v", value, resp, err, errors.Unwrap(err))
		if resp != nil {
			fmt.Fprintf(&out, "%+v %+v %+v", resp.Response, resp.Request, resp.Body)
		}
		require.NotEmpty(t, s.requests(), name)
		assert.NotContains(t, out.String(), token, name)
		assert.Contains(t, out.String(), "127.0.0.1", name)
	}
}
