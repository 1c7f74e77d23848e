package detect

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/assent-dev/assent/sandbox/rpc"
)

// callAttempt is the name of the self-test's call.
const callAttempt = "attempt"

// Attempts are what the copy inside tries. All of it must fail.
type attempts struct {
	Write    []string `json:"write"`    // files to make; the other side looks whether they are there
	Read     []string `json:"read"`     // files to read
	Address  string   `json:"address"`  // to connect to; empty if the network is on
	Abstract string   `json:"abstract"` // a unix socket without a file; empty if some are allowed
	Mount    string   `json:"mount"`    // a mount to make writable
	Settings []string `json:"settings"` // kernel settings to open for writing
}

// patience is how long a connection is tried. One that is not refused is lost in an empty
// network at once.
const patience = 200 * time.Millisecond

// Register teaches a server the self-test.
func Register(s *rpc.Server) {
	s.Handle(callAttempt, func(args json.RawMessage, _ []byte) (any, []byte, error) {
		var a attempts
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, nil, err
		}
		return a.breaches(), nil, nil
	})
}

// breaches tries everything and returns what succeeded, in words.
func (a attempts) breaches() []string {
	found := []string{}
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, file := range a.Write {
		_ = os.WriteFile(file, []byte("self-test"), 0o600) // the other side looks
	}
	for _, file := range a.Read {
		if data, err := os.ReadFile(file); err == nil && len(data) > 0 {
			report("it read %s", file)
		}
	}
	if a.Address != "" && connects("tcp", a.Address) {
		report("it connected to %s, with the network off", a.Address)
	}
	if a.Abstract != "" && connects("unix", a.Abstract) {
		report("it connected to a unix socket of another process")
	}
	if a.Mount != "" && remounts(a.Mount) {
		report("it mounted %s writable", a.Mount)
	}
	for _, file := range a.Settings {
		if f, err := os.OpenFile(file, os.O_WRONLY, 0); err == nil {
			f.Close()
			report("it opened %s for writing", file)
		}
	}
	if traces() {
		report("it made itself traceable")
	}
	return found
}

func connects(network, address string) bool {
	conn, err := net.DialTimeout(network, address, patience)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
