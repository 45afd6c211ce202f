// Package othercode runs client-go, with its GraphQL queries, over Client.HTTPClient. The tests of
// the root package do the same with plain net/http.
package othercode

import (
	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	forge "github.com/forge-sdk/forge-go"
)

// ClientGo returns a client-go client whose requests are sent by client.
func ClientGo(client *forge.Client) (*gitlab.Client, error) {
	return gitlab.NewClient("", // forge adds the token
		gitlab.WithBaseURL(client.BaseURL()),
		gitlab.WithHTTPClient(client.HTTPClient()),
		gitlab.WithoutRetries()) // forge retries
}
