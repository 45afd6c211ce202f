package forgetest

import (
	"archive/tar"
	"archive/zip"
	"compress/bzip2"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"net/http"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sampleRepository is the part of contractServer for the files of a project.
func sampleRepository(app *Project) {
	app.AddFiles(map[string]string{"README.md": "hello\n"})
	app.AddTag("v0.9.0", "main")
	app.AddCommit(Change{Branch: "change", Message: "Add a file\n\nIt helps.\n\nChangelog: added", Files: map[string]string{"more.txt": "more\n"}})
	app.AddCommit(Change{Branch: "main", Message: "Add another\n\nChangelog: added", Files: map[string]string{"other.txt": "x\n"}})
}

// gitWorld has a history with a side branch:
//
//	base - two ---- merge - last   (main)
//	     \ side ---/
func gitWorld(t *testing.T) (*Server, *Project, caller, map[string]*Commit) {
	s := New(t)
	s.SetClock(noon)
	p := s.AddProject("group/app")
	ada, bob := s.AddUser("ada"), s.AddUser("bob")
	commits := map[string]*Commit{
		"base": p.AddCommit(Change{Author: ada, Date: day(1), Message: "Base", Files: map[string]string{"README.md": "one\ntwo\nthree\n", "src/main.go": "package main\n", "src/box/x.go": "package x\n"}}),
	}
	p.AddTag("v1.0.0", "main")
	p.AddBranch("side/branch", "main")
	commits["side"] = p.AddCommit(Change{Author: bob, Date: day(2), Branch: "side/branch", Message: "Side work\n\nChangelog: fixed", Files: map[string]string{"side.txt": "s\n"}})
	commits["two"] = p.AddCommit(Change{Author: ada, Date: day(3), Message: "Two\n\nChangelog: added", Files: map[string]string{"README.md": "one\n2\nthree\n"}})
	commits["merge"] = p.AddCommit(Change{Author: ada, Date: day(4), Message: "Merge side", MergeFrom: "side/branch"})
	commits["last"] = p.AddCommit(Change{Author: bob, Date: day(5), Message: "Move\n\nChangelog: added", Files: map[string]string{"lib/main.go": "package main\n"}, Delete: []string{"src/main.go"}})
	return s, p, newCaller(t, s), commits
}

const repo = "/projects/group%2Fapp/repository"

func TestObjectIDsAreThoseOfGit(t *testing.T) {
	assert.Equal(t, "ce013625030ba8dba906f756967f9e9ca394464a", objectID("blob", []byte("hello\n")))
	assert.Equal(t, "4b825dc642cb6eb9a060e54bf8d69288fbee4904", buildTree(nil).id)
	hello := &blob{id: objectID("blob", []byte("hello\n"))}
	tree := buildTree(map[string]*blob{"lib.txt": hello, "lib/a.txt": hello, "run.sh": hello})
	assert.Equal(t, "86692377e53380a53e9ec066dc9d139c05eb18f5", tree.id)
	commit := &Commit{tree: buildTree(nil), name: "Ada", email: "ada@example.com", date: time.Unix(7, 0), Message: "x\n"}
	assert.Equal(t, "ee6caacf2e533d60686bc2e655ec61e1dfd46706", objectID("commit", commit.encode()))
	commit.parents = []*Commit{{ID: "ee6caacf2e533d60686bc2e655ec61e1dfd46706"}}
	assert.Equal(t, "f969ec102891a306e166a7bec653cf2df011e583", objectID("commit", commit.encode()))
	made := New(t).AddProject("group/app").AddFiles(map[string]string{"a.txt": "x\n"})
	assert.Equal(t, objectID("commit", made.encode()), made.ID)
}

// limitedWriter fails when it has written its number of bytes.
type limitedWriter int

func (w *limitedWriter) Write(p []byte) (int, error) {
	if *w -= limitedWriter(len(p)); *w < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// A stream that cannot be written completely ends with an error, wherever the write fails.
func TestStreamsReportErrors(t *testing.T) {
	files := []archiveFile{{"a.txt", 0o644, &blob{data: []byte("some text")}}, {"b.bin", 0o755, &blob{size: 64<<10 + 1}}}
	streams := map[string]func(io.Writer) error{"text": files[0].blob.copyTo, "blob": files[1].blob.copyTo}
	for _, format := range []string{"zip", "tar", "tar.gz", "tar.bz2"} {
		streams[format] = (&archive{folder: "x", files: files, date: noon()}).writer(format)
	}
	for name, write := range streams {
		var whole strings.Builder
		require.NoError(t, write(&whole), name)
		assert.GreaterOrEqual(t, whole.Len(), map[string]int{"text": 9, "blob": 64<<10 + 1}[name])
		for n := 0; n < whole.Len(); n += 1 + whole.Len()/9 {
			require.ErrorIs(t, write(new(limitedWriter(n))), io.ErrShortWrite, "%s after %d bytes", name, n)
		}
	}
}

func TestTree(t *testing.T) {
	_, _, c, commits := gitWorld(t)
	for _, tc := range []struct {
		query string
		want  []any
	}{
		{"", []any{"lib", "src", "README.md", "side.txt"}},
		{"?recursive=true", []any{"lib", "src", "src/box", "README.md", "lib/main.go", "side.txt", "src/box/x.go"}},
		{"?recursive=false", []any{"lib", "src", "README.md", "side.txt"}},
		{"?path=src", []any{"src/box"}},
		{"?path=src%2Fbox%2F", []any{"src/box/x.go"}},
		{"?ref=v1.0.0", []any{"src", "README.md"}},
		{"?ref=side%2Fbranch", []any{"src", "README.md", "side.txt"}},
		{"?ref=" + commits["base"].ID, []any{"src", "README.md"}},
		{"?ref=" + commits["base"].ID[:7], []any{"src", "README.md"}},
	} {
		r := c.get(repo + "/tree" + tc.query)
		assert.Equal(t, tc.want, r.column(t, "path"), tc.query)
	}
	entry := c.get(repo + "/tree").array(t)[0]
	lib := buildTree(map[string]*blob{"main.go": {id: objectID("blob", []byte("package main\n"))}}).id
	assert.Equal(t, map[string]any{"id": lib, "name": "lib", "type": "tree", "path": "lib", "mode": "040000"}, entry)
	entry = c.get(repo + "/tree").array(t)[2]
	blob := objectID("blob", []byte("one\n2\nthree\n"))
	assert.Equal(t, map[string]any{"id": blob, "name": "README.md", "type": "blob", "path": "README.md", "mode": "100644"}, entry)
	assert.Equal(t, []any{"x.go"}, c.get(repo+"/tree?path=src%2Fbox").column(t, "name"))
	for path, body := range map[string]string{
		"/tree?path=none":                        `{"message":"404 invalid revision or path Not Found"}`,
		"/tree?path=README.md":                   `{"message":"404 invalid revision or path Not Found"}`,
		"/tree?ref=none":                         `{"message":"404 Tree Not Found"}`,
		"/tree?ref=" + commits["base"].ID[:6]:    `{"message":"404 Tree Not Found"}`,
		"/blobs/0000000":                         `{"message":"404 Blob Not Found"}`,
		"/blobs/0000000/raw":                     `{"message":"404 Blob Not Found"}`,
		"/archive?sha=none":                      `{"message":"404 File Not Found"}`,
		"/archive.zip?path=no":                   `{"message":"404 File Not Found"}`,
		"/compare?from=main&to=none":             `{"message":"404 Ref Not Found"}`,
		"/compare?from=none&to=main":             `{"message":"404 Ref Not Found"}`,
		"/contributors?ref=none":                 `{"message":"404 Ref Not Found"}`,
		"/compare?from=a&to=b&from_project_id=9": `{"message":"404 Project Not Found"}`,
	} {
		r := c.get(repo + path)
		assert.Equal(t, 404, r.Status)
		assert.Equal(t, body, r.Body)
	}
}

func TestBlobs(t *testing.T) {
	s, p, c, _ := gitWorld(t)
	id := objectID("blob", []byte("one\n2\nthree\n"))
	b := c.get(repo + "/blobs/" + id).object(t)
	assert.Equal(t, map[string]any{"size": 12.0, "encoding": "base64", "content": base64.StdEncoding.EncodeToString([]byte("one\n2\nthree\n")), "sha": id}, b)
	// Only the standard alphabet has + and /, and only the padded form ends with =.
	const binary = "\xfb\xef\xbe\xff"
	p.AddCommit(Change{Files: map[string]string{"binary": binary}})
	b = c.get(repo + "/blobs/" + objectID("blob", []byte(binary))).object(t)
	assert.Equal(t, []any{4.0, "++++/w=="}, []any{b["size"], b["content"]})
	raw := c.get(repo + "/blobs/" + id + "/raw")
	assert.Equal(t, "one\n2\nthree\n", raw.Body)
	for name, want := range map[string]string{"Content-Length": "12", "Content-Type": "application/octet-stream", "Content-Disposition": `attachment; filename="` + id + `"`} {
		assert.Equal(t, want, raw.Header.Get(name))
	}

	const size = 300 << 20
	big := p.AddGeneratedBlob("big.bin", size)
	assert.NotEqual(t, big, p.AddGeneratedBlob("big.bin", 7))
	response, err := c.request("GET", repo+"/blobs/"+big+"/raw", "", "")
	require.NoError(t, err)
	defer response.Body.Close()
	assert.EqualValues(t, size, response.ContentLength)
	n, err := io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	assert.EqualValues(t, size, n)
	assert.Equal(t, 200, s.Requests()[3].Status)
}

func TestArchives(t *testing.T) {
	_, p, c, commits := gitWorld(t)
	folder := "app-main-" + commits["last"].ID
	want := map[string]string{
		folder + "/README.md": "one\n2\nthree\n", folder + "/lib/main.go": "package main\n", folder + "/side.txt": "s\n", folder + "/src/box/x.go": "package x\n",
	}
	for _, format := range []string{"", ".tar.gz", ".tar", ".zip", ".bz2", ".tar.bz2", ".tb2", ".tbz", ".tbz2"} {
		r := c.get(repo + "/archive" + format)
		require.Equal(t, 200, r.Status, format)
		assert.Equal(t, want, unpack(t, format, r.Body), format)
		name := fmt.Sprintf(`attachment; filename="%s%s"`, folder, orElse(format, ".tar.gz"))
		assert.Equal(t, []string{name, "application/octet-stream"}, []string{r.Header.Get("Content-Disposition"), r.Header.Get("Content-Type")})
	}
	ofFolder := c.get(repo + "/archive?path=src%2Fbox").Header.Get("Content-Disposition")
	assert.Equal(t, `attachment; filename="`+folder+`-src-box.tar.gz"`, ofFolder)
	p.AddBranch("a/b", "main")
	ofBranch := c.get(repo + "/archive?sha=a%2Fb").Header.Get("Content-Disposition")
	assert.Contains(t, ofBranch, `filename="app-a-b-`)
	for _, bad := range []string{".rar", ".tgz"} {
		assert.Equal(t, 404, c.get(repo+"/archive"+bad).Status)
	}
	base := func(r reply) (names []string) {
		for name := range unpack(t, ".tar.gz", r.Body) {
			_, path, _ := strings.Cut(name, "/")
			names = append(names, path)
		}
		slices.Sort(names)
		return names
	}
	for _, sha := range []string{"v1.0.0", commits["base"].ID, commits["base"].ID[:10]} {
		assert.Equal(t, []string{"README.md", "src/box/x.go", "src/main.go"}, base(c.get(repo+"/archive?sha="+sha)), sha)
	}
	assert.Equal(t, []string{"README.md", "side.txt", "src/box/x.go", "src/main.go"}, base(c.get(repo+"/archive?sha=side%2Fbranch")))
	assert.Equal(t, []string{"src/box/x.go"}, base(c.get(repo+"/archive?path=%2Fsrc%2Fbox%2F")))
	assert.Equal(t, []string{"README.md", "lib/main.go"}, base(c.get(repo+"/archive?exclude_paths[]=+%2Fsrc%2Fbox%2F+&exclude_paths[]=side.txt")))
	assert.Equal(t, []string{"README.md", "lib/main.go"}, base(c.get(repo+"/archive?exclude_paths=src,side.txt")))
	p.AddCommit(Change{Branch: "comma", Files: map[string]string{"a,b": "x", "a": "x", "b.sh": "x"}})
	without := func(query string) []string { return base(c.get(repo + "/archive?sha=comma&path=&" + query)) }
	assert.Equal(t, []string{"README.md", "a", "b.sh", "lib/main.go"}, without("exclude_paths[]=a,b&exclude_paths[]=src&exclude_paths[]=side.txt"))
	assert.Equal(t, []string{"a,b", "lib/main.go"}, without("exclude_paths=a,b.sh,src,side.txt,README.md"))
	assert.Contains(t, unpack(t, ".zip", c.get(repo+"/archive.zip?sha=comma").Body), "app-comma-"+p.repo.branches["comma"].ID+"/b.sh")
	assert.Equal(t, 400, c.get(repo+"/archive?include_lfs_blobs=maybe").Status)

	p.AddGeneratedBlob("large.bin", 200_000)
	assert.Len(t, unpack(t, ".bz2", c.get(repo+"/archive.bz2?sha=main").Body), 5)
}

var fileModes = map[bool]int64{true: 0o755, false: 0o644}

func unpack(t *testing.T, format, body string) map[string]string {
	t.Helper()
	files := map[string]string{}
	var r io.Reader = strings.NewReader(body)
	switch format {
	case ".zip":
		z, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
		require.NoError(t, err)
		for _, f := range z.File {
			content, err := f.Open()
			require.NoError(t, err)
			data, _ := io.ReadAll(content)
			files[f.Name] = string(data)
			assert.EqualValues(t, fileModes[strings.HasSuffix(f.Name, ".sh")], f.Mode())
		}
		return files
	case "", ".tar.gz":
		z, err := gzip.NewReader(r)
		require.NoError(t, err)
		r = z
	case ".tar":
	default:
		r = bzip2.NewReader(r)
	}
	for archive := tar.NewReader(r); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err, format)
		data, err := io.ReadAll(archive)
		require.NoError(t, err)
		files[header.Name] = string(data)
		assert.Equal(t, fileModes[strings.HasSuffix(header.Name, ".sh")], header.Mode)
	}
}

