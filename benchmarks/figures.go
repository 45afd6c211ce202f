package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// figuresFile holds the figures of a run, in the folder figures.
type figuresFile struct {
	Go    string `json:"go"`
	Peer  string `json:"client_go"`
	CPU   string `json:"cpu"`
	CPUs  int    `json:"cpus"`
	Date  string `json:"date"`
	Lines []line `json:"lines"`
}

// releases are the supported Go releases, of which figures are saved.
var releases = []string{"go1.26", "go1.27"}

// release returns the Go release without the patch number.
func release() string {
	parts := strings.SplitN(runtime.Version(), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

func figuresPath(release string) string { return filepath.Join("figures", release+".json") }

// save writes the lines of a run.
func save(lines []line) error {
	file := figuresFile{runtime.Version(), peerRelease(), cpuName(), runtime.NumCPU(), time.Now().Format(time.DateOnly), lines}
	text, err := json.MarshalIndent(file, "", "\t")
	return errors.Join(err, os.WriteFile(figuresPath(release()), append(text, '\n'), 0o644))
}

// peerRelease returns the release of client-go that this program is built with.
func peerRelease() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "gitlab.com/gitlab-org/api/client-go/v2" {
				return module.Version
			}
		}
	}
	return "of an unknown release"
}

func load(release string) (file figuresFile, err error) {
	text, err := os.ReadFile(figuresPath(release))
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	return file, err
}

const worseBy = 1.15

// regressions returns the ratios that are worse than in older lines, one in a line. Noisy lines are
// not compared.
func regressions(old, lines []line) (worse []string) {
	for i := range lines {
		l := &lines[i]
		k := slices.IndexFunc(old, func(was line) bool { return was.Work == l.Work && was.What == l.What })
		if k < 0 || l.Noisy {
			continue
		}
		then := old[k].comparisons()
		for n, c := range l.comparisons() {
			if c.theirs <= 0 || then[n].theirs <= 0 { // absent, or a difference that noise made negative
				continue
			}
			if is, was := l.Forge/c.theirs, old[k].Forge/then[n].theirs; is > was*worseBy {
				worse = append(worse, fmt.Sprintf("%s, %s: forge / %s is %.3g, and was %.3g", l.Work, l.What, c.name, is, was))
			}
		}
	}
	return worse
}
