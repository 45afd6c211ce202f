package jsonread

import (
	"encoding/json"
	"strings"
	"testing"
)

// scripts are sentences of about the same number of bytes in several scripts.
var scripts = []struct{ name, sentence string }{
	{"ASCII", `The export of large projects stops after thirty seconds and leaves no message in the log.`},
	{"Cyrillic", `Выгрузка больших проектов прерывается через минуту.`},
	{"Chinese", `大型项目的导出在三十秒后停止，日志中没有任何消息。请查看`},
	{"emoji", `Export 🚀 of 📦 stops ⏱️ after 30 s 😕 and 🪵 has no 💬 at all 🤷`},
}

// BenchmarkText reads a text with a line end after each sentence.
func BenchmarkText(b *testing.B) {
	for _, script := range scripts {
		text := []byte(`"` + strings.Repeat(script.sentence+`\n`, 24) + `"`)
		b.Run(script.name+"/reader", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var r Reader
			for b.Loop() {
				var v string
				r.Reset(text)
				Text(&v, &r)
			}
		})
		b.Run(script.name+"/json", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				var v string
				if err := json.Unmarshal(text, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