func TestCompare(t *testing.T) {
	s, _, c, commits := gitWorld(t)
	r := c.get(repo + "/compare?from=v1.0.0&to=main").object(t)
	var titles []string
	for _, commit := range r["commits"].([]any) {
		titles = append(titles, commit.(map[string]any)["title"].(string))
	}
	assert.Equal(t, []string{"Side work", "Two", "Merge side", "Move"}, titles)
	assert.Equal(t, commits["last"].ID, r["commit"].(map[string]any)["id"])
	assertShown(t, r["commits"].([]any)[0].(map[string]any), map[string]any{
		"id": commits["side"].ID, "short_id": commits["side"].ID[:8], "title": "Side work", "author_name": "Bob",
		"author_email": "bob@example.com", "created_at": "2026-03-02T00:00:00.000Z",
	})
	assert.Equal(t, s.URL+"/group/app/-/compare/v1.0.0...main", r["web_url"])
	diffs := map[string]map[string]any{}
	for _, d := range r["diffs"].([]any) {
		diff := d.(map[string]any)
		diffs[diff["new_path"].(string)] = diff
	}
	require.Len(t, diffs, 3)
	assert.Equal(t, "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", diffs["README.md"]["diff"])
	assert.Equal(t, "@@ -0,0 +1 @@\n+s\n", diffs["side.txt"]["diff"])
	assert.Nil(t, diffs["side.txt"]["a_mode"])
	assert.Equal(t, true, diffs["side.txt"]["new_file"])
	assertShown(t, diffs["lib/main.go"], map[string]any{"old_path": "src/main.go", "renamed_file": true, "new_file": false, "deleted_file": false, "diff": ""})
	// a diff from the merge base does not revert two; a straight diff does
	two := commits["two"].ID
	paths := func(query string) (list []any) {
		for _, d := range c.get(repo + "/compare?" + query).object(t)["diffs"].([]any) {
			list = append(list, d.(map[string]any)["new_path"])
		}
		return list
	}
	assert.Equal(t, []any{"side.txt"}, paths("from="+two+"&to=side%2Fbranch"))
	assert.Equal(t, []any{"README.md", "side.txt"}, paths("from="+two+"&to=side%2Fbranch&straight=true"))
	unified := c.get(repo + "/compare?from=v1.0.0&to=side%2Fbranch&unidiff=true").Body
	assert.Contains(t, unified, `--- /dev/null\n+++ b/side.txt\n@@`)

	same := c.get(repo + "/compare?from=main&to=main").object(t)
	assert.Equal(t, true, same["compare_same_ref"])
	assert.Nil(t, same["commit"])
	assert.Equal(t, []any{}, same["commits"])
	other := s.AddProject("group/fork", Private)
	other.AddFiles(map[string]string{"fork.txt": "f\n"})
	assert.Equal(t, []any{"README.md", "fork.txt", "lib/main.go", "side.txt", "src/box/x.go"}, paths("from=main&to=main&straight=true&from_project_id=2"))
	assert.Equal(t, []any{"README.md", "lib/main.go", "side.txt", "src/box/x.go"}, paths("from=main&to=main&from_project_id=2"), "no common commit")
	assert.Equal(t, 404, c.as("").get(repo+"/compare?from=main&to=main&from_project_id=2").Status)

	assert.JSONEq(t, `{"error":"from is missing, to is missing"}`, c.get(repo+"/compare").Body)
	assert.Equal(t, 400, c.get(repo+"/compare?from=main&to=main&from_project_id=group%2Ffork").Status)
}

