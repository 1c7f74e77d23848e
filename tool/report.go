package tool

import (
	"context"

	"github.com/assent-dev/assent/approval"
)

type reportKey struct{}

// withReports returns the context of a call that runs, in which it can report.
func withReports(ctx context.Context, x *approval.Execution) context.Context {
	return context.WithValue(ctx, reportKey{}, x)
}

// ReportConfined records, for the call that runs in this context, what a sandbox refused to
// it, or that it was let out of one. A call without a gate records nothing.
func ReportConfined(ctx context.Context, what string) error {
	x, ok := ctx.Value(reportKey{}).(*approval.Execution)
	if !ok {
		return nil
	}
	return x.Report(ctx, approval.Confined, what)
}
