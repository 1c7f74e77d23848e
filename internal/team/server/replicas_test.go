//go:build all && linux

package server_test

import (
	"fmt"
	"os"
)

func serveRole(args []string) error { return fmt.Errorf("later") }
func waitRole(args []string) error  { _ = os.Args; return fmt.Errorf("later") }
