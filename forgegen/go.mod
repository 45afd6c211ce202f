module github.com/forge-sdk/forge-go/forgegen

go 1.26.0

require (
	github.com/getkin/kin-openapi v0.153.0
	go.yaml.in/yaml/v3 v3.0.5
)
