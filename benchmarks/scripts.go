package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/forge-sdk/forge-go"
)

// texts are paragraphs of a language each, as people write them in issues. Each is encoded in JSON
// with a line end every 60 characters, quotation marks and an escaped angle bracket.
var texts = []struct{ language, paragraph string }{
	{"English", "Since the upgrade the nightly export stops with a \"timeout\" as soon as a project has more than a few thousand pipelines; the log shows <none> and the job ends without a result. "},
	{"Cyrillic", "После обновления ночной экспорт останавливается с ошибкой \"timeout\", как только в проекте больше нескольких тысяч конвейеров; журнал показывает <none>, и задание завершается без результата. "},
	{"Chinese", "升级之后，只要项目中的流水线超过几千条，夜间导出就会因为\"timeout\"而停止；日志显示<none>，任务结束时没有任何结果。请先在预发布环境中重现这个问题，然后找到最慢的查询并添加索引。"},
	{"emoji-rich text", "Export fails again 😀🔥 on staging 🚀🚀, and \"retry\" 🙃 does not help 🤷‍♀️; see <none> 👀 in the log 📜, then ping @ops 👩‍💻👨‍💻 and enjoy 🍕☕️. "},
}

const textBytes = 2000 // of the description of each issue

// filled returns the JSON string of a text of about n bytes, made of a paragraph.
func filled(paragraph string, n int) string {
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

// issuesWith are the issues of a page that all have the description, which is JSON.
func issuesWith(description string) documents {
	return documents{"issue", perPage, func(i int) string {
		before, rest, _ := strings.Cut(issue(i), `"description":`)
		_, after, _ := strings.Cut(rest, `,"state":`)
		return before + `"description":` + description + `,"state":` + after
	}}
}

// written is a text of a page, and the sizes that times are divided by.
type written struct {
	language        string
	page, described float64 // bytes
}

// scripts measures pages of issues with descriptions in several scripts, and for forge the same
// page without descriptions, so that the text is compared alone, too. All take turns in one race.
func scripts(ctx context.Context, b *bench) ([]line, error) {
	var all []contender
	var pages []written
	for _, t := range texts {
		description := filled(t.paragraph, textBytes)
		sent := issuesWith(description)
		page := sent.page()
		pages = append(pages, written{t.language, float64(len(page)), float64(len(description))})
		contenders := readers(fromMemory(page))
		if err := (race{sent: sent}).agree(ctx, contenders); err != nil {
			return nil, err
		}
		for _, c := range contenders {
			all = append(all, contender{c.name + t.language, counted(c.do)})
		}
	}
	all = append(all, contender{withoutText, counted(readers(fromMemory(issuesWith(`""`).page()))[0].do)})
	taken, err := race{rounds: 2 * b.rounds, times: b.scaled(10, 5)}.run(ctx, all)
	if err != nil {
		return nil, err
	}
	var lines []line
	for _, p := range pages {
		perMegabyte := func(name string) float64 { return taken[name+p.language].of(cpu) / p.page * 1e6 }
		lines = append(lines, line{
			what: "CPU a MB, " + p.language, show: showTime,
			ours: perMegabyte(forgeName), hand: perMegabyte(handName), v2: perMegabyte(v2Name), peer: perMegabyte(peerName),
		})
		if p != pages[0] {
			lines = append(lines, p.comparedWith(pages[0], taken)...)
		}
	}
	return lines, nil
}

const withoutText = "forge, without descriptions"

// comparedWith returns the lines that compare forge's time for each byte with that of English.
func (p written) comparedWith(english written, taken map[string]median) []line {
	name, other, base := forgeName+p.language, forgeName+english.language, taken[withoutText].of(cpu)
	whole := paired(taken, name, other, cpu, over) * english.page / p.page
	alone := paired(taken, name, other, cpu, func(a, b float64) float64 { return (a - base) / (b - base) }) * english.described / p.described
	return []line{
		{what: p.language + ", time for each byte relative to English", show: showRatio, ours: whole, limit: 1.25},
		{what: p.language + ", the same of the descriptions alone", show: showRatio, ours: alone},
	}
}

// readers are the contenders that read a page of issues.
func readers(page *memory) []contender {
	contenders := []contender{
		{forgeName, newOurs(noServer, forge.WithHTTPClient(&http.Client{Transport: page})).issues()},
		{handName, newHand(noServer, page).issues},
		{peerName, newPeer(noServer, withTransport(page)).issues},
	}
	return withV2(contenders, noServer, func() http.RoundTripper { return page }, func(c *byHand) work { return c.issues })
}