// A comparison leaves the diff of a large file empty; its other fields stay (Document 1 §2.4).
func TestCompareOfLargeFiles(t *testing.T) {
	_, p, c, _ := gitWorld(t)
	p.AddFiles(map[string]string{"large.txt": strings.Repeat("line\n", maxDiffed/5+1), "small.txt": strings.Repeat("line\n", 100)})
	comparison, diffs := c.get(repo+"/compare?from=v1.0.0&to=main").object(t), map[any]map[string]any{}
	assert.Equal(t, []any{false, false}, []any{comparison["compare_timeout"], comparison["compare_same_ref"]})
	for _, d := range comparison["diffs"].([]any) {
		diffs[d.(map[string]any)["new_path"]] = d.(map[string]any)
	}
	large, small := diffs["large.txt"], diffs["small.txt"]
	assert.Equal(t, []any{"", true, true}, []any{large["diff"], large["too_large"], large["new_file"]})
	assert.Equal(t, false, small["too_large"])
	assert.Contains(t, small["diff"], "@@ -0,0 +1,100 @@")
}

func TestDiffHunks(t *testing.T) {
	var before, after []string
	for i := range 40 {
		before = append(before, fmt.Sprintf("%d\n", i))
	}
	after = slices.Clone(before)
	after[5], after[30] = "five\n", "thirty\n"
	after = slices.Insert(after, 31, "new\n")
	want := "@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -28,7 +28,8 @@\n 27\n 28\n 29\n-30\n+thirty\n+new\n 31\n 32\n 33\n"
	assert.Equal(t, want, hunks(compareLines(before, after)))
	assert.Equal(t, "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", hunks(compareLines([]string{"a"}, []string{"b\n"})))
	assert.Equal(t, "@@ -1,2 +1,3 @@\n+b\n x\n y\n", hunks(compareLines([]string{"x\n", "y\n"}, []string{"b\n", "x\n", "y\n"})))
	long := replaceLines([]string{"a\n", "old\n", "z\n"}, []string{"a\n", "new\n", "more\n", "z\n"}) // too long to compare by line
	assert.Equal(t, "@@ -1,3 +1,4 @@\n a\n-old\n+new\n+more\n z\n", hunks(long))
	assert.Equal(t, "@@ -1 +1,2 @@\n a\n+b\n", hunks(replaceLines([]string{"a\n"}, []string{"a\n", "b\n"})))
	assert.Equal(t, "@@ -1,2 +1 @@\n a\n-a\n", hunks(replaceLines([]string{"a\n", "a\n"}, []string{"a\n"})))
	assert.Equal(t, "@@ -1 +1,2 @@\n a\n+a\n", hunks(replaceLines([]string{"a\n"}, []string{"a\n", "a\n"})))
	assert.Equal(t, "@@ -1,2 +1 @@\n-b\n a\n", hunks(replaceLines([]string{"b\n", "a\n"}, []string{"a\n"})))
	assert.Equal(t, "@@ -1 +1,2 @@\n+b\n a\n", hunks(replaceLines([]string{"a\n"}, []string{"b\n", "a\n"})))
	for gap, want := range map[int]int{6: 1, 7: 2} { // unchanged lines between two changes
		after := slices.Clone(before)
		after[10], after[11+gap] = "x\n", "x\n"
		assert.Equal(t, want, strings.Count(hunks(compareLines(before, after)), "@@ -"), gap)
	}
	for sizes, compared := range map[[2]int]bool{{1 << 10, 1 << 10}: true, {17, 61681}: false} { // of 1<<20 pairs of lines, and one more
		assert.Equal(t, compared, compareLines(make([]string, sizes[0]), make([]string, sizes[1])) != nil)
	}
	text, binary := treeEntry{blob: &blob{data: []byte("a")}}, treeEntry{blob: &blob{data: []byte("b\x00")}}
	first := treeEntry{blob: &blob{data: []byte("\x00b")}}
	for _, change := range []fileChange{{"x", "x", text, binary}, {"x", "x", binary, text}, {"x", "x", first, text}, {"x", "x", text, first}} {
		assert.Equal(t, "Binary files a/x and b/x differ\n", change.render(diffForm{unidiff: true}).Get("diff"))
	}

	_, p, c, _ := gitWorld(t)
	p.AddFiles(map[string]string{"n.txt": strings.Join(before, "")})
	p.AddBranch("edited", "main")
	p.AddCommit(Change{Branch: "edited", Files: map[string]string{"n.txt": strings.Join(after, "")}})
	diffs := c.get(repo + "/compare?from=main&to=edited").object(t)["diffs"].([]any)
	assert.Equal(t, want, diffs[0].(map[string]any)["diff"])
}

