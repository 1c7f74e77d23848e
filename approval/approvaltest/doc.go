// Package approvaltest helps to test what is built on package approval: a clock
// that is set by hand, ids that count, a recorder that remembers, an approver
// that follows a script, tools made of functions; and the suites that every
// store and every approver must pass:
//
//	func TestStore(t *testing.T) {
//		approvaltest.TestRuleStore(t, func(t *testing.T) approval.RuleStore { return open(t) })
//	}
package approvaltest
