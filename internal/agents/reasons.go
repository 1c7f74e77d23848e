package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// WhyRuns says in a line why a call may run.
func WhyRuns(o approval.Outcome) string {
	text := "assent: " + string(o.State)
	if o.Basis != "" {
		text += ", " + o.Basis
	}
	if note := o.Note(); note != "" {
		text += ". The person said: " + note
	}
	return text
}

// WhyNot says for the model why a call does not run, or what a person answered in its place.
func WhyNot(o approval.Outcome) string {
	if o.State == policy.StateAnswered {
		return fmt.Sprintf("A person answered in place of the tool, which did not run: %s", o.Decision.Result)
	}
	err := o.Err()
	var words interface{ ForModel() string }
	if errors.As(err, &words) {
		return words.ForModel()
	}
	return err.Error()
}

// Nobody says why a question is denied that nobody answers. Prompts says that the agent has a
// prompt of its own, and was told not to use it.
func Nobody(r *approval.Request, prompts bool) string {
	text := "it must be asked, and nobody is there"
	if r.Why != "" {
		text += ": " + r.Why
	}
	if prompts {
		return text
	}
	text += "; open an inbox with 'assent inbox'"
	if !r.PersonOnly {
		text += ", or allow it with 'assent rules add'"
	}
	return text
}

// InboxOpen reports whether somebody has an inbox open, who can be asked.
func InboxOpen(ctx context.Context, store interface {
	Sessions(context.Context) ([]approval.Session, error)
}) (bool, error) {
	sessions, err := store.Sessions(ctx)
	return slices.ContainsFunc(sessions, func(s approval.Session) bool { return s.Kind == approval.SessionInbox }), err
}
