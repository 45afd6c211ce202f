package forgetest

import (
	"net/http"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// Client returns a client of the server, with the token of the default user unless the options set
// another credential. It has its own connections, which Close of the server ends. Its retries wait
// one or two milliseconds; WithRetry sets another policy. With [WithGitLabVocabulary] it has the
// vocabulary forge.GitLab; WithVocabulary("") removes it.
func (s *Server) Client(options ...forge.Option) *forge.Client {
	own := []forge.Option{
		forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}),
		forge.WithHTTPClient(&http.Client{Transport: &http.Transport{}}), forge.WithToken(s.Token),
		forge.WithRegistry(s.RegistryURL, s.RegistryAuthURL), forge.WithRegistryCredentials("root", s.Token),
	}
	if s.gitlab {
		own = append(own, forge.WithVocabulary(forge.GitLab))
	}
	client, err := forge.NewClient(s.URL, own...)
	if err == nil {
		client, err = client.With(options...)
	}
	if err != nil {
		panic("forgetest: " + err.Error())
	}
	return client
}