// A merge applies what the branch has changed, added, moved and deleted. A move is the move of one
// file, even if several have its content.
func TestMergesAndMoves(t *testing.T) {
	p := New(t).AddProject("group/app")
	p.AddFiles(map[string]string{"changed": "1", "moved": "2", "gone": "3", "kept": "4"})
	p.AddCommit(Change{Branch: "side", Files: map[string]string{"changed": "5", "to": "2", "too": "2", "new": "6"}, Delete: []string{"moved", "gone"}})
	base := p.AddFiles(map[string]string{"kept": "7"})
	merge, got := p.AddCommit(Change{MergeFrom: "side"}), map[string]string{}
	merge.tree.walk("", func(path string, e treeEntry) { got[path] = string(e.blob.data) })
	assert.Equal(t, map[string]string{"changed": "5", "to": "2", "too": "2", "new": "6", "kept": "7"}, got)
	var changes []string
	for _, c := range diffTrees(base.tree, merge.tree) {
		changes = append(changes, c.oldPath+">"+c.newPath)
	}
	assert.Equal(t, "changed>changed gone>gone new>new moved>to too>too", strings.Join(changes, " "))
}

// Trailers are the lines of the last paragraph that have a key of one word, unless it is the title.
func TestTrailers(t *testing.T) {
	for message, want := range map[string]map[string]string{
		"Changelog: a": {}, "T\n\nChangelog: a\n\nMore": {}, "T\n\nTwo words: a\nKey:b\nChangelog: c\n": {"Changelog": "c"},
	} {
		last, _ := (&Commit{Message: message}).trailers()
		assert.Equal(t, want, last, message)
	}
}

