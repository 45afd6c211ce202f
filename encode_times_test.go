package forge_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// timedList is a list with filters by time, and the field that is set.
type timedList struct {
	name   string
	method reflect.Value
	field  reflect.StructField
}

// timedLists finds all such lists by the types of the services.
func timedLists(client *forge.Client) (lists []timedList) {
	for service := range reflect.TypeFor[forge.Client]().Fields() {
		if !service.IsExported() {
			continue
		}
		value := reflect.ValueOf(client).Elem().FieldByIndex(service.Index)
		for i := range value.NumMethod() {
			method := value.Method(i)
			if method.Type().NumIn() < 3 || !method.Type().Out(0).CanSeq2() {
				continue
			}
			options := method.Type().In(method.Type().NumIn() - 2)
			if options.Kind() != reflect.Pointer {
				continue
			}
			for field := range options.Elem().Fields() {
				if field.Type == reflect.TypeFor[time.Time]() {
					lists = append(lists, timedList{service.Name + "." + value.Type().Method(i).Name + " " + field.Name, method, field})
				}
			}
		}
	}
	return lists
}

// items returns the items of the list with the bound.
func (l timedList) items(t *testing.T, bound time.Time) (items []reflect.Value) {
	t.Helper()
	options := reflect.New(l.method.Type().In(l.method.Type().NumIn() - 2).Elem())
	if scope := options.Elem().FieldByName("Scope"); scope.IsValid() {
		scope.SetString(string(forge.ScopeAll))
	}
	options.Elem().FieldByIndex(l.field.Index).Set(reflect.ValueOf(bound))
	in := []reflect.Value{reflect.ValueOf(t.Context())}
	if l.method.Type().NumIn() == 4 {
		ref := forge.Path("group/app")
		if strings.Contains(l.name, "ListForGroup") {
			ref = "group"
		}
		in = append(in, reflect.ValueOf(ref))
	}
	for item, err := range l.method.Call(append(in, options))[0].Seq2() {
		require.True(t, err.IsNil(), "%s: %v", l.name, err)
		items = append(items, item)
	}
	return items
}

func (l timedList) holds(t *testing.T, bound time.Time, id int64) bool {
	t.Helper()
	return slices.ContainsFunc(l.items(t, bound), func(item reflect.Value) bool { return item.Elem().FieldByName("ID").Int() == id })
}

// TestTimeBoundsHoldTheirItem checks that a list whose bound is the time of one of its items
// contains the item, for each time zone, and that it does not contain the item with a bound beyond
// its time.
func TestTimeBoundsHoldTheirItem(t *testing.T) {
	srv, err := forgetest.Start()
	require.NoError(t, err)
	t.Cleanup(srv.Close)
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	srv.SetClock(func() time.Time {
		at = at.Add(61*time.Second + 123456789)
		return at
	})
	group := srv.AddGroup("group")
	app := srv.AddProject("group/app")
	srv.AddUser("ada")
	changed := func(_ int, d *forgetest.Document) {
		d.Set("updated_at", at.Add(90*time.Minute).Truncate(time.Millisecond))
	}
	app.AddIssues(3, changed)
	for _, mr := range app.AddMergeRequests(3, changed) {
		mr.Deploy("production")
	}
	srv.AddAuditEvent(nil)
	app.AddAuditEvent(nil)
	group.AddAuditEvent(nil)

	lists := timedLists(srv.Client())
	require.Len(t, lists, 2*4+2*8+2+3*2)
	local := time.FixedZone("", 53*60+28)
	for _, list := range lists {
		items := list.items(t, time.Time{})
		require.NotEmpty(t, items, list.name)
		name, upper := strings.CutSuffix(list.field.Name, "Before")
		name = strings.TrimSuffix(name, "After")
		for _, item := range items {
			id := item.Elem().FieldByName("ID").Int()
			if name == "Deployed" {
				continue // no field of the item shows this time
			}
			own := item.Elem().FieldByName(name + "At").Interface().(time.Time)
			assert.True(t, list.holds(t, own, id), "%s: %s", list.name, own)
			assert.True(t, list.holds(t, own.In(local), id), "%s: %s", list.name, own.In(local))
			step := time.Millisecond
			if strings.HasPrefix(list.name, "AuditEvents") {
				step = time.Second
			}
			if upper {
				step = -step
			}
			assert.False(t, list.holds(t, own.Add(step), id), "%s: %s", list.name, own.Add(step))
		}
	}
}
