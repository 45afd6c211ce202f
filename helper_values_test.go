package forge

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// drawDocument draws a JSON object for a response type: its fields with values that fit or do not,
// null, and other keys.
func drawDocument(t *rapid.T, typ reflect.Type, depth int) string {
	var members []string
	add := func(name, value string) {
		key, _ := json.Marshal(name)
		members = append(members, string(key)+": "+value)
	}
	often := rapid.IntRange(0, 3).Draw(t, "often")
	for _, field := range reflect.VisibleFields(typ) {
		name := jsonName(field)
		if field.Anonymous || name == "" || rapid.IntRange(0, 3).Draw(t, name) > often {
			continue
		}
		add(name, drawJSON(t, field.Type, depth))
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "others") {
		add(fmt.Sprintf("other_%d\"<é", i), rapid.SampledFrom(oddities).Draw(t, "other"))
	}
	return "{" + strings.Join(members, " ,\n") + "}"
}

// drawJSON draws a value, which fits the type in most cases.
func drawJSON(t *rapid.T, typ reflect.Type, depth int) string {
	switch rapid.IntRange(0, 9).Draw(t, "form") {
	case 0:
		return "null"
	case 1:
		return rapid.SampledFrom(oddities).Draw(t, "odd")
	}
	switch typ {
	case reflect.TypeFor[time.Time]():
		return rapid.SampledFrom([]string{`"2026-03-01T09:30:00.123Z"`, `"2026-03-01T09:30:00+05:30"`, `"2026-03-01 09:30:00 UTC"`, `"9999-12-31T23:59:59-23:59"`, `"2026-03-01"`,
			`"0001-01-01T00:00:00Z"`, `""`, `"2026-03-01T09:30:00.1234567891Z"`, `"0000-01-01T00:00:00+23:59"`}).Draw(t, "time")
	case reflect.TypeFor[Date]():
		return rapid.SampledFrom([]string{`"2026-02-28"`, `"2024-02-29"`, `"0000-01-01"`, `""`, `"2026-02-30"`}).Draw(t, "date")
	case reflect.TypeFor[json.RawMessage]():
		return rapid.SampledFrom(oddities).Draw(t, "raw")
	case reflect.TypeFor[[]byte]():
		return rapid.SampledFrom([]string{`"aGk="`, `""`, `"!"`}).Draw(t, "bytes")
	case reflect.TypeFor[Label](), reflect.TypeFor[CatalogRepository](), reflect.TypeFor[AuditEventChange]():
		if rapid.Bool().Draw(t, "bare") {
			return `"a name"`
		}
	case reflect.TypeFor[AuditEventTarget]():
		return rapid.SampledFrom([]string{`60`, `-3`, `"a/b"`, `"60"`, `""`, `{}`, `{"id":1}`, `0`}).Draw(t, "target")
	}
	return drawKind(t, typ, depth)
}

func drawKind(t *rapid.T, typ reflect.Type, depth int) string {
	switch typ.Kind() {
	case reflect.String:
		return rapid.SampledFrom([]string{`"text"`, `""`, `"é <b> \"q\" \\ \u2028 \n \u0001 \ud83d\ude00"`, "\"\xff\"", `"true"`}).Draw(t, "text")
	case reflect.Int, reflect.Int64:
		return rapid.SampledFrom([]string{"0", "42", "-7", "9007199254740993", `"42"`, "-0"}).Draw(t, "int")
	case reflect.Float64:
		return rapid.SampledFrom([]string{"0", "1.5", "-0.0", "1e21", "1e-7", `"12.50"`, "0.1234567890123456789", "123456789012345678901"}).Draw(t, "float")
	case reflect.Bool:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
	case reflect.Pointer:
		return drawJSON(t, typ.Elem(), depth)
	case reflect.Slice, reflect.Map:
		items := make([]string, rapid.IntRange(0, 3).Draw(t, "items"))
		for i := range items {
			if items[i] = drawJSON(t, typ.Elem(), depth+1); typ.Kind() == reflect.Map {
				items[i] = fmt.Sprintf(`"k%d":%s`, i, items[i])
			}
		}
		if typ.Kind() == reflect.Map {
			return "{" + strings.Join(items, ",") + "}"
		}
		return "[" + strings.Join(items, " , ") + "]"
	}
	if strings.HasPrefix(typ.Name(), "Nullable[") {
		get, _ := typ.MethodByName("Get")
		return drawJSON(t, get.Type.Out(0), depth)
	}
	if depth > 2 {
		return "{}"
	}
	return drawDocument(t, typ, depth+1)
}