func TestContributors(t *testing.T) {
	s, p, c, _ := gitWorld(t)
	// The order of the three differs by date, name, e-mail address and commits: 3, 2 and 4.
	cem := s.AddUser("cem")
	cem.Name, cem.Email = "Bea Cem", "a@example.com"
	p.AddCommit(Change{Author: s.AddUser("ada"), Date: day(6), Files: map[string]string{"x.txt": "x\n"}})
	for i := range 4 {
		p.AddCommit(Change{Author: cem, Date: day(7 + i)})
	}
	names := func(query string) []any { return c.get(repo+"/contributors"+query).column(t, "name") }
	for query, want := range map[string][]any{
		"":                 {"Ada", "Bob", "Bea Cem"},
		"order_by=name":    {"Ada", "Bea Cem", "Bob"},
		"order_by=email":   {"Bea Cem", "Ada", "Bob"},
		"order_by=commits": {"Bob", "Ada", "Bea Cem"},
	} {
		assert.Equal(t, want, names("?"+query), query)
		assert.Equal(t, want, names("?sort=asc&"+query), query)
		slices.Reverse(want)
		assert.Equal(t, want, names("?sort=desc&"+query), query)
	}
	assert.Equal(t, []any{"Ada"}, names("?ref=v1.0.0"))
	all := c.get(repo + "/contributors").array(t)
	assert.Equal(t, map[string]any{"name": "Ada", "email": "ada@example.com", "commits": 3.0, "additions": 7.0, "deletions": 1.0}, all[0])
	assert.Equal(t, 400, c.get(repo+"/contributors?order_by=age").Status)
	assert.Equal(t, 15, s.CountRequests("GET /projects/:id/repository/contributors")) // refused calls count too
}

