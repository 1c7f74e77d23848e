package connector_test

import (
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/policy"
)

// A server that knows only the newest version of the protocol is spoken to so.
func TestAServerOfTheNewestVersionOnly(t *testing.T) {
	c := open(t, config("newest", mcptest.Newest), options(newEvents()))
	g := guard(t, approval.Config{Mode: policy.ModeApproveAll}, c.Tools()...)
	mustText(t, call(t, g, "newest:echo", args{"text": "x"}), "x")
}
