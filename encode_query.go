package forge

import (
	"errors"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-querystring/query"
)

// queryOptions is implemented by pointers to url-tagged options. zz_query.go, which is generated
// from the tags, has the methods. All accept nil.
type queryOptions interface {
	// checkQuery checks the fields by their types and as documented for the route, and then the rules
	// of the options.
	checkQuery(r *route) error
	// query returns the encoder; nil for nil options.
	query() query.Encoder
}

// encodeQuery returns the query of url-tagged options; nil for nil options. go-querystring calls
// the encoder of a field only, not that of its argument.
func encodeQuery(options queryOptions) (url.Values, error) {
	encoder := options.query()
	if encoder == nil {
		return nil, nil
	}
	values, err := query.Values(struct{ Options query.Encoder }{encoder})
	if err != nil {
		return nil, nameOption(options, err)
	}
	return values, nil
}

// encodeForm returns the form body of url-tagged options; url.Values.Encode escapes a + in a
// pattern.
func encodeForm(options any) (*payload, error) {
	values, err := encodeQuery(options.(queryOptions))
	if err != nil {
		return nil, err
	}
	return bytesPayload("application/x-www-form-urlencoded", []byte(values.Encode())), nil
}

// filter is implemented by all values of the filter interfaces. encode adds the value to a query,
// or returns why it has no form on the wire.
type filter interface {
	encode(w *queryWriter, key string) error
}

// queryWriter adds the fields of options that are set to a query. It has a method for each kind of
// field.
type queryWriter struct {
	values url.Values
	single []string // the values of keys with one value, in one allocation
	err    error
	rank   int
}

// Of several errors the one of the lowest rank is returned, and of these the first.
const (
	nilPointer = iota
	noText
	noTime
)

func (w *queryWriter) fail(rank int, key, reason string) {
	if w.err == nil || rank < w.rank {
		w.err, w.rank = &ValidationError{Param: key, Reason: reason}, rank
	}
}

// set sends one value.
func (w *queryWriter) set(key, text string) {
	if w.single == nil {
		w.single = make([]string, 0, 24)
	}
	w.single = append(w.single, text)
	n := len(w.single)
	w.values[key] = w.single[n-1 : n : n] // an append to it copies
}

// one is set for filters whose values all have a form on the wire.
func (w *queryWriter) one(key, text string) error {
	w.set(key, text)
	return nil
}

func (w *queryWriter) text(key, text string) {
	if text != "" {
		w.set(key, text)
	}
}

// texts sends key once for each text. An empty list that is not nil is sent as an empty text; only
// SkipValidation permits it.
func (w *queryWriter) texts(key string, texts []string) {
	if texts != nil && len(texts) == 0 {
		w.set(key, "")
	}
	for _, text := range texts {
		w.values.Add(key, text)
	}
}

// ids is texts for ids.
func (w *queryWriter) ids(key string, ids []int64) {
	if ids != nil && len(ids) == 0 {
		w.set(key, "")
	}
	for _, id := range ids {
		w.values.Add(key, strconv.FormatInt(id, 10))
	}
}

func (w *queryWriter) id(key string, id int64) {
	if id != 0 {
		w.set(key, strconv.FormatInt(id, 10))
	}
}

func (w *queryWriter) count(key string, n int) { w.id(key, int64(n)) }

func (w *queryWriter) yes(key string, yes bool) {
	if yes {
		w.set(key, "true")
	}
}

func (w *queryWriter) flag(key string, flag *bool) {
	if flag != nil {
		w.set(key, strconv.FormatBool(*flag))
	}
}

func (w *queryWriter) time(key, layout string, at time.Time) {
	if at.IsZero() {
		return
	}
	text, err := writeTime(at, layout, key)
	if err != nil {
		w.fail(noTime, key, err.Error())
		return
	}
	w.set(key, text)
}

// filter sends the value of a filter interface.
func (w *queryWriter) filter(key string, value any) {
	f, ours := value.(filter)
	switch {
	case value == nil:
	case isNilPointer(value):
		w.fail(nilPointer, key, "it is a nil "+reflect.TypeOf(value).String())
	case !ours:
		w.fail(noText, key, "it has type "+reflect.TypeOf(value).String()+", which is not a filter of this package")
	default:
		if err := f.encode(w, key); err != nil {
			w.fail(noText, key, err.Error())
		}
	}
}

func (w *queryWriter) filterID(key string, id ID) { w.id(key, int64(id)) }

func (w *queryWriter) filterText(key string, text Text) { w.text(key, string(text)) }

func (w *queryWriter) filterNumber(key string, n *Number) {
	if n != nil {
		w.set(key, strconv.FormatInt(int64(*n), 10))
	}
}

func (w *queryWriter) filterLabels(key string, names LabelNames) {
	if names != (LabelNames{}) {
		w.filter(key, names)
	}
}

func (w *queryWriter) hash(key string, hash Hash) {
	if err := hash.encode(w, key); err != nil {
		w.fail(noText, key, err.Error())
	}
}

// textsOf returns the elements of a list as texts; nil for nil.
func textsOf[T ~string](list []T) []string {
	if list == nil {
		return nil
	}
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = string(item)
	}
	return texts
}

// isNilPointer reports whether a filter is a nil pointer, such as (*ID)(nil): its methods would
// panic.
func isNilPointer(value any) bool {
	v := reflect.ValueOf(value)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// timeLayout is the form of times that are sent: in UTC, with milliseconds, as in responses.
const timeLayout = "2006-01-02T15:04:05.000Z"

var errNoTime = errors.New("it is outside the years 0 to 9999, the range of RFC 3339")

// writeTime formats a time in UTC, with the precision of the layout. An upper bound is rounded up
// and every other time down, so that a bound includes the item that it was taken from.
func writeTime(t time.Time, layout, key string) (string, error) {
	unit := time.Second
	if strings.Contains(layout, ".000") {
		unit = time.Millisecond
	}
	rounded := t.UTC().Truncate(unit)
	if strings.HasSuffix(key, "_before") && rounded.Before(t) {
		rounded = rounded.Add(unit)
	}
	if year := rounded.Year(); year < 0 || year > 9999 {
		return "", errNoTime
	}
	return rounded.Format(layout), nil
}
