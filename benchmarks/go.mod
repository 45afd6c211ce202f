module github.com/forge-sdk/forge-go/benchmarks

go 1.26.0

require (
	github.com/forge-sdk/forge-go v0.0.0
	gitlab.com/gitlab-org/api/client-go/v2 v2.64.0
)

require (
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)

replace github.com/forge-sdk/forge-go => ../
