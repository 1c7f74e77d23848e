package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
)

// The person says yes to the first email and no to the second. This is all that is printed.
func TestEmail(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	person := approvaltest.Script(approvaltest.Yes, func(r *approval.Request) approval.Decision {
		return r.Deny("Friday is fine.")
	})
	var out bytes.Buffer
	if err := run(t.Context(), "policy.yaml", person, &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

const want = `
read_contacts → ["ann@example.com","bob@example.com"]

send_email → sent to ann@example.com

send_email → [DENIED] send_email did not run; nothing was changed. Reason: a person said no. The person said: Friday is fine. Do not retry the same call unless you are told to.

delete_mailbox → [BLOCKED] delete_mailbox did not run. Policy forbids it and nobody can approve it: mail is kept for ten years. Do not retry it; find another way.

What was decided:
  read_contacts                free
  send_email(ann@example.com)  denied
  send_email(ann@example.com)  approved
  delete_mailbox               blocked
`
