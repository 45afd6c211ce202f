package contracttest_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// troubles are the errors of docs/troubleshooting.md, by the name in the comment above each text.
var troubles = map[string]func(t *testing.T) error{
	"wrong token": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			return issues(ctx, w.with(forge.WithToken("an-expired-token")))
		})
	},
	"job token": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			return issues(ctx, w.with(forge.WithJobToken(w.srv.JobToken)))
		})
	},
	"half environment": func(t *testing.T) error {
		environment(t, "https://gitlab.example.com", "")
		_, err := forge.NewClientFromEnv()
		return err
	},
	"no environment": func(t *testing.T) error {
		environment(t, "", "")
		_, err := forge.NewClientFromEnv()
		return err
	},
	"two credentials": func(t *testing.T) error {
		environment(t, "https://gitlab.example.com", "an-access-token")
		_, err := forge.NewClientFromEnv(forge.WithToken("another-token"))
		return err
	},
	"page address": func(*testing.T) error {
		_, err := forge.NewClient("https://gitlab.com/acme/app", forge.WithToken("an-access-token"))
		return err
	},
	"plain http": func(*testing.T) error {
		_, err := forge.NewClient("http://gitlab.example.com", forge.WithToken("an-access-token"))
		return err
	},
	"role": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			user := w.srv.AddUser("maya")
			w.app.AddMember(user, forgetest.Reporter)
			options := &forge.SetRegistryVisibilityOptions{Visibility: forge.RegistryPrivate}
			_, err := w.with(forge.WithToken(user.Token)).Registry.SetVisibility(ctx, w.project, options)
			return err
		})
	},
	"administrator": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			client := w.with(forge.WithToken(w.srv.AddUser("maya").Token))
			_, err := forge.Collect(client.AuditEvents.List(ctx, nil))
			return err
		})
	},
	"scope": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			_, err := w.with(forge.WithToken(w.srv.Root().AddToken("read_api"))).Issues.Subscribe(ctx, w.project, 5)
			return err
		})
	},
	"protected tag": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			w.app.ProtectRegistryTags("v0001")
			return w.Registry.DeleteTag(ctx, w.project, 1, "v0001")
		})
	},
	"hidden project": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			_, err := w.with(forge.WithToken(w.srv.AddUser("maya").Token)).Issues.GetTimeStats(ctx, w.project, 5)
			return err
		})
	},
	"no such issue": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			_, err := w.Issues.GetTimeStats(ctx, w.project, 99)
			return err
		})
	},
	"old release": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			_, err := forge.Collect(w.Integrations.List(ctx, forge.Path("acme")))
			return err
		}, forgetest.WithRelease("16.4"))
	},
	"base address": func(t *testing.T) error {
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<html><head><title>Page not found</title></head></html>")
		})
		return overTCP(t, server.URL+"/acme/app", &http.Transport{})
	},
	"base prefix": func(t *testing.T) error {
		return overTCP(t, forgetest.New(t).URL+"/acme", &http.Transport{})
	},
	"connection refused": func(t *testing.T) error {
		return withoutConnection(t, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}, os.NewSyscallError("connect", syscall.ECONNREFUSED))
	},
	"no such host": func(t *testing.T) error {
		return withoutConnection(t, nil, &net.DNSError{Err: "no such host", Name: "gitlab.example.com", IsNotFound: true})
	},
	"decoding proxy": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			w.srv.Fail("GET /projects/:id/issues/:issue_iid/time_stats", forgetest.StatusMessage(404, "404 Not Found"))
			remote, err := forge.NewClient("http://gitlab.example.com", forge.WithToken(w.srv.Token), forge.WithPlainHTTP(),
				forge.WithHTTPClient(&http.Client{Transport: w.transport}))
			if err == nil {
				_, err = remote.Issues.GetTimeStats(ctx, w.project, 5)
			}
			return err
		})
	},
	"escaped path": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			_, err := w.Issues.GetTimeStats(ctx, forge.Path("acme%2Fapp"), 5)
			return err
		})
	},
	"sorted tags": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			options := &forge.ListRegistryTagsOptions{Sort: forge.SortDesc}
			_, err := forge.Collect(w.Registry.ListTags(ctx, w.project, 1, options))
			return err
		})
	},
	"refused cursor": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			w.srv.AddUsers(3, "user")
			var page forge.Response
			if _, err := forge.Collect(w.Users.List(ctx, nil, forge.OnePage(), forge.PerPage(2), forge.Into(&page))); err != nil {
				return err
			}
			w.srv.Fail("GET /users", forgetest.RefuseKeyset())
			_, err := forge.Collect(w.Users.List(ctx, nil, forge.PerPage(2), forge.StartAt(page.Cursor)))
			return err
		})
	},
	"other cursor": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			var page forge.Response
			if _, err := forge.Collect(w.Users.List(ctx, nil, forge.OnePage(), forge.PerPage(2), forge.Into(&page))); err != nil {
				return err
			}
			return issues(ctx, w.Client, forge.StartAt(page.Cursor))
		})
	},
	"rate limit": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			w.srv.Fail("GET /issues", forgetest.TooManyRequests(10*time.Minute))
			return issues(ctx, w.Client)
		})
	},
	"waiting": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			w.srv.Fail("GET /issues", forgetest.TooManyRequests(10*time.Minute))
			assert.Error(t, issues(ctx, w.Client))
			return issues(ctx, w.Client)
		})
	},
	"second deletion": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			options := &forge.DeleteTagsOptions{NameRegexDelete: "dev-.*"}
			assert.NoError(t, w.Registry.DeleteTags(ctx, w.project, 1, options))
			return w.Registry.DeleteTags(ctx, w.project, 1, options)
		})
	},
	"deletion of another program": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			options := &forge.DeleteTagsOptions{NameRegexDelete: "dev-.*"}
			assert.NoError(t, w.Registry.DeleteTags(ctx, w.project, 1, options))
			other := w.with(forge.WithToken(w.srv.AddAdmin("other").Token))
			return other.Registry.DeleteTags(ctx, w.project, 1, options)
		})
	},
	"proxy password":    func(t *testing.T) error { return throughProxy(t, http.StatusProxyAuthRequired) },
	"proxy forbids":     func(t *testing.T) error { return throughProxy(t, http.StatusForbidden) },
	"private authority": func(t *testing.T) error { return overTLS(t, "127.0.0.1", false) },
	"certificate name":  func(t *testing.T) error { return overTLS(t, "localhost", true) },
	"not TLS": func(t *testing.T) error {
		server := serve(t, http.NotFound)
		return overTCP(t, strings.Replace(server.URL, "http:", "https:", 1), &http.Transport{})
	},
	"sign-in page": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			w.srv.Fail("*", forgetest.SignInPage())
			return issues(ctx, w.Client)
		})
	},
	"redirect": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			w.srv.Fail("*", forgetest.RedirectTo("https://login.example.com/sso", http.StatusFound))
			return issues(ctx, w.Client)
		})
	},
	"not JSON": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			w.srv.Fail("*", forgetest.Respond(http.StatusOK, "text/plain", "OK"))
			return w.Do(ctx, forge.Call{Method: http.MethodGet, Route: "/issues"}, &[]forge.Issue{})
		})
	},
	"no response": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			w.srv.Fail("GET /issues", forgetest.Delay(time.Hour))
			return issues(ctx, w.Client)
		})
	},
	"stalled": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			w.srv.Fail("GET /issues", forgetest.SlowBody(2*time.Minute))
			return issues(ctx, w.Client, forge.Retry(forge.RetryPolicy{MaxAttempts: 1}))
		})
	},
	"deadline": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			w.srv.Fail("GET /issues", forgetest.Delay(time.Hour))
			return issues(ctx, w.Client)
		})
	},
	"unknown outcome": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			w.srv.Fail("*", forgetest.HeaderDelay(time.Hour))
			_, err := w.Issues.AddSpentTime(ctx, w.project, 5, hour())
			return err
		})
	},
	"unknown outcome of an idempotent write": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			w.srv.Fail("*", forgetest.HeaderDelay(time.Hour))
			_, err := w.Issues.Subscribe(ctx, w.project, 5)
			return err
		})
	},
	"nothing to change after a lost attempt": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			w.srv.Fail("*", forgetest.HeaderDelay(time.Hour).Times(1))
			_, err := w.Issues.CreateTodo(ctx, w.project, 5)
			return err
		})
	},
	"long query": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error { return issues(ctx, w.Client) }, forgetest.WithMaxQueryBytes(10))
	},
	"settings": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			_, err := w.with(forge.WithVocabulary("")).Settings.Get(ctx)
			return err
		}, forgetest.WithGitLabVocabulary())
	},
	"integration": func(t *testing.T) error {
		return inBubble(t, func(ctx context.Context, w *troubled) error {
			_, err := w.Integrations.Get(ctx, forge.Path("acme"), forge.IntegrationTeamChatB)
			return err
		})
	},
}