func TestMergeBase(t *testing.T) {
	s, _, c, commits := gitWorld(t)
	r := c.get(repo + "/merge_base?refs[]=side%2Fbranch&refs[]=" + commits["two"].ID)
	require.Equal(t, 200, r.Status, r.Body)
	base := r.object(t)
	assert.Equal(t, commits["base"].ID, base["id"])
	assert.Equal(t, "2026-03-01T00:00:00.000Z", base["created_at"])
	side := c.get(repo + "/merge_base?refs[]=main&refs[]=side%2Fbranch").object(t)
	assertShown(t, side, map[string]any{
		"id": commits["side"].ID, "short_id": commits["side"].ID[:8], "title": "Side work", "message": "Side work\n\nChangelog: fixed",
		"created_at": "2026-03-02T00:00:00.000Z", "parent_ids": []any{commits["base"].ID}, "author_name": "Bob", "author_email": "bob@example.com",
		"authored_date": "2026-03-02T00:00:00.000Z", "committer_name": "Bob", "committer_email": "bob@example.com",
		"committed_date": "2026-03-02T00:00:00.000Z", "trailers.Changelog": "fixed",
	})
	assert.Equal(t, commits["base"].ID, c.get(repo + "/merge_base?refs[]=main&refs[]=side%2Fbranch&refs[]=v1.0.0").object(t)["id"])
	assert.Equal(t, 400, c.get(repo+"/merge_base?refs[]=main").Status)
	assert.JSONEq(t, `{"error":"refs is missing"}`, c.get(repo+"/merge_base").Body)
	assert.JSONEq(t, `{"message":"400 Bad request - Could not find ref: none"}`, c.get(repo+"/merge_base?refs[]=main&refs[]=none").Body)
	assert.Equal(t, 401, c.as("").get(repo+"/merge_base?refs[]=main&refs[]=v1.0.0").Status)
	assert.Equal(t, s.URL+"/group/app/-/commit/"+commits["base"].ID, base["web_url"])
}

