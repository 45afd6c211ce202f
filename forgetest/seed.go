package forgetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// seedNode is a JSON value of a seed with its place in the file.
type seedNode struct {
	line    int
	path    string // "projects[0].issues[2].title"; "" for the file
	value   any    // nil, bool, string or json.Number; nil for the next two
	members []*seedMember
	items   []*seedNode
	kind    byte // '{', '[' or 0
}

type seedMember struct {
	name string
	*seedNode
}

// seedError is what is wrong at a place. Functions that read a seed panic with it.
type seedError struct {
	at   *seedNode
	text string
}

func (n *seedNode) fail(format string, args ...any) {
	panic(seedError{n, fmt.Sprintf(format, args...)})
}

// parseSeed reads JSON and notes the line of each value.
func parseSeed(data []byte) (*seedNode, error) {
	p := &seedParser{data: data, decoder: json.NewDecoder(bytes.NewReader(data))}
	p.decoder.UseNumber()
	root, err := p.value("")
	if err == nil && !atEOF(p.decoder) {
		err = fmt.Errorf("there is text after the object")
	}
	var syntax *json.SyntaxError // of Go 1.27, in place of io.EOF
	switch {
	case errors.Is(err, io.EOF), errors.As(err, &syntax) && syntax.Offset >= int64(len(data)):
		return nil, fmt.Errorf("%d: the JSON ends too early", p.line())
	case err != nil:
		return nil, fmt.Errorf("%d: %w", p.line(), err)
	}
	return root, nil
}

type seedParser struct {
	data    []byte
	decoder *json.Decoder
}

func (p *seedParser) line() int {
	return 1 + bytes.Count(p.data[:min(p.decoder.InputOffset(), int64(len(p.data)))], []byte("\n"))
}

func (p *seedParser) value(path string) (*seedNode, error) {
	token, err := p.decoder.Token()
	if err != nil {
		return nil, err
	}
	n := &seedNode{line: p.line(), path: path, value: token}
	delimiter, nested := token.(json.Delim)
	if !nested {
		return n, nil
	}
	n.value, n.kind = nil, byte(delimiter)
	for p.decoder.More() {
		if n.kind == '[' {
			item, err := p.value(fmt.Sprintf("%s[%d]", path, len(n.items)))
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
			continue
		}
		key, err := p.decoder.Token()
		if err != nil {
			return nil, err
		}
		name := key.(string)
		if n.member(name) != nil {
			return nil, fmt.Errorf("%q is there twice", strings.TrimPrefix(path+"."+name, "."))
		}
		value, err := p.value(strings.TrimPrefix(path+"."+name, "."))
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, &seedMember{name, value})
	}
	_, err = p.decoder.Token()
	return n, err
}

func (n *seedNode) member(name string) *seedNode {
	for _, m := range n.members {
		if m.name == name {
			return m.seedNode
		}
	}
	return nil
}

// The methods below return the value in one type, or fail. A nil node is the zero value.

func (n *seedNode) text() string {
	if n == nil {
		return ""
	}
	s, is := n.value.(string)
	if !is {
		n.fail("it must be a text")
	}
	return s
}

func (n *seedNode) flag() bool {
	if n == nil {
		return false
	}
	b, is := n.value.(bool)
	if !is {
		n.fail("it must be true or false")
	}
	return b
}

func (n *seedNode) count() int {
	if n == nil {
		return 0
	}
	number, _ := n.value.(json.Number)
	i, err := number.Int64()
	if err != nil || i < 0 || i > 1e9 {
		n.fail("it must be a whole number from 0 to 1,000,000,000")
	}
	return int(i)
}

func (n *seedNode) list() []*seedNode {
	if n != nil && n.kind != '[' {
		n.fail("it must be a list")
	}
	if n == nil {
		return nil
	}
	return n.items
}

func (n *seedNode) texts() []string {
	var all []string
	for _, item := range n.list() {
		all = append(all, item.text())
	}
	return all
}