var (
	troubleText = regexp.MustCompile("<!-- error: ([^>]+) -->\n\n```text\n([^`]*)```\n")
	ownAddress  = regexp.MustCompile(`https?://(127\.0\.0\.1|localhost):\d+`)
)

// TestTroubleshooting makes each error of docs/troubleshooting.md and compares its text. The guide
// breaks lines and has another address. FORGE_UPDATE=1 writes the texts.
func TestTroubleshooting(t *testing.T) {
	const guide = "docs/troubleshooting.md"
	text := readText(t, guide)
	shown := map[string]bool{}
	for _, block := range troubleText.FindAllStringSubmatch(text, -1) {
		name := block[1]
		shown[name] = true
		t.Run(name, func(t *testing.T) {
			require.Contains(t, troubles, name)
			err := troubles[name](t)
			require.Error(t, err)
			want := wrapText(ownAddress.ReplaceAllString(err.Error(), "https://gitlab.example.com"), 108)
			if os.Getenv("FORGE_UPDATE") != "" {
				text = strings.Replace(text, block[0], strings.Replace(block[0], block[2]+"```", want+"```", 1), 1)
				return
			}
			assert.Equal(t, want, block[2], "write it with FORGE_UPDATE=1")
		})
	}
	for name := range troubles {
		assert.True(t, shown[name], "%s does not show the error %q", guide, name)
	}
	if os.Getenv("FORGE_UPDATE") != "" {
		require.NoError(t, os.WriteFile(guide, []byte(text), 0o644))
	}
}

