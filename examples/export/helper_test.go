package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

// TestMain lets the test binary be the program, so that there are processes to kill.
func TestMain(m *testing.M) {
	if off, err := time.ParseDuration(os.Getenv("EXPORT_CLOCK")); err == nil {
		clock = func() time.Time { return time.Now().Add(off) }
	}
	if os.Getenv("EXPORT_PROGRAM") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// world is a server with projects, and an export of it.
type world struct {
	srv      *forgetest.Server
	projects []*forgetest.Project
	issues   []*forgetest.Issue
	mrs      []*forgetest.MergeRequest
	dir      string
	args     []string
}

// build starts a server. Each project has 2 shards, and the audit events have another.
func build(t *testing.T, projects int, args ...string) *world {
	t.Helper()
	w := &world{srv: demotest.Empty(t, forgetest.WithStarterRoutes()), dir: t.TempDir()}
	started := time.Now()
	w.srv.SetClock(func() time.Time { return forgetest.DemoTime().Add(time.Since(started)) })
	for i := range projects {
		project := w.srv.AddProject(fmt.Sprintf("acme/app-%03d", i))
		w.projects = append(w.projects, project)
		w.issues = append(w.issues, project.AddIssues(20+i%200, nil)...)
		w.mrs = append(w.mrs, project.AddMergeRequests(5, nil)...)
	}
	w.srv.AddGeneratedAuditEvents(250)
	w.args = append([]string{"-dir", w.dir, "-rescue", "4s", "-rate", "100000/1m"}, args...)
	return w
}

// edit changes some objects.
func (w *world) edit(title string) {
	for i := 0; i < len(w.issues); i += 7 {
		w.issues[i].Edit(func(d *forgetest.Document) { d.Set("title", title) })
	}
	w.mrs[0].Edit(func(d *forgetest.Document) { d.Set("title", title) })
}

// process is the program in a process of its own.
type process struct {
	*exec.Cmd
	out   output
	ended chan error
}

// output is what a process has printed so far.
type output struct {
	sync.Mutex
	bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.Lock()
	defer o.Unlock()
	return o.Buffer.Write(p)
}

func (o *output) text() string {
	o.Lock()
	defer o.Unlock()
	return o.String()
}

func (w *world) start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0], append(w.args, args...)...), ended: make(chan error, 1)}
	p.Env = append(os.Environ(), "EXPORT_PROGRAM=1")
	p.Stdout, p.Stderr = &p.out, &p.out
	require.NoError(t, p.Start())
	go func() { p.ended <- p.Wait() }()
	return p
}

// finish waits for the end of the process, and checks that no output has the token.
func (w *world) finish(t *testing.T, p *process) error {
	t.Helper()
	err := <-p.ended
	assert.NotContains(t, p.out.text(), w.srv.Token)
	if err != nil {
		t.Logf("%v: %s", err, p.out.text())
	}
	return err
}

// kill kills processes in turn at intervals, and starts another in place of each.
func (w *world) kill(t *testing.T, running []*process, n int, every time.Duration) {
	t.Helper()
	for i := range n {
		time.Sleep(every)
		victim := running[i%len(running)]
		require.NoError(t, victim.Process.Kill())
		require.Error(t, <-victim.ended, "the run was too short to be killed")
		running[i%len(running)] = w.start(t)
	}
	for _, p := range running {
		require.NoError(t, w.finish(t, p))
	}
}

