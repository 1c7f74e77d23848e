package approvaltest_test

import (
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
)

func TestMemoryAsRuleStore(t *testing.T) {
	approvaltest.TestRuleStore(t, func(*testing.T) approval.RuleStore { return approval.NewMemory(0) })
}

func TestMemoryAsGrantStore(t *testing.T) {
	approvaltest.TestGrantStore(t, func(*testing.T) approval.GrantStore { return approval.NewMemory(0) })
}

func TestApprovers(t *testing.T) {
	yes := func() approval.Approver {
		return approvaltest.Script(approvaltest.Yes, approvaltest.Yes, approvaltest.Yes)
	}
	for name, open := range map[string]func() approval.Approver{
		"Script":           yes,
		"Silent":           func() approval.Approver { return approvaltest.Silent },
		"First":            func() approval.Approver { return approval.First(approvaltest.Silent, yes()) },
		"First of none":    func() approval.Approver { return approval.First() },
		"Timeout":          func() approval.Approver { return approval.Timeout(time.Hour, yes()) },
		"Timeout, silent":  func() approval.Approver { return approval.Timeout(time.Hour, approvaltest.Silent) },
		"Timeout of First": func() approval.Approver { return approval.Timeout(time.Hour, approval.First(approvaltest.Silent)) },
	} {
		t.Run(name, func(t *testing.T) {
			approvaltest.TestApprover(t, func(*testing.T) approval.Approver { return open() })
		})
	}
}

func TestFakeAsStore(t *testing.T) {
	approvaltest.TestStore(t, func(*testing.T) approvaltest.Pair {
		clock := new(approvaltest.Clock)
		f := approvaltest.NewFake(clock)
		return approvaltest.Pair{One: f, Two: f, Clock: clock, Alive: f.SetAlive}
	})
}
