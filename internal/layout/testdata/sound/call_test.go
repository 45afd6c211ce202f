package sound

import "testing"

func TestSend(t *testing.T) { new(call).send() }
