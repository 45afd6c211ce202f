package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/forge-sdk/forge-go"
)

const noServer = "https://forge.example.com"

// texts are paragraphs of a language each, as people write them in issues. Each is encoded in JSON
// with a line end every 60 characters, quotation marks and an escaped angle bracket.
var texts = []struct{ language, paragraph string }{
	{"English", "Since the upgrade the nightly export stops with a \"timeout\" as soon as a project has more than a few thousand pipelines; the log shows <none> and the job ends without a result. "},
	{"Cyrillic", "После обновления ночной экспорт останавливается с ошибкой \"timeout\", как только в проекте больше нескольких тысяч конвейеров; журнал показывает <none>, и задание завершается без результата. "},
	{"Chinese", "升级之后，只要项目中的流水线超过几千条，夜间导出就会因为\"timeout\"而停止；日志显示<none>，任务结束时没有任何结果。请先在预发布环境中重现这个问题，然后找到最慢的查询并添加索引。"},
	{"emoji-rich text", "Export fails again 😀🔥 on staging 🚀🚀, and \"retry\" 🙃 does not help 🤷‍♀️; see <none> 👀 in the log 📜, then ping @ops 👩‍💻👨‍💻 and enjoy 🍕☕️. "},
}

const textBytes = 2000 // of the description of each issue

// description returns the JSON string of a text of about n bytes.
func description(paragraph string, n int) string {
	var text strings.Builder
	column := 0
	for text.Len() < n {
		for _, r := range paragraph {
			text.WriteRune(r)
			if column++; column == 60 {
				text.WriteByte('\n')
				column = 0
			}
		}
	}
	encoded, err := json.Marshal(text.String()) // < becomes \u003c
	if err != nil {
		panic(err) // a string cannot fail
	}
	return string(encoded)
}

// pageWith returns a page of issues that have the description.
func pageWith(description string) string {
	items := make([]string, perPage)
	for i := range items {
		before, rest, _ := strings.Cut(issue(i), `"description":`)
		_, after, _ := strings.Cut(rest, `,"state":`)
		items[i] = before + `"description":` + description + `,"state":` + after
	}
	return "[" + strings.Join(items, ",") + "]"
}

func addIssues(page *[]*handIssue, d *digest) {
	for _, i := range *page {
		d.issue(i.ID, i.Title, i.Description, i.State, i.CreatedAt, i.Author.Username, len(i.Labels))
	}
}

// scripts measures pages of issues with descriptions in several scripts, and for forge the same
// page without descriptions, so that the text is compared alone, too. All take turns in one race.
func scripts(ctx context.Context, b *bench) ([]line, error) {
	const empty = "empty"
	names := func(language string) []string {
		return []string{forgeName + language, handName + language, peerName + language, v2Name + language}
	}
	var all []contender
	sizes := map[string]int{}
	for _, t := range texts {
		page := pageWith(description(t.paragraph, textBytes))
		sizes[t.language] = len(page)
		contenders := readers(fromMemory(page))
		if err := agree(ctx, contenders); err != nil {
			return nil, err
		}
		for i, c := range contenders {
			all = append(all, contender{names(t.language)[i], counted(c.do)})
		}
	}
	all = append(all, contender{empty, counted(readers(fromMemory(pageWith(`""`)))[0].do)})
	taken, err := race{rounds: 3 * b.rounds, times: b.scaled(20, 10)}.run(ctx, all)
	if err != nil {
		return nil, err
	}
	var lines []line
	english := forgeName + texts[0].language
	for _, t := range texts {
		name, size := names(t.language), float64(sizes[t.language])
		speed := func(f figures) float64 { return size / f.cpu.Seconds() }
		l := line{what: t.language, show: showSpeed, ours: taken[name[0]].of(speed), hand: taken[name[1]].of(speed), peer: taken[name[2]].of(speed)}
		lines = append(lines, l)
		if decodeV2 != nil {
			lines = append(lines, line{what: t.language + ", by hand with encoding/json/v2", show: showSpeed, ours: l.ours, hand: taken[name[3]].of(speed)})
		}
		if name[0] == english {
			continue
		}
		grown := size / float64(sizes[texts[0].language])
		whole := paired(taken, name[0], english, cpu, over) / grown
		base := taken[empty].of(cpu)
		text := paired(taken, name[0], english, cpu, func(a, b float64) float64 { return (a - base) / (b - base) }) /
			(float64(len(description(t.paragraph, textBytes))) / float64(len(description(texts[0].paragraph, textBytes))))
		lines = append(lines,
			line{what: t.language + ", time per byte relative to English", show: showRatio, ours: whole, limit: 1.25},
			line{what: t.language + ", the same of the descriptions alone", show: showRatio, ours: text, limit: 1.25})
	}
	return lines, nil
}