// drawValue fills v as a program would, with values that JSON can represent.
func drawValue(t *rapid.T, v reflect.Value, depth int) {
	often := rapid.IntRange(0, 3).Draw(t, "often")
	for f := range v.Type().Fields() {
		field := v.FieldByIndex(f.Index)
		switch {
		case !f.IsExported() || rapid.IntRange(0, 3).Draw(t, f.Name) > often:
		case f.Anonymous:
			drawValue(t, field, depth)
		case f.Name == "Extra":
			drawExtra(t, field)
		default:
			drawField(t, field, depth)
		}
	}
	switch value := v.Addr().Interface().(type) {
	case *AuditEventChange:
		if value.Name != "" {
			value.Extra = nil
		}
	case *AuditEventTarget:
		if value.Name != "" {
			value.ID = idOf(value.Name)
		}
		if value.ID != 0 || value.Name != "" {
			value.Extra = nil
		}
	}
}

func drawExtra(t *rapid.T, extra reflect.Value) {
	extra.Set(reflect.MakeMap(extra.Type()))
	for i := range rapid.IntRange(0, 2).Draw(t, "extra") {
		value := json.RawMessage(rapid.SampledFrom(oddities).Draw(t, "value"))
		extra.SetMapIndex(reflect.ValueOf(fmt.Sprintf("other_%d\u2028", i)), reflect.ValueOf(value))
	}
}

func drawField(t *rapid.T, field reflect.Value, depth int) {
	switch value := field.Addr().Interface().(type) {
	case *time.Time:
		zone := time.FixedZone("", rapid.SampledFrom([]int{0, 3600, -5400, 3155, 86399}).Draw(t, "zone"))
		*value = time.Unix(rapid.Int64Range(-62135500000, 253402200000).Draw(t, "seconds"), rapid.Int64Range(0, 999999999).Draw(t, "nanoseconds")).In(zone)
	case *Date:
		*value = dateOf(time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "day"), 0).UTC())
	case *json.RawMessage:
		if *value = json.RawMessage(rapid.SampledFrom(oddities).Draw(t, "raw")); string(*value) == "null" {
			*value = nil
		}
	case *Nullable[string]:
		*value = rapid.SampledFrom([]Nullable[string]{{}, Null[string](), Value(""), Value("x")}).Draw(t, "nullable")
	case *Nullable[int]:
		*value = rapid.SampledFrom([]Nullable[int]{{}, Null[int](), Value(0), Value(7)}).Draw(t, "nullable")
	case *[]byte:
		*value = []byte(rapid.SampledFrom([]string{"", "hi"}).Draw(t, "bytes"))
	default:
		drawFieldKind(t, field, depth)
	}
}

func drawFieldKind(t *rapid.T, field reflect.Value, depth int) {
	switch field.Kind() {
	case reflect.String:
		field.SetString(rapid.String().Draw(t, "text"))
	case reflect.Int, reflect.Int64:
		field.SetInt(rapid.Int64().Draw(t, "int"))
	case reflect.Float64:
		field.SetFloat(rapid.Float64().Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }).Draw(t, "float"))
	case reflect.Bool:
		field.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		drawField(t, field.Elem(), depth+1)
	case reflect.Slice:
		field.Set(reflect.MakeSlice(field.Type(), 0, 0))
		for range rapid.IntRange(0, 2).Draw(t, "items") {
			item := reflect.New(field.Type().Elem()).Elem()
			drawField(t, item, depth+1)
			field.Set(reflect.Append(field, item))
		}
	case reflect.Map:
		field.Set(reflect.MakeMap(field.Type()))
		for range rapid.IntRange(0, 2).Draw(t, "items") {
			item := reflect.New(field.Type().Elem()).Elem()
			drawField(t, item, depth+1)
			if raw, isRaw := item.Interface().(json.RawMessage); isRaw && raw == nil {
				item.SetBytes([]byte("null"))
			}
			field.SetMapIndex(reflect.ValueOf(rapid.String().Draw(t, "key")), item)
		}
	default:
		if depth < 3 {
			drawValue(t, field, depth+1)
		}
	}
}

