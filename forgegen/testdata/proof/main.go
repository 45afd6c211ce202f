// Proof calls each method of a generated package against a server that checks the requests, and
// checks that nothing of the responses is lost. Its argument is a file with a case for each method.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/forge-sdk/forge-go"

	"proof/gitlab"
)

// Case is what the document says of an endpoint.
type Case struct {
	Service, Method string // Go names
	HTTP, Path      string
	Query, Body     []string // names of parameters
	Files           []string // those of them that are files
	Response        *Schema  // of the value, or of an item
	Drops           bool     // it has a filter that forge rejects, as current servers drop it
}

var placeholder = regexp.MustCompile(`\{\*?\w+\}|[*:]\w+`)

func main() {
	data, err := os.ReadFile(os.Args[1])
	var cases []Case
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil {
		panic(err)
	}
	failed := 0
	for _, c := range cases {
		for _, faults := range []bool{false, true} {
			for _, withFile := range []bool{false, true} {
				if withFile && len(c.Files) == 0 {
					continue
				}
				if err := c.try(faults, withFile); err != nil {
					failed++
					fmt.Printf("%s %s, %s.%s, faults %t, file %t: %s\n", c.HTTP, c.Path, c.Service, c.Method, faults, withFile, err)
				}
			}
		}
	}
	fmt.Printf("%d methods, %d failures\n", len(cases), failed)
	if failed > 0 {
		os.Exit(1)
	}
}

// try calls the method once.
func (c *Case) try(faults, withFile bool) (err error) {
	var received *http.Request
	var body []byte
	var respond func(http.ResponseWriter)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received = r
		body, _ = io.ReadAll(r.Body)
		respond(w)
	}))
	defer srv.Close()
	client, err := forge.NewClient(srv.URL, forge.WithToken("token-of-the-proof"))
	if err != nil {
		return err
	}
	service := reflect.ValueOf(gitlab.New(client)).Elem().FieldByName(c.Service)
	method := service.MethodByName(c.Method)
	if !method.IsValid() {
		return fmt.Errorf("there is no such method")
	}
	args, path, file := c.arguments(method.Type(), withFile)
	call := result{method: method.Type(), schema: c.Response, faults: faults}
	respond = call.respond
	if c.Drops {
		args = append(args, reflect.ValueOf(forge.SkipValidation()))
	}
	if err := call.check(method.Call(args)); err != nil {
		return err
	}
	if received == nil {
		return fmt.Errorf("nothing was sent")
	}
	if received.Method != c.HTTP || received.URL.EscapedPath() != "/api/v4"+path {
		return fmt.Errorf("sent %s %s, want %s", received.Method, received.URL.EscapedPath(), path)
	}
	if err := same("query", names(received.URL.Query()), c.Query, call.isList()); err != nil {
		return err
	}
	return c.checkBody(received, body, file)
}

// arguments returns values for all parameters of a method, and the path that they make.
func (c *Case) arguments(method reflect.Type, withFile bool) (args []reflect.Value, path string, file bool) {
	var texts []string
	for i := range method.NumIn() - 1 { // the last are the options of the request
		switch t := method.In(i); {
		case i == 0:
			args = append(args, reflect.ValueOf(context))
		case t == reflect.TypeFor[forge.Ref]():
			args, texts = append(args, reflect.ValueOf(forge.Path("acme/my app"))), append(texts, "acme/my app")
		case t == reflect.TypeFor[forge.File]():
			args, file = append(args, reflect.ValueOf(contentFile())), true
		case t.Kind() == reflect.Int64:
			args, texts = append(args, reflect.ValueOf(int64(40+i))), append(texts, fmt.Sprint(40+i))
		case t.Kind() == reflect.String:
			text := fmt.Sprintf("part %d/of", i)
			args, texts = append(args, reflect.ValueOf(text)), append(texts, text)
		case t.Kind() == reflect.Pointer:
			args = append(args, reflect.New(t.Elem()))
			file = fill(args[i].Elem(), c.Files, withFile, 0) || file
		default:
			args = append(args, reflect.New(t).Elem())
			fill(args[i], nil, false, 0)
		}
	}
	for segment := range strings.SplitSeq(c.Path[1:], "/") {
		value := placeholder.ReplaceAllStringFunc(segment, func(string) string {
			if len(texts) == 0 {
				return "MISSING"
			}
			text := texts[0]
			texts = texts[1:]
			return text
		})
		if value != segment {
			value = url.PathEscape(value)
		}
		path += "/" + value
	}
	return args, path, file
}

// checkBody compares the names in the body.
func (c *Case) checkBody(r *http.Request, body []byte, file bool) error {
	media, parameters, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	var got []string
	want := c.Body
	switch {
	case file:
		if media != "multipart/form-data" {
			return fmt.Errorf("the content type is %q", media)
		}
		form, err := multipart.NewReader(strings.NewReader(string(body)), parameters["boundary"]).ReadForm(1 << 20)
		if err != nil {
			return err
		}
		got = names(form.Value)
		if len(form.File) != 1 {
			return fmt.Errorf("%d files were sent", len(form.File))
		}
		for name := range form.File {
			if !slices.Contains(c.Files, name) {
				return fmt.Errorf("the file is sent as %s, want one of %s", name, c.Files)
			}
		}
	case len(body) > 0:
		if media != "application/json" {
			return fmt.Errorf("the content type is %q", media)
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(body, &object); err != nil {
			if len(want) == 0 {
				return nil // a body that is not an object
			}
			return err
		}
		for name := range object {
			got = append(got, name)
		}
	}
	return same("body", got, want, false)
}

// names are the names of parameters, without brackets.
func names(values map[string][]string) (all []string) {
	for name := range values {
		if before, found := strings.CutSuffix(name, "[]"); found {
			name = before
		}
		all = append(all, name)
	}
	return all
}

// same compares names. A hash is sent as name[key]. The library adds parameters of its own to
// lists.
func same(what string, got, want []string, list bool) error {
	sent := map[string]bool{}
	for _, name := range got {
		if !slices.Contains(want, name) {
			name, _, _ = strings.Cut(name, "[")
		}
		if list && slices.Contains([]string{"per_page", "pagination", "order_by", "sort"}, name) && !slices.Contains(want, name) {
			continue
		}
		sent[name] = true
		if !slices.Contains(want, name) {
			return fmt.Errorf("%s has %s, want %s", what, name, want)
		}
	}
	for _, name := range want {
		if !sent[name] {
			return fmt.Errorf("%s lacks %s: it has %s", what, name, got)
		}
	}
	return nil
}
