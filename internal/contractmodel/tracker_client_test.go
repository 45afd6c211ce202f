package contractmodel

import (
	"context"
	"errors"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// askClient reads a list with the client. It returns false if the client's options cannot express
// the query.
func (q *trackerRequest) askClient(s *forgetest.Server, w *trackerWorld) (*trackerAnswer, bool) {
	if q.Who == trackerNobody || q.Keyset {
		return nil, false
	}
	ctx := context.Background()
	client := s.Client(forge.WithToken(w.Users[q.Who].Token), forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1}))
	defer client.CloseIdleConnections()
	opts := []forge.RequestOption{forge.SkipValidation()}
	if q.Size != "" {
		opts = append(opts, forge.PerPage(q.size()))
	}
	answer := &trackerAnswer{status: 200}
	take := func(id int64, address string, err error) bool {
		i := slices.IndexFunc(w.Items, func(it *trackerItem) bool { return it.ID == id || it.URL == address })
		if failed := (*forge.Error)(nil); errors.As(err, &failed) {
			answer.status = failed.Status
		} else if err != nil || i < 0 {
			answer.status = 0
		}
		if answer.status == 200 {
			answer.items = append(answer.items, w.Items[i])
		}
		return answer.status == 200
	}
	if q.List == trackerIssues || q.List == trackerGroupIssues {
		o := &forge.ListIssuesOptions{}
		if !trackerOptions(o, q.Params) {
			return nil, false
		}
		list := client.Issues.List(ctx, o, opts...)
		if q.List == trackerGroupIssues {
			list = client.Issues.ListForGroup(ctx, q.ref(w), o, opts...)
		}
		list(func(issue *forge.Issue, err error) bool {
			if err != nil {
				return take(0, "", err)
			}
			return take(issue.ID, issue.WebURL, nil)
		})
		return answer, true
	}
	o := &forge.ListMergeRequestsOptions{}
	if !trackerOptions(o, q.Params) {
		return nil, false
	}
	list := client.MergeRequests.List(ctx, o, opts...)
	if q.List == trackerProjectMerges {
		list = client.MergeRequests.ListForProject(ctx, q.ref(w), o, opts...)
	}
	list(func(mr *forge.MergeRequest, err error) bool {
		if err != nil {
			return take(0, "", err)
		}
		return take(mr.ID, mr.WebURL, nil)
	})
	return answer, true
}

// ref returns the group or project of a query.
func (q *trackerRequest) ref(w *trackerWorld) forge.Ref {
	id, path := int64(999999), "acme/missing"
	switch {
	case q.Target == trackerNobody:
	case q.List == trackerGroupIssues:
		id, path = w.Groups[q.Target].ID, w.Groups[q.Target].Path
	default:
		id, path = w.Projects[q.Target].ID, w.Projects[q.Target].Path
	}
	if q.ByPath {
		return forge.Path(path)
	}
	return forge.ID(id)
}

// trackerOptions sets the fields of options by their wire names. It reports whether it could set
// all of them.
func trackerOptions(o any, params url.Values) bool {
	for name, values := range params {
		into := reflect.ValueOf(o).Elem()
		key, inNot := strings.CutPrefix(name, "not[")
		if inNot {
			field := into.FieldByName("Not")
			if field.IsNil() {
				field.Set(reflect.New(field.Type().Elem()))
			}
			into, key = field.Elem(), strings.Replace(key, "]", "", 1)
		}
		key = strings.TrimSuffix(key, "[]")
		found := false
		for i := range into.NumField() {
			if tag, _, _ := strings.Cut(into.Type().Field(i).Tag.Get("url"), ","); tag == key {
				found = trackerSet(into.Field(i), values)
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// trackerSet sets a field. It reports whether the field can have the value.
func trackerSet(field reflect.Value, values []string) bool {
	numbers := []int64{}
	for _, value := range values {
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			numbers = append(numbers, n)
		}
	}
	if field.Kind() == reflect.String && len(values) == 1 {
		field.SetString(values[0])
		return true
	}
	for _, value := range trackerForms(values, numbers) {
		if reflect.TypeOf(value).AssignableTo(field.Type()) {
			field.Set(reflect.ValueOf(value))
			return true
		}
	}
	return false
}

// trackerForms returns the Go values for the values of a parameter, the best first.
func trackerForms(values []string, numbers []int64) (forms []any) {
	switch values[0] {
	case "None":
		forms = append(forms, forge.None)
	case "Any":
		forms = append(forms, forge.Any)
	case "Upcoming":
		forms = append(forms, forge.Upcoming)
	case "Started":
		forms = append(forms, forge.Started)
	case "true", "false":
		value := values[0] == "true"
		forms = append(forms, &value)
	}
	if len(numbers) == len(values) {
		forms = append(forms, forge.ID(numbers[0]), forge.Number(numbers[0]), numbers[0], numbers, forge.IDs(numbers...))
	}
	if at, err := time.Parse(time.RFC3339Nano, values[0]); err == nil && at.Nanosecond() == 0 {
		forms = append(forms, at)
	}
	if len(values) == 1 && len(numbers) == 0 {
		forms = append(forms, forge.Labels(strings.Split(values[0], ",")...), forge.Text(values[0]))
	}
	return append(forms, values)
}
