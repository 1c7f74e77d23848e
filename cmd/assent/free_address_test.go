//go:build conformance || webe2e

package main

import (
	"net"
	"testing"
)

// freeAddress is one of this machine that nothing listens at: some programs want to be told before they start.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
