package server

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// metrics counts what the server does, for Prometheus. Names and labels are fixed here: nothing that a caller
// chooses becomes one.
type metrics struct {
	records, requests, notices, noticesFailed, checkpoints, panics atomic.Int64

	mu    sync.Mutex
	calls map[call]int64
}

// A call is what calls are counted by.
type call struct {
	path   string
	status int
}

func (m *metrics) called(path string, status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls == nil {
		m.calls = map[call]int64{}
	}
	m.calls[call{path, status}]++
}

// A gauge is one number that is there.
type gauge struct {
	name, kind, help string
	value            int64
}

// write prints the metrics in Prometheus' text format.
func (m *metrics) write(w io.Writer, more ...gauge) {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	for _, g := range append([]gauge{
		{"assent_requests_total", "counter", "Questions taken from machines.", m.requests.Load()},
		{"assent_audit_records_total", "counter", "Records taken from machines.", m.records.Load()},
		{"assent_notices_total", "counter", "Notices that a webhook took.", m.notices.Load()},
		{"assent_notices_failed_total", "counter", "Tries to send a notice that failed.", m.noticesFailed.Load()},
		{"assent_checkpoints_total", "counter", "Times that this replica looked after the checkpoint.", m.checkpoints.Load()},
		{"assent_panics_total", "counter", "Calls that ended with a panic.", m.panics.Load()},
		{"go_goroutines", "gauge", "Goroutines.", int64(runtime.NumGoroutine())},
		{"go_memstats_sys_bytes", "gauge", "Bytes taken from the system.", int64(memory.Sys)},
		{"go_memstats_heap_inuse_bytes", "gauge", "Bytes of the heap in use.", int64(memory.HeapInuse)},
	}, more...) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", g.name, g.help, g.name, g.kind, g.name, g.value)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Fprint(w, "# HELP assent_calls_total Calls by path and status.\n# TYPE assent_calls_total counter\n")
	var lines []string
	for c, n := range m.calls {
		lines = append(lines, "assent_calls_total{path="+strconv.Quote(c.path)+",status=\""+strconv.Itoa(c.status)+"\"} "+strconv.FormatInt(n, 10)+"\n")
	}
	slices.Sort(lines)
	for _, l := range lines {
		fmt.Fprint(w, l)
	}
}

// scrape answers Prometheus.
func (s *Server) scrape(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.metrics.write(w,
		gauge{"assent_waiting_machines", "gauge", "Machines that wait for news at this replica.", int64(s.waiting.count())},
		gauge{"assent_bundle_serial", "gauge", "Serial of the newest bundle that this replica knows.", s.bundle.serial()},
		gauge{"assent_body_bytes_free", "gauge", "Bytes of calls that may still come into memory.", s.bodies.free()})
}
