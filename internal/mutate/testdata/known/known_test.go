package known

import "testing"

func TestLoop(t *testing.T) {
	if KilledLoop(3) != 6 {
		t.Fatal("the sum is wrong")
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{"": "-", "-a": "-", "A": "[a)"} {
		if KilledText(text, "[", ")") != want {
			t.Fatal(text)
		}
	}
}

func TestError(t *testing.T) {
	if KilledError(0) != nil || KilledError(-1) == nil {
		t.Fatal("the error is wrong")
	}
}

func TestSwap(t *testing.T) {
	if KilledSwap(5, 3) != 6 {
		t.Fatal("the difference is wrong")
	}
}

func TestEqual(t *testing.T) {
	if !KilledEqual("a", "A") || KilledEqual("a", "b") {
		t.Fatal("the texts are compared wrongly")
	}
}

func TestType(t *testing.T) {
	if !KilledType(true) || KilledType("true") {
		t.Fatal("the type is wrong")
	}
}

func TestNothing(*testing.T) {
	SurvivesUnchecked(1)
	SurvivesEqual(-1)
}

func TestBroken(t *testing.T) { t.Fatal("fails without a mutant, too") }