func TestDemoRepository(t *testing.T) {
	s := New(t, WithDemo())
	c := newCaller(t, s)
	gateway := "/projects/acme%2Fplatform%2Fgateway/repository"
	tree := c.get(gateway+"/tree?recursive=true&per_page=100").column(t, "path")
	assert.Contains(t, tree, "internal/auth/auth_test.go")
	assert.NotContains(t, tree, "docs/architecture.md")
	assert.Len(t, c.get(gateway+"/contributors").array(t), 4)
	assert.Contains(t, c.get(gateway + "/changelog?version=1.3.0").object(t)["notes"], "Refuse tokens with spaces")
	assert.Equal(t, DemoTime().Format(time.DateOnly), c.get(gateway + "/changelog?version=1.3.0").object(t)["notes"].(string)[10:20])
	assert.GreaterOrEqual(t, len(between(nil, s.store.projects[2].repo.branches["main"])), 25)
	assert.Contains(t, c.get(gateway+"/compare?from=v1.2.0&to=main").Body, `"old_path":"docs/architecture.md","new_path":"docs/overview.md"`)

	const project = "/projects/acme%2Fplatform%2Fgateway/merge_requests"
	with := slices.DeleteFunc(c.get(project+"?scope=all&per_page=100").array(t), func(mr map[string]any) bool { return mr["changes_count"] == nil })
	require.Len(t, with, 1)
	path := fmt.Sprintf("%s/%v", project, with[0]["iid"])
	changes := c.get(path + "/changes").object(t)["changes"].([]any)
	assert.Equal(t, fmt.Sprint(len(changes)), with[0]["changes_count"])
	assert.Len(t, c.get(path+"/versions").array(t), 1)
}

