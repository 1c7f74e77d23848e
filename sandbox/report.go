package sandbox

import (
	"fmt"
	"strings"
)

// A Report is what is known about a runner on this machine.
type Report struct {
	Name    string `json:"name"`
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	// Weaker says that it holds less than the others, even when it works.
	Weaker bool `json:"weaker,omitempty"`
	// Enforced and NotEnforced are what it holds a process to, and what not, in words.
	Enforced    []string `json:"enforced,omitempty"`
	NotEnforced []string `json:"not_enforced,omitempty"`
	// Problem says why it cannot be used; nil if it can.
	Problem *Problem `json:"problem,omitempty"`
}

// Usable reports whether the runner can be used.
func (r Report) Usable() bool { return r.Problem == nil }

// A Problem is why a runner cannot be used.
type Problem struct {
	Detail string `json:"detail,omitempty"` // what the system said
	Cause  string `json:"cause"`
	Remedy string `json:"remedy"`
}

// UnusableError says that no runner can be used, and why each of them cannot.
type UnusableError struct {
	Reports []Report
}

func (e *UnusableError) Error() string {
	var b strings.Builder
	b.WriteString("no usable OS sandbox was found")
	for _, r := range e.Reports {
		if r.Problem == nil {
			continue
		}
		fmt.Fprintf(&b, "\n  %s: %s", r.Name, r.Problem.Cause)
		if r.Problem.Detail != "" {
			fmt.Fprintf(&b, " (%s)", r.Problem.Detail)
		}
		fmt.Fprintf(&b, "\n    remedy: %s", r.Problem.Remedy)
	}
	return b.String()
}
