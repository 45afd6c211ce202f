package forge

import (
	"reflect"
	"testing"

	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// MatrixCase is a method that the fault matrix calls. The methods are in a package that imports
// this one, so the external tests set MatrixCases.
type MatrixCase struct {
	Endpoint catalogue.Endpoint
	Method   reflect.Value
	// Arguments returns the arguments of the method, and the path of its request.
	Arguments func(t *testing.T, client *Client) (in []reflect.Value, path string)
	// Status and Body are a response without a fault.
	Status int
	Body   string
	// Vocabulary has the words in which Arguments and Body are written.
	Vocabulary Vocabulary
}

// MatrixCases returns the methods of all endpoints.
var MatrixCases func(t *testing.T) []MatrixCase
