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
	Go    string      `json:"go"`
	Peer  string      `json:"client_go"`
	CPU   string      `json:"cpu"`
	CPUs  int         `json:"cpus"`
	Date  string      `json:"date"`
	Quick bool        `json:"quick,omitempty"`
	Lines []savedLine `json:"lines"`
}

// savedLine is a line as JSON.
type savedLine struct {
	Work        string  `json:"work"`
	What        string  `json:"what"`
	Unit        unit    `json:"unit"`
	Exact       bool    `json:"exact,omitempty"`
	Noisy       bool    `json:"noisy,omitempty"`
	Forge       float64 `json:"forge"`
	Hand        float64 `json:"by_hand,omitempty"`
	V2          float64 `json:"v2,omitempty"`
	Peer        float64 `json:"peer,omitempty"`
	GitHub      float64 `json:"go_github,omitempty"`
	Floor       float64 `json:"floor,omitempty"`
	Limit       float64 `json:"limit,omitempty"`
	Most        float64 `json:"most_above_hand,omitempty"`
	HandTarget  float64 `json:"by_hand_target,omitempty"`
	V2Target    float64 `json:"v2_target,omitempty"`
	PeerTarget  float64 `json:"peer_target,omitempty"`
	FloorTarget float64 `json:"floor_target,omitempty"`
}

func savedLines(lines []line) []savedLine {
	saved := make([]savedLine, len(lines))
	for i, l := range lines {
		saved[i] = savedLine{
			l.work, l.what, l.show, l.exact, l.noisy, l.ours, l.hand, l.v2, l.peer, l.hub, l.floor,
			l.limit, l.most, l.handTarget, l.v2Target, l.peerTarget, l.floorTarget,
		}
	}
	return saved
}

func linesOf(saved []savedLine) []line {
	lines := make([]line, len(saved))
	for i, s := range saved {
		lines[i] = line{
			work: s.Work, what: s.What, show: s.Unit, exact: s.Exact, noisy: s.Noisy, ours: s.Forge, hand: s.Hand, v2: s.V2, peer: s.Peer, hub: s.GitHub, floor: s.Floor,
			limit: s.Limit, most: s.Most, handTarget: s.HandTarget, v2Target: s.V2Target, peerTarget: s.PeerTarget, floorTarget: s.FloorTarget,
		}
	}
	return lines
}

// releases are the supported Go releases, of which figures are saved.
var releases = []string{"go1.26", "go1.27"}

// release returns the Go release without the patch number.
func release() string {
	parts := strings.SplitN(runtime.Version(), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

func figuresPath(release string) string { return filepath.Join("figures", release+".json") }

// save writes the lines of a run. If the run had some of the rows only, the file keeps its other
// rows.
func save(lines []line, quick, some bool) error {
	file := figuresFile{runtime.Version(), peerRelease(), cpuName(), runtime.NumCPU(), time.Now().Format(time.DateOnly), quick, savedLines(lines)}
	if some {
		old, err := load(release())
		if err != nil {
			return err
		}
		if old.Peer != file.Peer {
			return fmt.Errorf("the other rows are of client-go %s, and this run has %s: save all rows", old.Peer, file.Peer)
		}
		file.Lines = replaceRows(old.Lines, file.Lines)
	}
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

// replaceRows returns the lines of the old rows, with those of the new rows in their place.
func replaceRows(old, rows []savedLine) (all []savedLine) {
	placed := map[string]bool{}
	for _, l := range old {
		if !slices.ContainsFunc(rows, func(r savedLine) bool { return r.Work == l.Work }) {
			all = append(all, l)
			continue
		}
		if !placed[l.Work] {
			placed[l.Work] = true
			all = append(all, slices.DeleteFunc(slices.Clone(rows), func(r savedLine) bool { return r.Work != l.Work })...)
		}
	}
	return all
}

func load(release string) (file figuresFile, err error) {
	text, err := os.ReadFile(figuresPath(release))
	if err != nil {
		return file, err
	}
	err = json.Unmarshal(text, &file)
	return file, err
}

const worseBy = 1.15

// regressions returns the ratios that are worse than in older lines, one in a line. Noisy lines are
// not compared.
func regressions(old, lines []line) (worse []string) {
	before := map[string]*line{}
	for i := range old {
		before[old[i].work+"\x00"+old[i].what] = &old[i]
	}
	for i := range lines {
		l := &lines[i]
		was := before[l.work+"\x00"+l.what]
		if was == nil || l.noisy {
			continue
		}
		then := was.comparisons()
		for k, c := range l.comparisons() {
			if c.theirs <= 0 || then[k].theirs <= 0 { // absent, or a difference that noise made negative
				continue
			}
			is, saved := l.ours/c.theirs, was.ours/then[k].theirs
			if is > saved*worseBy {
				worse = append(worse, fmt.Sprintf("%s, %s: forge / %s is %.3g, and was %.3g\n", l.work, l.what, c.name, is, saved))
			}
		}
	}
	return worse
}