// equalValues describes where two values differ: times by Equal, raw JSON by its value, nil and
// empty as two values except in Extra.
func equalValues(a, b reflect.Value) string {
	switch {
	case a.Type() == reflect.TypeFor[time.Time]():
		if !a.Interface().(time.Time).Equal(b.Interface().(time.Time)) {
			return fmt.Sprintf(": %v instead of %v", b, a)
		}
	case a.Type() == reflect.TypeFor[json.RawMessage]():
		if a.IsNil() != b.IsNil() || !a.IsNil() && !sameRaw(a.Bytes(), b.Bytes()) {
			return fmt.Sprintf(": %s instead of %s", b, a)
		}
	case a.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil():
		return equalValues(a.Elem(), b.Elem())
	case a.Kind() == reflect.Slice && a.Len() == b.Len() && a.IsNil() == b.IsNil():
		for i := range a.Len() {
			if difference := equalValues(a.Index(i), b.Index(i)); difference != "" {
				return fmt.Sprintf("[%d]%s", i, difference)
			}
		}
	case a.Kind() == reflect.Map && a.Len() == b.Len() && a.IsNil() == b.IsNil():
		for entry := a.MapRange(); entry.Next(); {
			other := b.MapIndex(entry.Key())
			if !other.IsValid() {
				return fmt.Sprintf("[%s] is lost", entry.Key())
			}
			if difference := equalValues(entry.Value(), other); difference != "" {
				return fmt.Sprintf("[%s]%s", entry.Key(), difference)
			}
		}
	case a.Kind() == reflect.Struct && !strings.HasPrefix(a.Type().Name(), "Nullable["):
		return equalStructs(a, b)
	case !reflect.DeepEqual(a.Interface(), b.Interface()):
		return fmt.Sprintf(": %#v instead of %#v", b, a)
	}
	return ""
}

func equalStructs(a, b reflect.Value) string {
	for f := range a.Type().Fields() {
		left, right := a.FieldByIndex(f.Index), b.FieldByIndex(f.Index)
		if !f.IsExported() || f.Name == "Extra" && left.Len() == 0 && right.Len() == 0 {
			continue
		}
		if difference := equalValues(left, right); difference != "" {
			return "." + f.Name + difference
		}
	}
	return ""
}

// sameRaw compares two JSON texts. Invalid UTF-8 in them may be replaced.
func sameRaw(a, b []byte) bool {
	return jsonread.Equal([]byte(strings.ToValidUTF8(string(a), "\ufffd")), []byte(strings.ToValidUTF8(string(b), "\ufffd")))
}

// invented describes a part of the written JSON that was not in the JSON that was read, other than
// in another normal form: a time, base64 in lines, a number that was a text, a name that was an
// object, a list that was a text, and null in a list.
func invented(written, read any) string {
	if object, isObject := written.(map[string]any); isObject {
		was, isObject := read.(map[string]any)
		for key, value := range object {
			before, present := was[key]
			if !isObject || !present {
				return "/" + key + " is new"
			}
			if difference := invented(value, before); difference != "" {
				return "/" + key + difference
			}
		}
		if isObject || len(object) == 0 && read == nil {
			return ""
		}
	}
	if list, isList := written.([]any); isList {
		was, isList := read.([]any)
		if text, isText := read.(string); isText && len(list) == 1 {
			was, isList = []any{text}, true
		}
		if isList && len(was) == len(list) {
			for i := range list {
				if difference := invented(list[i], was[i]); difference != "" {
					return "/" + strconv.Itoa(i) + difference
				}
			}
			return ""
		}
	}
	if reflect.DeepEqual(written, read) || isNormal(written, read) {
		return ""
	}
	return fmt.Sprintf(": %v was %v", written, read)
}

func isNormal(written, read any) bool {
	if object, isObject := read.(map[string]any); isObject { // a label, or the target of an event
		name := written == ""
		for key, value := range object {
			if key == "name" && value == written {
				name = true
			} else if !isEmpty(value) {
				return false
			}
		}
		return name || written == nil && len(object) == 0
	}
	if read == nil {
		return written == "" || written == json.Number("0") || written == false
	}
	text, isText := read.(string)
	if number, isNumber := written.(json.Number); isNumber {
		if was, isNumber := read.(json.Number); isNumber {
			text = was.String()
		}
		left, leftErr := number.Float64()
		right, rightErr := strconv.ParseFloat(text, 64)
		return leftErr == nil && rightErr == nil && left == right
	}
	if base64, isText := written.(string); isText && strings.ReplaceAll(text, "\n", "") == base64 {
		return true
	}
	return isText && sameTime(written, text)
}

func sameTime(written any, read string) bool {
	var times [2]time.Time
	for i, text := range []any{written, read} {
		quoted, _ := json.Marshal(text)
		var r jsonread.Reader
		if r.Reset(quoted); !jsonread.Time(&times[i], &r) || len(r.Mismatches()) > 0 {
			return false
		}
	}
	return times[0].Equal(times[1])
}