// The demo data have a record of every kind that the example programs need.
func TestDemoOperations(t *testing.T) {
	s := New(t, WithDemo())
	c := newCaller(t, s)
	assert.Equal(t, []any{"acme/storefront/web", "acme/storefront/cron", "acme/platform/gateway"}, c.get("/groups/acme/registry/repositories").column(t, "path"))
	assert.Equal(t, []any{"online", "never_contacted", "stale", "offline", "online", "online"}, c.get("/runners/all").column(t, "status"))
	assert.Len(t, c.get("/audit_events?per_page=100&page=3").array(t), demoEvents-200)
	assert.Len(t, c.get("/groups/acme/audit_events?per_page=100").array(t), 54)
	assert.Len(t, s.AddGroup("acme").Placeholders(), 6)
	assert.Equal(t, 403, c.with("DELETE", "/projects/1/registry/repositories/1/tags/v1.0.0", "", "").Status)
}

// The Date of responses follows the clock of the server.
func TestDateFollowsTheClock(t *testing.T) {
	s := New(t)
	c := newCaller(t, s)
	assert.Len(t, c.get("/user").Header["Date"], 1)
	at := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	s.SetClock(func() time.Time { return at })
	s.Fail("GET /users", Status(503).Times(1))
	for _, path := range []string{"/user", "/users", "/nothing"} {
		date, err := http.ParseTime(c.get(path).Header.Get("Date"))
		assert.NoError(t, err)
		assert.Equal(t, at, date, path)
	}
}
