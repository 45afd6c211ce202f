package forgetest

import (
	"net/http"

	forge "github.com/forge-sdk/forge-go"
)

// Client returns a client of the server, with the token of the default user unless the options give another credential. It has
// connections of its own, which end with the server.
func (s *Server) Client(options ...forge.Option) *forge.Client {
	own := []forge.Option{
		forge.WithHTTPClient(&http.Client{Transport: &http.Transport{}}), forge.WithToken(s.Token),
		forge.WithRegistry(s.RegistryURL, s.AuthURL), forge.WithRegistryCredentials("root", s.Token),
	}
	client, err := forge.NewClient(s.URL, append(own, options...)...)
	if err != nil {
		panic("forgetest: " + err.Error())
	}
	return client
}
