package interp

import "syscall"

// Killed returns the signal that ended the main shell, or 0. It is for the time after
// [Runner.Run]. A signal that came with the end of the text, too late to be seen by it,
// counts.
func (r *Runner) Killed() syscall.Signal {
	if r.main.killed != 0 || r.main.handled {
		return r.main.killed
	}
	for _, sig := range r.main.box.take() {
		if _, trapped := r.main.traps[signalName(sig)]; !trapped {
			return sig
		}
	}
	return 0
}

// Signalled reports whether a signal has ended a program of this run.
func (r *Runner) Signalled() bool { return r.crowd.signalled.Load() }

// Lingers waits until every command in the background has begun, and reports whether one
// of them needs this process: a shell that it interprets. Programs go on without it.
func (r *Runner) Lingers() bool {
	r.crowd.mu.Lock()
	var jobs []*job
	for j := range r.crowd.bg {
		jobs = append(jobs, j)
	}
	r.crowd.mu.Unlock()
	lingers := false
	for _, j := range jobs {
		select {
		case <-j.ready:
		case <-r.gate.done:
			return false
		}
		j.mu.Lock()
		prog := j.prog
		j.mu.Unlock()
		if prog == nil && !j.ended() {
			lingers = true
		}
	}
	return lingers
}
