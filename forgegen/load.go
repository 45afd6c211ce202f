package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"
)

// published is the address of the document of a GitLab release; a variable for tests.
var published = "https://gitlab.com/gitlab-org/gitlab/-/raw/v%s.0-ee/doc/api/openapi/openapi_v3.yaml"

const (
	maxDocument = 64 << 20 // bytes; that of 19.5 has 4 MB
	fetchTime   = 2 * time.Minute
)

// document is an OpenAPI document.
type document struct {
	Source string // its file name or address, without directories of this machine
	Sum    string // SHA-256 of its bytes
	spec   *openapi3.T
}

// source is the place of a document: one of the two is set.
type source struct {
	Spec   string // a file or an address
	GitLab string // a release, such as 19.5
}

var release = regexp.MustCompile(`^\d+\.\d+$`)

// load reads the document, and converts Swagger 2.
func (s source) load(ctx context.Context) (*document, error) {
	data, name, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	spec, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not a complete OpenAPI 3 or Swagger 2 document: %w; GitLab's is doc/api/openapi/openapi_v3.yaml of its repository, which -gitlab 19.5 downloads", name, err)
	}
	sum := sha256.Sum256(data)
	return &document{Source: name, Sum: hex.EncodeToString(sum[:]), spec: spec}, nil
}

func (s source) read(ctx context.Context) (data []byte, name string, err error) {
	switch {
	case s.Spec != "" && s.GitLab != "":
		return nil, "", errors.New("-spec and -gitlab exclude each other: omit one, or remove spec or gitlab from forgegen.yaml")
	case s.GitLab != "" && !release.MatchString(s.GitLab):
		return nil, "", fmt.Errorf("-gitlab %q is not a release: write it as 19.5", s.GitLab)
	case s.GitLab != "":
		data, err = fetchRelease(ctx, s.GitLab)
		return data, "openapi_v3.yaml of GitLab " + s.GitLab, err
	case s.Spec == "":
		return nil, "", errors.New("no document: use -gitlab 19.5, or -spec with a file or an address")
	case strings.Contains(s.Spec, "://"):
		address, err := url.Parse(s.Spec)
		if err != nil {
			return nil, "", err
		}
		data, err = fetch(ctx, s.Spec)
		return data, address.Host + address.Path, err // without credentials
	}
	data, err = os.ReadFile(s.Spec)
	return data, filepath.Base(s.Spec), err
}

// fetchRelease returns the published document of a release, from the cache if it is there.
func fetchRelease(ctx context.Context, gitlab string) ([]byte, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	address := fmt.Sprintf(published, gitlab)
	file := filepath.Join(cache, "forgegen", gitlab+"-"+path.Base(address))
	if data, err := os.ReadFile(file); err == nil {
		return data, nil
	}
	data, err := fetch(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("%w; if this machine cannot reach the address, download it elsewhere and use -spec", err)
	}
	if _, err = parse(data); err != nil { // a sign-in page must not stay in the cache
		return nil, fmt.Errorf("%s is not an OpenAPI document: %w", address, err)
	}
	if err = os.MkdirAll(filepath.Dir(file), 0o755); err == nil {
		err = writeFile(file, data)
	}
	return data, err
}

func fetch(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s: check the release or the address", address, resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err == nil && len(data) > maxDocument {
		err = fmt.Errorf("GET %s: the document is longer than %d MiB", address, maxDocument>>20)
	}
	return data, err
}

// parse reads a document in YAML or JSON.
func parse(data []byte) (*openapi3.T, error) {
	var version struct {
		OpenAPI string `yaml:"openapi"`
		Swagger string `yaml:"swagger"`
	}
	if err := yaml.Unmarshal(data, &version); err != nil {
		return nil, err
	}
	switch {
	case strings.HasPrefix(version.Swagger, "2."):
		return parseSwagger(data)
	case !strings.HasPrefix(version.OpenAPI, "3."):
		return nil, fmt.Errorf("it says openapi: %q and swagger: %q", version.OpenAPI, version.Swagger)
	}
	spec, err := openapi3.NewLoader().LoadFromData(data)
	if err == nil && spec.Paths.Len() == 0 {
		err = errors.New("it has no paths")
	}
	return spec, err
}

func parseSwagger(data []byte) (*openapi3.T, error) {
	var values any
	if err := yaml.Unmarshal(data, &values); err != nil {
		return nil, err
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	var old openapi2.T
	if err := json.Unmarshal(text, &old); err != nil {
		return nil, err
	}
	if len(old.Paths) == 0 {
		return nil, errors.New("it has no paths")
	}
	return openapi2conv.ToV3(&old)
}
