package store

import (
	"os"
	"sync"

	"github.com/assent-dev/assent/approval"
)

var host = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	return name
})

// ThisProcess identifies the process that calls it, for [approval.Session].
func ThisProcess() approval.Process { return thisProcess() }

var thisProcess = sync.OnceValue(func() approval.Process {
	pid := os.Getpid()
	return approval.Process{Host: host(), ID: pid, Started: started(pid)}
})

// processAlive reports whether a process is there. Of another machine that
// cannot be told, so it counts as alive.
func processAlive(p approval.Process) bool {
	if p.Started != "" && p == ThisProcess() {
		return true // which is asked for every call
	}
	if p.Host != host() {
		return p.Host != ""
	}
	return p.Started != "" && started(p.ID) == p.Started
}
