package simulation

import (
	"bytes"
	"context"
	"io"
	"log"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	forge "github.com/forge-sdk/forge-go"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // net/http logs the faults there
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/forge-sdk/forge-go/internal/simulation.TestStuckBubble.func1.1"))
}

// run runs a program in a world, and requires that there is no violation.
func run(t *testing.T, plan WorldPlan, body func(w *World)) {
	t.Helper()
	for _, v := range Run(t, plan, body) {
		t.Error(v)
	}
}

// In a world without faults a call, a list, an upload and a download succeed.
func TestWorldWithoutFaults(t *testing.T) {
	content := Pattern(100 << 10)
	plan := WorldPlan{Latency: time.Second, Data: DataPlan{Issues: 45, SecureFiles: []int{3000}}}
	run(t, plan, func(w *World) {
		assert.Equal(t, 2000, w.began.UTC().Year())
		app := forge.Path("group/app")
		ctx, mark := w.Call(context.Background(), "g0.s1")
		stats, err := w.Client.Issues.GetTimeStats(ctx, app, 1, mark)
		require.NoError(t, err)
		assert.NotNil(t, stats)
		assert.GreaterOrEqual(t, w.Now(), 4*time.Second)

		ctx, mark = w.Call(context.Background(), "g0.s2")
		issues, err := forge.Collect(w.Client.Issues.List(ctx, nil, forge.PerPage(20), mark))
		require.NoError(t, err)
		assert.Len(t, issues, 45)

		ctx, mark = w.Call(context.Background(), "g0.s3")
		file, err := w.Client.SecureFiles.Upload(ctx, app, &forge.UploadSecureFileOptions{
			Name: "new.bin", File: forge.FileBytes(content).Named("new.bin")}, mark)
		require.NoError(t, err)

		old, err := w.Client.SecureFiles.Get(ctx, app, w.Data.SecureFileIDs[0])
		require.NoError(t, err)
		for want, f := range map[*[]byte]*forge.SecureFile{&w.Data.SecureFiles[0]: old, &content: file} {
			ctx, mark := w.Call(context.Background(), "g0.s4")
			download, err := w.Client.SecureFiles.Download(ctx, app, f, mark)
			require.NoError(t, err)
			got, err := io.ReadAll(download)
			require.NoError(t, err)
			require.NoError(t, download.Close())
			assert.True(t, bytes.Equal(*want, got))
		}

		wire := w.Wire()
		require.Len(t, wire, 8)
		pages := []string{wire[1].Page, wire[2].Page, wire[3].Page}
		assert.Equal(t, []string{"", "2", "3"}, pages)
		upload := wire[4]
		assert.Equal(t, "POST", upload.Method)
		assert.True(t, upload.Effect)
		assert.Greater(t, upload.Read, int64(len(content)))
		assert.Equal(t, 201, upload.Status)
		assert.Equal(t, int64(3000), wire[6].Sent+wire[7].Sent-int64(len(content)))
	})
}