// readers are the contenders that read a page of issues.
func readers(answer *memory) []contender {
	contenders := []contender{
		{forgeName, newOurs(noServer, forge.WithHTTPClient(&http.Client{Transport: answer})).issues()},
		{handName, newHand(noServer, answer).issues},
		{peerName, newPeer(noServer, withTransport(answer)).issues},
	}
	return withV2(contenders, v2Name, func(decode decoder) work {
		return handRead(newHand(noServer, answer), http.MethodGet, "/api/v4/issues?scope=all&per_page=100", decode, addIssues)
	})
}

const unknown = 20 // unknown fields

// withUnknown returns an issue that has fields that no client knows.
func withUnknown() string {
	var more strings.Builder
	for i := range unknown {
		fmt.Fprintf(&more, `"unknown_%d":`, i)
		switch i % 4 {
		case 0:
			fmt.Fprintf(&more, `%d.5,`, 1000+i)
		case 1:
			fmt.Fprintf(&more, `"a text that newer servers send, number %d",`, i)
		case 2:
			fmt.Fprintf(&more, `{"id":%d,"name":"platform","active":true,"paths":["a","b"]},`, i)
		case 3:
			more.WriteString("null,")
		}
	}
	return "{" + more.String() + issue(0)[1:]
}

// keptIssue decodes an issue by hand, and keeps all fields, as forge does: it decodes twice.
func keptIssue(c *byHand, decode decoder) work {
	return func(ctx context.Context, d *digest) error {
		var i handIssue
		var all map[string]json.RawMessage
		err := c.send(ctx, http.MethodPost, c.base+"/api/v4/projects/group%2Fapp/issues/318/subscribe", http.NoBody, "", func(answer *http.Response) error {
			text, err := io.ReadAll(answer.Body)
			if err != nil {
				return err
			}
			if err := decode(bytes.NewReader(text), &i); err != nil {
				return err
			}
			return decode(bytes.NewReader(text), &all)
		})
		d.issue(i.ID, i.Title, i.Description, i.State, i.CreatedAt, i.Author.Username, len(i.Labels))
		return err
	}
}

// unknownFields measures an issue with fields that no client knows, and without them. By hand they
// are kept, too. The peer drops them.
func unknownFields(ctx context.Context, b *bench) ([]line, error) {
	var contenders []contender
	for suffix, text := range map[string]string{"": withUnknown(), bare: issue(0)} {
		answer := fromMemory(text)
		contenders = append(contenders,
			contender{forgeName + suffix, newOurs(noServer, forge.WithHTTPClient(&http.Client{Transport: answer})).issue},
			contender{handName + suffix, keptIssue(newHand(noServer, answer), decodeJSON)},
			contender{peerName + suffix, newPeer(noServer, withTransport(answer)).issue})
		contenders = withV2(contenders, v2Name+suffix, func(decode decoder) work { return keptIssue(newHand(noServer, answer), decode) })
	}
	taken, err := race{rounds: 5 * b.rounds, times: b.scaled(1000, 300)}.run(ctx, contenders)
	if err != nil {
		return nil, err
	}
	count, time := addedLine(taken, "allocations a field", allocs, showCount), addedLine(taken, "CPU a field", cpu, showTime)
	for _, l := range []*line{&count, &time} {
		for _, figure := range []*float64{&l.ours, &l.hand, &l.peer} {
			*figure /= unknown
		}
	}
	count.limit = 2
	lines := []line{count, time}
	if decodeV2 != nil {
		v2 := paired(taken, v2Name, v2Name+bare, cpu, minus) / unknown
		lines = append(lines, line{what: "CPU a field, by hand with encoding/json/v2", show: showTime, ours: time.ours, hand: v2})
	}
	return lines, nil
}
