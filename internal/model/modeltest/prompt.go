package modeltest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
)

// Prompt is what a worker says first.
func Prompt(words string, tools ...worker.Spec) worker.Prompt {
	return worker.Prompt{Instructions: "Be brief.", Tools: tools,
		Rounds: []worker.Round{{Message: worker.Message{Text: words}}}}
}

// Fault returns the fault behind an error, which must not tell the key.
func Fault(t testing.TB, err error, key string) *model.Fault {
	t.Helper()
	var f *model.Fault
	if !errors.As(err, &f) {
		t.Fatalf("error %v is no fault", err)
	}
	if strings.Contains(err.Error(), key) || strings.Contains(fmt.Sprintf("%+v", f), key) {
		t.Errorf("the error tells the key: %v", err)
	}
	return f
}
