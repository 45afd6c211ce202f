package main

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	people     = 300
	labelCount = 200
)

// The names and texts are of several scripts, with the shares that projects of international teams
// have: mostly English, then Latin with diacritics, Cyrillic, Chinese and Japanese.
var (
	firstNames = []string{"Ada", "Bob", "Mara", "Tomás", "Zoë", "Łukasz", "Søren", "Çağla", "Наталья", "Фёдор", "陳偉", "さくら", "Emil", "Fatima", "Goran", "Hana"}
	lastNames  = []string{"Okafor", "Lindqvist", "Weber", "Müller", "O'Neill", "Dvořák", "Nguyễn", "Иванова", "王", "田中", "García", "Smith", "Kowalski"}
	topics     = []string{
		"Nightly export", "Import of archives", "Webhook delivery", "Runner registration", "Diff view", "Full-text search", "Two-factor sign-in",
		"Größe der Anhänge", "Recherche à facettes", "Ночной экспорт", "Проверка подписи", "夜间导出任务", "二要素認証の設定", "Merge train 🚂",
	}
	troubles = []string{
		"stops with a timeout on large projects", "fails when the name holds a <tag>", "shows \"null\" in place of the date", "is slow for > 5,000 items",
		"zeigt nach der Aktualisierung nichts mehr an", "ne répond plus après la mise à jour", "не завершается для больших проектов", "在大型项目上超时", "が遅すぎる",
	}
	prose = [...][]string{
		{
			"Since the upgrade to 4.12 the job stops with a timeout as soon as a project has more than a few thousand pipelines.",
			"It sorts all pipelines of the project before it filters them, so the query reads the whole table.",
			"We saw this on staging & production; a restart of the worker doesn't help.",
			"The page should show the state of the last run, a link to its log, and who started it.",
		},
		{
			"Nach der Aktualisierung bricht der nächtliche Export ab, sobald ein Projekt größer als üblich ist.",
			"Après la mise à jour, la tâche échoue dès que le dépôt dépasse une certaine taille ; voilà où ça se gâte.",
			"Příliš žluťoučký kůň úpěl ďábelské ódy, a přesto se úloha nedokončila včas.",
		},
		{
			"После обновления ночной экспорт останавливается, как только в проекте больше нескольких тысяч конвейеров.",
			"Запрос сортирует все записи и только потом их отбирает, поэтому читает всю таблицу.",
		},
		{
			"升级之后，只要项目里有几千条以上的流水线，夜间导出任务就会超时停止。",
			"アップデート後、パイプラインが数千件を超えるプロジェクトで夜間エクスポートが停止します。",
			"查询先对全部记录排序，然后才进行过滤，因此会读取整张表。",
		},
	}
	eventKinds = []struct{ verb, what, name string }{
		{"add", "group", "group_created"}, {"add", "user_access", "member_created"}, {"change", "visibility", "project_visibility_level_updated"},
		{"change", "name", "project_name_updated"}, {"remove", "user_access", "member_destroyed"}, {"add", "deploy_key", "deploy_key_added"},
	}
)

// script returns the index in prose of an item's text: in 10 of 16 items it is English.
func script(i int) int { return [16]int{1, 1, 2, 2, 3, 3}[draw(i, byText, 16)] }

// person returns one of the users.
func person(n int) object {
	first, last := firstNames[n%len(firstNames)], lastNames[n/len(firstNames)%len(lastNames)]
	id, username := 1100+17*n, fmt.Sprintf("user.%d", n)
	if n%3 == 0 {
		username = "maintainer_" + strconv.Itoa(n)
	}
	avatar := any(fmt.Sprint(home, "uploads/-/system/user/avatar/", id, "/avatar.png"))
	path := any(fmt.Sprint("/uploads/-/system/user/avatar/", id, "/avatar.png"))
	if n%5 == 0 {
		avatar, path = nil, nil
	}
	return object{
		{"id", id}, {"username", username}, {"name", first + " " + last}, {"state", "active"}, {"avatar_url", avatar}, {"avatar_path", path},
		{"web_url", home + username}, {"locked", false},
	}
}

// textOf returns a text of the object.
func (o object) textOf(key string) string {
	for _, p := range o {
		if p.key == key {
			text, _ := p.value.(string)
			return text
		}
	}
	return ""
}

type project struct {
	id   int
	path string
}

func projectAt(n int) project {
	groups, names := []string{"platform", "platform/data", "apps/mobile", "tools"}, []string{"exporter", "importer", "web", "api-gateway", "docs"}
	return project{700 + n, groups[n%len(groups)] + "/" + names[n%len(names)]}
}

func label(n int) string {
	scopes := []string{"bug", "priority::", "team::", "регрессия ", "Qualität ", "紧急 ", "needs <triage> ", "🔥 "}
	return scopes[n%len(scopes)] + strconv.Itoa(n)
}

func title(i int) string {
	return topics[draw(i, byText+200, len(topics))] + " " + troubles[draw(i, byText+201, len(troubles))]
}

// description returns a Markdown text with headings, lists, quotes and code, of up to 4 kB.
func description(i int) string {
	var b strings.Builder
	sentences := prose[script(i)]
	for part := range 1 + draw(i, byText+202, 4)*draw(i, byText+203, 3) {
		switch draw(i, byText+210+part, 5) {
		case 0:
			b.WriteString("## Summary\n\n")
		case 1:
			b.WriteString("> \"" + title(i+part) + "\"\n\n")
		case 2:
			b.WriteString("```\nexport: writing \"pipelines.ndjson\" ... 4096 rows\nif rows > limit && !done { return <-errs }\n```\n\n")
		case 3:
			fmt.Fprintf(&b, "1. Open *Settings > Data* of a project\n2. Start an export & wait\n\n- [x] reproduced 🎉\n- [ ] add an index, see #%d\n\n", draw(i, byText+230+part, 900))
		}
		for s := range 1 + draw(i, byText+250+part, 5) {
			b.WriteString(sentences[(i+part+s)%len(sentences)])
			b.WriteByte(' ')
		}
		b.WriteString("\n\n")
	}
	return b.String()
}
