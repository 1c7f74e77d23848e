package hook

import (
	"fmt"
	"io"
	"os"
	"runtime/metrics"
	"sync/atomic"
	"syscall"
	"time"
)

// An agent runs its tool if the hook dies by a signal, as it does when the system runs out of
// memory. So the hook ends by itself before that, with the status that blocks.
const (
	// memoryLimit is how much more memory the answer to an event may take. It takes a tenth.
	memoryLimit = 256 << 20
	// dataLimit is where the system refuses memory, should nobody have looked in time: the
	// runtime then ends the process with status 2.
	dataLimit = 640 << 20
)

// loweredFrom is the limit of the system that the process had before it took a lower one; 0 if it
// did not. What it starts to stay has that again: commands would fail that need more.
var loweredFrom atomic.Uint64

// limitMemory ends the process with the reply to an event that takes too much memory. What it
// returns stops looking.
func (o Options) limitMemory(most uint64, stderr io.Writer) (stop func()) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &limit) == nil && limit.Cur > dataLimit && o.Exits {
		loweredFrom.Store(uint64(limit.Cur))
		limit.Cur = dataLimit
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit) // without it there is still the look below
	}
	began, stopped := memoryInUse(), make(chan struct{})
	ticks := time.NewTicker(2 * time.Millisecond)
	go func() {
		defer ticks.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-ticks.C:
			}
			if memoryInUse() > began+most {
				reply := o.failed(fmt.Errorf("the call takes more than %d MiB of memory to judge; make it smaller", most>>20))
				os.Exit(write(reply, io.Discard, stderr))
			}
		}
	}()
	return func() { close(stopped) }
}

// memoryInUse is how many bytes the process has from the system.
func memoryInUse() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}
