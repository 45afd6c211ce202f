module github.com/forge-sdk/forge-go/examples/archive-backup

go 1.26.0

require (
	github.com/forge-sdk/forge-go v0.0.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/sync v0.24.0
)

require (
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/sys v0.30.0 // indirect
)

replace github.com/forge-sdk/forge-go => ../..
