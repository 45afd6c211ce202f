package main
import ("testing";"net/http";"context"
"github.com/forge-sdk/forge-go")
func BenchmarkTag(b *testing.B) {
	answer := fromMemory(tagDocument)
	const base = "https://forge.example.com"
	for _, c := range []contender{
		{forgeName, newOurs(base, forge.WithHTTPClient(&http.Client{Transport: answer})).tag},
		{handName, newHand(base, answer).tag},
		{peerName, newPeer(base, withTransport(answer)).tag},
	} {
		b.Run(c.name, func(b *testing.B) { b.ReportAllocs(); var d digest; for b.Loop() { c.do(context.Background(), &d) } })
	}
}
