package simulation

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	forge "github.com/forge-sdk/forge-go"
)

// operations are calls of each form. Each is call "c", and returns the value that it read.
var operations = map[string]func(w *World) (string, error){
	"get": func(w *World) (string, error) {
		ctx, mark := w.Call(context.Background(), "c")
		stats, err := w.Client.Issues.GetTimeStats(ctx, forge.Path("group/app"), 1, mark)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(stats.TimeEstimate), nil
	},
	"list": func(w *World) (string, error) {
		ctx, mark := w.Call(context.Background(), "c")
		issues, err := forge.Collect(w.Client.Issues.List(ctx, nil, forge.PerPage(10), mark))
		return fmt.Sprint(len(issues)), err
	},
	"post": func(w *World) (string, error) {
		ctx, mark := w.Call(context.Background(), "c")
		stats, err := w.Client.Issues.AddSpentTime(ctx, forge.Path("group/app"), 1,
			&forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)}, mark)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(stats.TotalTimeSpent), nil
	},
	"upload": func(w *World) (string, error) {
		ctx, mark := w.Call(context.Background(), "c")
		file, err := w.Client.SecureFiles.Upload(ctx, forge.Path("group/app"), &forge.UploadSecureFileOptions{
			Name: "new.bin", File: forge.FileBytes(Pattern(100_000))}, mark)
		if err != nil {
			return "", err
		}
		return file.Name, nil
	},
	"download": func(w *World) (string, error) {
		ctx, mark := w.Call(context.Background(), "c")
		download, err := w.Client.Repositories.DownloadBlob(ctx, forge.Path("group/app"), w.Data.Blobs[0], mark)
		if err != nil {
			return "", err
		}
		defer func() { _ = download.Close() }()
		content, err := io.ReadAll(download)
		return fmt.Sprint(len(content)), err
	},
}

var wantOf = map[string]string{"get": "0", "list": "25", "post": "3600", "upload": "new.bin", "download": "50000"}

func smallPlan(protocol Protocol) WorldPlan {
	return WorldPlan{
		Protocol: protocol, Latency: time.Millisecond,
		Data: DataPlan{Issues: 25, Blobs: []int{50_000}},
	}
}

var protocols = []Protocol{HTTP1, H2C, TLS, TLS1}

// Without faults, every operation succeeds over every protocol, with every credential, and through
// a proxy.
func TestProtocolsAndCredentials(t *testing.T) {
	for _, protocol := range protocols {
		for _, auth := range []AuthKind{PersonalToken, OAuth} {
			for _, proxied := range []bool{false, true} {
				t.Run(fmt.Sprint(protocol, auth, proxied), func(t *testing.T) {
					plan := smallPlan(protocol)
					plan.Auth, plan.Proxy = auth, proxied
					run(t, plan, func(w *World) {
						for name, do := range operations {
							got, err := do(w)
							assert.NoError(t, err, name)
							assert.Equal(t, wantOf[name], got, name)
						}
						for _, e := range w.Wire() {
							wantProto := map[bool]string{true: "HTTP/2.0", false: "HTTP/1.1"}[protocol == H2C || protocol == TLS]
							if e.Origin == "forge" {
								assert.Equal(t, wantProto, e.Proto)
								assert.Equal(t, "c", e.Call)
							}
						}
					})
				})
			}
		}
	}
}

// points are the points at which each kind acts.
var points = map[FaultKind][]Point{
	Refuse: {AtDial}, Slow: {AtDial, AtHead, AtHeader, AtData},
	Reset:  {AtDial, AtHead, AtBody, AtBefore, AtAfter, AtHeader, AtData},
	Cut:    {AtDial, AtHead, AtBody, AtBefore, AtAfter, AtHeader, AtData},
	Stall:  {AtDial, AtHead, AtBody, AtBefore, AtAfter, AtHeader, AtData},
	Garble: {AtDial, AtHead, AtHeader, AtData}, Repeat: {AtDial, AtHeader, AtData},
	Interim: {AtBefore}, Respond: {AtBody, AtBefore, AtAfter}, GoAway: {AtBefore, AtAfter},
	Abort: {AtBody, AtBefore, AtAfter, AtData}, Restart: {AtBefore, AtAfter}, JumpDate: {AtBefore, AtAfter},
	Expire: {AtBefore}, Insert: {AtBefore, AtAfter}, Delete: {AtBefore, AtAfter}, Relink: {AtAfter}, Endless: {AtAfter},
}

// Every fault hits its call at each of its points, with each operation and over each protocol, and
// no resource stays open.
func TestEveryFaultHits(t *testing.T) {
	for kind, at := range points {
		for _, point := range at {
			t.Run(kind.String()+point.String(), func(t *testing.T) {
				for _, protocol := range protocols {
					for name, do := range operations {
						everyFault(t, protocol, name, do, Fault{
							Call: "c", Attempt: 1, At: point, Kind: kind, Byte: 15, Wait: 5 * time.Second, Status: statusFor(kind),
						})
					}
				}
			})
		}
	}
}

func statusFor(kind FaultKind) int {
	if kind == Interim {
		return 103
	}
	return 503
}

func everyFault(t *testing.T, protocol Protocol, name string, do func(*World) (string, error), f Fault) {
	t.Helper()
	plan := smallPlan(protocol)
	plan.Faults = []Fault{f}
	run(t, plan, func(w *World) {
		got, err := do(w)
		hits := 0
		for _, e := range w.Events() {
			if e.Text == "fault: "+f.String() {
				hits++
			}
		}
		reads := name == "get" || name == "list" || name == "download"
		if f.At == AtHead && protocol != HTTP1 || f.At == AtBody && reads {
			assert.Zero(t, hits, "%s %s", protocol, name)
			return
		}
		assert.GreaterOrEqual(t, hits, 1, "%s %s", protocol, name)
		t.Logf("%-5s %-8s hits %d, wire %d, after %s: %q %v", protocol, name, hits, len(w.Wire()), w.Now(), got, err)
	})
}

// The two halves of a pattern differ, so that a test can find moved bytes.
func TestPattern(t *testing.T) {
	assert.Len(t, Pattern(10), 10)
	assert.False(t, bytes.Equal(Pattern(100)[:50], Pattern(100)[50:]))
}
