package forgetest

import (
	"bytes"
	"mime/multipart"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sendFile uploads a file as multipart.
func (c caller) sendFile(path, field, content string) reply {
	c.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile(field, "placeholders.csv")
	require.NoError(c.t, err)
	_, _ = part.Write([]byte(content))
	require.NoError(c.t, w.Close())
	response, err := c.request("POST", path, w.FormDataContentType(), b.String())
	require.NoError(c.t, err)
	defer response.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(response.Body)
	require.NoError(c.t, err)
	return reply{response.StatusCode, response.Header, body.String()}
}

func TestPlaceholders(t *testing.T) {
	s := New(t)
	g := s.AddGroup("group")
	jane, owner, maintainer := s.AddUser("jane"), s.AddUser("owner"), s.AddUser("maintainer")
	s.AddUser("tom").Edit(func(d *Document) { d.Set("public_email", "tom@public.example") })
	g.AddMember(owner, Owner)
	g.AddMember(maintainer, Maintainer)
	for i, name := range []string{"Jane, old", "Tom", "Nobody"} {
		g.AddPlaceholder(Placeholder{SourceHost: "https://old.example", ImportType: "bitbucket", SourceID: decimal(int64(i + 1)), SourceName: name, SourceUser: "old"})
	}
	c := newCaller(t, s)
	path := "/groups/group/placeholder_reassignments"
	file := c.as(owner.Token).get(path)
	assert.Equal(t, 200, file.Status)
	assert.Equal(t, "text/csv; charset=utf-8", file.Header.Get("Content-Type"))
	assert.Contains(t, file.Header.Get("Content-Disposition"), "attachment")
	assert.Equal(t, placeholderHeader+"https://old.example,bitbucket,1,\"Jane, old\",old,,\nhttps://old.example,bitbucket,2,Tom,old,,\nhttps://old.example,bitbucket,3,Nobody,old,,\n", file.Body)

	answer := c.as(owner.Token).sendFile(path, "file", placeholderHeader+
		"https://old.example,bitbucket,1,x,old,jane,\nhttps://old.example,bitbucket,2,x,old,,tom@public.example\nhttps://old.example,bitbucket,3,x,old,stranger,\n")
	assert.Equal(t, 201, answer.Status, answer.Body)
	keys(t, "Message", "", answer.object(t))
	assert.Contains(t, answer.object(t)["message"], "is being processed")
	assert.Nil(t, g.Placeholders()[0].User) // processed in the background
	s.FinishBackgroundJobs()
	assert.Equal(t, jane, g.Placeholders()[0].User)
	assert.Equal(t, "tom", g.Placeholders()[1].User.Username)
	assert.Nil(t, g.Placeholders()[2].User)
	assert.Equal(t, placeholderHeader+"https://old.example,bitbucket,3,Nobody,old,,\n", c.get(path).Body)

	assert.Equal(t, 403, c.as(maintainer.Token).get(path).Status)
	assert.Equal(t, 403, c.as(maintainer.Token).sendFile(path, "file", placeholderHeader).Status)
	assert.Equal(t, 401, c.as("").get(path).Status)
	assert.Equal(t, 404, c.get("/groups/jane/placeholder_reassignments").Status) // a personal namespace
	assert.Equal(t, 404, c.sendFile("/groups/jane/placeholder_reassignments", "file", placeholderHeader).Status)
	assert.JSONEq(t, `{"error":"file is missing"}`, c.sendFile(path, "other", placeholderHeader).Body)
	assert.JSONEq(t, `{"error":"file is missing"}`, c.post(path).Body)
	assert.JSONEq(t, `{"error":"file is invalid"}`, c.send("POST", path, "file=text").Body)
	for _, content := range []string{"", "a,b\n", "Source host\n"} {
		assert.Equal(t, 400, c.sendFile(path, "file", content).Status)
	}

	deployed := New(t, WithGitLabVocabulary())
	deployed.AddGroup("group")
	assert.Contains(t, newCaller(t, deployed).get(path).Body, "GitLab username,GitLab public email\n")
}