// The errors match what docs/troubleshooting.md says about them.
func TestTroubleshootingSentinels(t *testing.T) {
	for name, sentinel := range map[string]error{
		"no response": forge.ErrTimeout, "stalled": forge.ErrTimeout, "deadline": context.DeadlineExceeded,
		"wrong token": forge.ErrUnauthorized, "role": forge.ErrForbidden, "hidden project": forge.ErrNotFound,
		"rate limit": forge.ErrRateLimited, "waiting": forge.ErrRateLimited, "second deletion": forge.ErrRateLimited,
		"redirect": forge.ErrRedirect, "sign-in page": forge.ErrInvalidResponse,
	} {
		assert.ErrorIs(t, troubles[name](t), sentinel, name)
	}
	for _, name := range []string{"proxy password", "proxy forbids", "private authority", "connection refused", "no such host"} {
		var failed *forge.Error
		require.ErrorAs(t, troubles[name](t), &failed, name)
		assert.Zero(t, failed.Status, name)
		assert.False(t, failed.MaybeApplied, name)
	}
	for _, name := range []string{"unknown outcome", "unknown outcome of an idempotent write", "nothing to change after a lost attempt"} {
		var failed *forge.Error
		require.ErrorAs(t, troubles[name](t), &failed)
		assert.True(t, failed.MaybeApplied, name)
	}
	assert.True(t, forge.IsNotModified(troubles["nothing to change after a lost attempt"](t)))
}

// TestShortLists checks the table of docs/troubleshooting.md, "Empty lists".
func TestShortLists(t *testing.T) {
	srv := forgetest.New(t)
	app, old, hidden := srv.AddProject("acme/app"), srv.AddProject("acme/old"), srv.AddProject("other/hidden", forgetest.Private)
	app.AddIssues(3, func(i int, issue *forgetest.Document) {
		issue.Set("labels", [][]string{{"bug"}, {"p1"}, {"bug", "p1"}}[i])
	})
	app.AddIssue(func(issue *forgetest.Document) { issue.Set("confidential", true) })
	app.AddMergeRequests(2, nil)
	old.AddIssues(5, nil)
	old.Archive()
	hidden.AddIssues(7, nil)
	bot := srv.AddBot("bot", forgetest.ProjectBot)
	app.AddMember(bot, forgetest.Guest)
	client := srv.Client(forge.WithToken(bot.Token))
	count := func(o *forge.ListIssuesOptions) int {
		issues, err := forge.Collect(client.Issues.List(t.Context(), o))
		require.NoError(t, err)
		return len(issues)
	}
	assert.Equal(t, 0, count(nil), "nobody's issues but the bot's own")
	assert.Equal(t, 3, count(&forge.ListIssuesOptions{Scope: forge.ScopeAll}), "as Guest")
	assert.Equal(t, 1, count(&forge.ListIssuesOptions{Scope: forge.ScopeAll, Labels: forge.Labels("bug", "p1")}), "both labels")
	assert.Equal(t, 0, count(&forge.ListIssuesOptions{Scope: forge.ScopeAll, Labels: forge.Labels("Bug")}), "another case")
	app.AddMember(bot, forgetest.Reporter)
	assert.Equal(t, 4, count(&forge.ListIssuesOptions{Scope: forge.ScopeAll}), "as Reporter")
	old.AddMember(bot, forgetest.Reporter)
	assert.Equal(t, 9, count(&forge.ListIssuesOptions{Scope: forge.ScopeAll, NonArchived: new(false)}), "archived, too")
	hidden.AddMember(bot, forgetest.Reporter)
	assert.Equal(t, 11, count(&forge.ListIssuesOptions{Scope: forge.ScopeAll}), "of another project")
	mine, err := forge.Collect(client.MergeRequests.List(t.Context(), nil))
	require.NoError(t, err)
	all, err := forge.Collect(client.MergeRequests.List(t.Context(), &forge.ListMergeRequestsOptions{Scope: forge.ScopeAll}))
	require.NoError(t, err)
	assert.Equal(t, []int{0, 2}, []int{len(mine), len(all)}, "merge requests")
}

// wrapText returns the text in lines of at most the given width, as far as its words are shorter.
func wrapText(text string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
		case column+1+len(word) > width:
			b.WriteString("\n")
			column = 0
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String() + "\n"
}
