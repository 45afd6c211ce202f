// Package othercode runs code that builds its own requests over Client.HTTPClient: client-go, plain
// net/http, and GraphQL queries of both. The tests compare it with the same code alone.
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
