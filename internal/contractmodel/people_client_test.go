package contractmodel

import (
	"errors"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"pgregory.net/rapid"
)

// Some cases also use the client, with the same expected results.

// peopleCall requests a list with the client.
type peopleCall func(client *forge.Client, opts ...forge.RequestOption) ([]int64, error)

// peopleIDs returns the IDs of a list.
func peopleIDs[T any](items iter.Seq2[*T, error], id func(*T) int64) (ids []int64, err error) {
	all, err := forge.Collect(items)
	for _, item := range all {
		ids = append(ids, id(item))
	}
	return ids, err
}

// peopleThroughClient compares the client's result with the model's results for the client's
// request.
func peopleThroughClient(t *rapid.T, s *peopleServer, q *peopleQuery, perPage int, answers []peopleAnswer, call peopleCall) {
	client, err := forge.NewClient(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	if q.Who >= 0 {
		client = s.Client(forge.WithToken(s.users[q.Who].Token))
	}
	opts := []forge.RequestOption{forge.PerPage(min(perPage, 100))}
	if q.has("colour") {
		opts = append(opts, forge.Query("colour", q.get("colour")))
	}
	ids, err := call(client, opts...)
	status := http.StatusOK
	var refused *forge.Error
	var invalid *forge.ValidationError
	switch {
	case errors.As(err, &refused):
		status = refused.Status
	case errors.As(err, &invalid):
		status = http.StatusBadRequest
		if peopleClientRefuses(q) {
			return
		}
	case err != nil:
		t.Fatalf("%v: %v", q, err)
	}
	if !slices.ContainsFunc(answers, func(a peopleAnswer) bool { return a.fits(status, ids) }) {
		t.Fatalf("through the client: %+v: %v, %v\nmodel: %+v", *q, ids, err, answers[:min(len(answers), 8)])
	}
}

// peopleClientRefuses reports whether the client may refuse a request that a server may accept:
// with a parameter that the list does not have, with half of a pair, or with a deprecated parameter
// and its successor.
func peopleClientRefuses(q *peopleQuery) bool {
	switch q.List {
	case "users":
		return q.has("provider") != q.has("extern_uid") || q.has("saml_provider_id")
	case "runners/jobs", "audit":
		return false
	case "groups/audit", "projects/audit":
		return q.has("entity_type") || q.has("entity_id")
	}
	return q.has("scope") && len(q.Params) > 1 || q.has("status") && q.has("paused") || q.List == "projects/runners" && q.has("version_prefix")
}

// peopleFill sets the fields of options that have the names of the parameters. It returns false if
// a parameter has no field, or the field cannot have its value.
func peopleFill(options any, params url.Values) bool {
	v := reflect.ValueOf(options).Elem()
	fields := map[string]reflect.Value{}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("url"), ",")
		fields[name] = v.Field(i)
	}
	for name, values := range params {
		base, key, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
		field, ok := fields[base]
		switch {
		case slices.Contains([]string{"per_page", "pagination", "page", "colour"}, name):
		case !ok:
			return false
		case field.Kind() == reflect.Map:
			if field.IsNil() {
				field.Set(reflect.MakeMap(field.Type()))
			}
			field.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(values[0]))
		case field.Kind() == reflect.Slice:
			if name == base {
				return false // joined with commas: deployed servers accept it, the client does not send it
			}
			field.Set(reflect.ValueOf(slices.Clone(values)))
		case !peopleFillOne(field, values[0]):
			return false
		}
	}
	return true
}

func peopleFillOne(field reflect.Value, text string) bool {
	truth, isBool := strconv.ParseBool(text)
	switch at := field.Addr().Interface().(type) {
	case *time.Time:
		bound, err := time.Parse(time.RFC3339Nano, text)
		*at = bound
		return err == nil && bound.Nanosecond() == 0
	case **bool:
		*at = &truth
		return isBool == nil
	case *bool:
		*at = true
		return text == "true"
	case *int64:
		n, err := strconv.ParseInt(text, 10, 64)
		*at = n
		return err == nil && n > 0
	}
	field.SetString(text)
	return true
}

// keysetDefaults returns the query that the client sends: keyset pagination with an order.
func (q *peopleQuery) keysetDefaults() *peopleQuery {
	sent := *q
	sent.Keyset = true
	sent.Params = maps.Clone(q.Params)
	for name, value := range map[string]string{"order_by": "id", "sort": "desc"} {
		if !sent.has(name) {
			sent.Params.Set(name, value)
		}
	}
	return &sent
}
