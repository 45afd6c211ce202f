package forge

import (
	_ "github.com/google/go-querystring/query"
	_ "github.com/hashicorp/go-retryablehttp"
	_ "github.com/jarcoal/httpmock"
	_ "github.com/stretchr/testify/assert"
	_ "github.com/stretchr/testify/require"
	_ "go.uber.org/goleak"
	_ "golang.org/x/oauth2"
	_ "golang.org/x/oauth2/clientcredentials"
)
