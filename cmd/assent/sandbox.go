package main

import (
	"github.com/spf13/cobra"
)

func sandboxCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "sandbox",
		Short: "See, check and use the operating system's sandbox",
		Long: "The sandbox is the layer under consent: what a command can reach at all, whoever allowed it.\n" +
			"It is derived from the roots of the policy.",
	}
	c.AddCommand(sandboxShowCmd(), sandboxRunCmd(), sandboxDoctorCmd())
	return c
}

// statusError ends the program with a status of its own.
type statusError struct {
	status int
	error  // nil if there is nothing to say
}

func (e statusError) Error() string {
	if e.error == nil {
		return ""
	}
	return e.error.Error()
}

func (e statusError) Unwrap() error { return e.error }
