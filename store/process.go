package store

import (
	"os"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/store/sessions"
)

var host = sync.OnceValue(func() string {
	name, _ := os.Hostname()
	return name
})

// ThisProcess identifies the process that calls it, for [sessions.Session].
func ThisProcess() sessions.Process { return thisProcess() }

var thisProcess = sync.OnceValue(func() sessions.Process {
	pid := os.Getpid()
	return sessions.Process{Host: host(), ID: pid, Started: started(pid)}
})

// Owner implements [approval.OwnerStore].
func (s *Store) Owner() approval.Process { return approval.Process(ThisProcess()) }

// processAlive reports whether a process is there. Of another machine that
// cannot be told, so it counts as alive.
func processAlive(p sessions.Process) bool {
	if p.Started != "" && p == ThisProcess() {
		return true // which is asked for every call
	}
	if p.Host != host() {
		return p.Host != ""
	}
	return p.Started != "" && started(p.ID) == p.Started
}
