package sound

import "testing"

func BenchmarkBegin(b *testing.B) { new(retryState).begin() }