// check compares the merged export with the server, item by item, and the index with the files.
// With removed orphans the folder has no other files. The server's limit is then removed.
func (w *world) check(t *testing.T, orphansRemoved bool) {
	t.Helper()
	for _, name := range []string{"export.db", "export.db-wal"} {
		content, _ := os.ReadFile(filepath.Join(w.dir, name))
		require.NotContains(t, string(content), w.srv.Token, "the database has the token")
	}
	assert.Zero(t, w.refused(), "requests over the limit")
	w.srv.ClearFaults()
	w.srv.SetThrottle(throttle, 0, time.Second)
	want := map[string]string{}
	client := w.srv.Client()
	for _, p := range w.projects {
		call := forge.Call{Route: "/projects/:id/issues", Args: []forge.Arg{forge.ID(p.ID)}}
		collect(t, want, kindIssues, forge.ListAs[forge.Issue](t.Context(), client, call), func(v *forge.Issue) int64 { return v.ID })
		collect(t, want, kindMergeRequests, client.MergeRequests.ListForProject(t.Context(), forge.ID(p.ID), nil), func(v *forge.MergeRequest) int64 { return v.ID })
	}
	collect(t, want, kindAuditEvents, client.AuditEvents.List(t.Context(), nil), func(v *forge.AuditEvent) int64 { return v.ID })

	latest, once := map[string]row{}, map[string]bool{}
	merged, err := demotest.Run(t, run, "", "merge", "-dir", w.dir)
	require.NoError(t, err)
	for line := range strings.Lines(merged) {
		var r row
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		id := fmt.Sprint(r.Kind, r.ID, r.UpdatedAt)
		require.False(t, once[id], "%s is there twice", id)
		once[id] = true
		key := fmt.Sprintf("%s %d", r.Kind, r.ID)
		if old, found := latest[key]; !found || !old.UpdatedAt.After(r.UpdatedAt) {
			latest[key] = r
		}
	}
	require.Len(t, latest, len(want))
	for key, item := range want {
		got, err := json.Marshal(latest[key].Item)
		require.NoError(t, err)
		require.JSONEq(t, item, string(got), key)
	}
	files, err := filepath.Glob(filepath.Join(w.dir, "*", "*", "*.gz"))
	require.NoError(t, err)
	more, err := filepath.Glob(filepath.Join(w.dir, kindAuditEvents, "*.gz"))
	require.NoError(t, err)
	db := w.open(t)
	entries, err := one[int64](t.Context(), db, `SELECT count(*) FROM export_files`)
	require.NoError(t, err)
	if orphansRemoved {
		assert.EqualValues(t, len(files)+len(more), entries)
	}
	rows, err := one[int64](t.Context(), db, `SELECT CAST(sum(row_count) AS BIGINT) FROM export_shards WHERE mark <> ''`)
	require.NoError(t, err)
	indexed, err := one[int64](t.Context(), db, `SELECT CAST(sum(row_count) AS BIGINT) FROM export_files`)
	require.NoError(t, err)
	assert.Equal(t, indexed, rows)
}

func collect[T any](t *testing.T, all map[string]string, kind string, list iter.Seq2[*T, error], id func(*T) int64) {
	t.Helper()
	for item, err := range list {
		require.NoError(t, err)
		text, err := json.Marshal(item)
		require.NoError(t, err)
		all[fmt.Sprintf("%s %d", kind, id(item))] = string(text)
	}
}

func (w *world) open(t *testing.T) store {
	t.Helper()
	db, err := openStore(t.Context(), w.dir)
	require.NoError(t, err)
	t.Cleanup(db.close)
	return db
}

// throttle is the name of the server's limit.
const throttle = "throttle_authenticated_api"

// refused counts the requests that the server has refused because of its limit.
func (w *world) refused() (n int) {
	for _, r := range w.srv.Requests() {
		if r.Status == 429 {
			n++
		}
	}
	return n
}

// postgres is a running PostgreSQL of Debian's package, which does not run as root.
type postgres struct {
	dir, bin, port string
	user           *syscall.Credential
	command        *exec.Cmd
}

// startPostgres sets DATABASE_URL to a new server.
func startPostgres(t *testing.T) *postgres {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		t.Skip("there is no PostgreSQL: apt-get install postgresql")
	}
	dir, err := os.MkdirTemp("", "export-postgres-") //nolint:usetesting // the user of the server cannot enter t.TempDir
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &postgres{dir: dir, bin: filepath.Dir(found[len(found)-1])}
	if os.Geteuid() == 0 {
		account, err := user.Lookup("postgres")
		require.NoError(t, err)
		uid, _ := strconv.Atoi(account.Uid)
		gid, _ := strconv.Atoi(account.Gid)
		p.user = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		require.NoError(t, os.Chown(dir, uid, gid))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, p.port, _ = net.SplitHostPort(listener.Addr().String())
	_ = listener.Close()
	out, err := p.prepare("initdb", "-D", dir+"/data", "-U", "postgres", "-A", "trust", "--no-sync").CombinedOutput()
	require.NoError(t, err, "%s", out)
	p.start(t)
	t.Cleanup(p.stop)
	t.Setenv("DATABASE_URL", "postgres://postgres:a-password@127.0.0.1:"+p.port+"/postgres")
	return p
}

func (p *postgres) prepare(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = p.dir, &syscall.SysProcAttr{Credential: p.user}
	return cmd
}

func (p *postgres) start(t *testing.T) {
	t.Helper()
	p.command = p.prepare("postgres", "-D", "data", "-p", p.port, "-k", p.dir, "-c", "listen_addresses=127.0.0.1")
	require.NoError(t, p.command.Start())
	require.Eventually(t, func() bool {
		return p.prepare("pg_isready", "-h", "127.0.0.1", "-p", p.port).Run() == nil
	}, 20*time.Second, 100*time.Millisecond)
}

// stop ends the server at once, and all connections.
func (p *postgres) stop() {
	_ = p.command.Process.Signal(syscall.SIGINT)
	_ = p.command.Wait()
}