// object checks that a node is an object that has only these keys; "*" allows all.
func (n *seedNode) object(known ...string) *seedNode {
	if n.kind != '{' {
		n.fail("it must be an object")
	}
	for _, m := range n.members {
		if !slices.Contains(known, m.name) && !slices.Contains(known, "*") {
			m.fail("unknown; known are %s", strings.Join(known, ", "))
		}
	}
	return n
}

// required returns the value of a key, and fails without one or with an empty text.
func (n *seedNode) required(name string) *seedNode {
	m := n.member(name)
	if m == nil || m.value == "" {
		n.fail("%s is missing", name)
	}
	return m
}

// seedSource is where data come from: a path, or the data themselves.
type seedSource struct {
	path string
	data []byte
}

// WithSeed fills the server with the data of a JSON file, or of the *.json files of a folder in the
// order of their names. control/seed.schema.json describes the form. Start returns an error with
// the file, the line and the field if something in it is wrong.
func WithSeed(path string) Option {
	return func(s *Server) { s.seeds, s.seedName = append(s.seeds, seedSource{path: path}), path }
}

// WithSeedData is [WithSeed] with the JSON itself. It cannot name files.
func WithSeedData(data []byte) Option {
	return func(s *Server) { s.seeds = append(s.seeds, seedSource{data: data}) }
}

// loadSeeds loads the data of WithSeed and WithSeedData.
func (s *Server) loadSeeds() error {
	for _, source := range s.seeds {
		if source.path == "" {
			if err := s.load("seed", "", source.data); err != nil {
				return err
			}
			continue
		}
		files, err := source.files()
		if err != nil {
			return err
		}
		for _, file := range files {
			data, err := os.ReadFile(file) //nolint:gosec // the user names it
			if err != nil {
				return fmt.Errorf("seed: %w", err)
			}
			if err := s.load(file, filepath.Dir(file), data); err != nil {
				return err
			}
		}
	}
	return nil
}

// files returns the files of a path, which may be a folder.
func (source seedSource) files() ([]string, error) {
	info, err := os.Stat(source.path)
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	if !info.IsDir() {
		return []string{source.path}, nil
	}
	files, _ := filepath.Glob(filepath.Join(source.path, "*.json"))
	if len(files) == 0 {
		return nil, fmt.Errorf("seed %s: the folder has no *.json file", source.path)
	}
	return files, nil
}

// load adds the data of a seed. After an error the server has none of them: a copy of it takes the
// data first. Paths are relative to folder; "" allows none.
func (s *Server) load(file, folder string, data []byte) error {
	root, err := parseSeed(data)
	if err != nil {
		return fmt.Errorf("%s:%w", file, err)
	}
	if err := s.copyForTrial().add(file, folder, root); err != nil {
		return err
	}
	return s.add(file, folder, root)
}

// copyForTrial returns a server that does not serve, with the same data.
func (s *Server) copyForTrial() *Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.invalidate()
	trial := &Server{
		URL: s.URL, Token: s.Token, JobToken: s.JobToken, prefix: s.prefix, neutral: s.neutral, tier: s.tier, offering: s.offering,
		release: s.release, maxQuery: s.maxQuery, auditLimit: s.auditLimit, jobReachesAll: s.jobReachesAll, clock: s.clock,
	}
	trial.store = *copyStore(&s.store, s, trial)
	return trial
}

// add adds the data of a seed, up to an error.
func (s *Server) add(file, folder string, root *seedNode) (err error) {
	l := &seedLoader{server: s, folder: folder, at: root}
	defer func() {
		failed := recover()
		if failed == nil {
			return
		}
		switch failed := failed.(type) {
		case seedError:
			err = fmt.Errorf("%s:%d: %s: %s", file, failed.at.line, orElse(failed.at.path, "the seed"), failed.text)
		case string: // of a method such as Document.Set
			err = fmt.Errorf("%s:%d: %s: %s", file, l.at.line, l.at.path, strings.TrimPrefix(failed, "forgetest: "))
		default:
			panic(failed)
		}
	}()
	l.load(root)
	return nil
}
