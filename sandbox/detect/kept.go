package detect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/sandbox/bwrap"
	"github.com/assent-dev/assent/sandbox/fingerprint"
)

// A kept is what a self-test found out, for the processes that follow on the same machine: only
// that bubblewrap held, never that it did not. It counts as long as nothing has changed that it
// depends on; then everything is tried again.
type kept struct {
	// Machine names what it depends on: see machineKey.
	Machine string `json:"machine"`
	// Program is what bubblewrap said about itself.
	Program bwrap.Program `json:"program"`
	// Held are the attempts that failed, as they must. A profile whose self-test would try
	// something else is tested by itself.
	Held []string `json:"held"`
	// Stage names the helper with which a stage stood.
	Stage string `json:"stage,omitempty"`

	file string
}

// maxHeld is how many sets of attempts are kept.
const maxHeld = 32

// machineKey names all that a self-test's result depends on, with both programs. It is empty if
// that cannot be found out.
func machineKey(bubblewrap, program string) string {
	if fingerprint.FileKey(bubblewrap) == "" || fingerprint.FileKey(program) == "" {
		return ""
	}
	return fingerprint.Key(bubblewrap, program)
}

// readKept reads the file, if it can be relied on and is about this machine as it is now.
// Otherwise what it returns is empty, and can be saved.
func readKept(file string, o Options, program string) *kept {
	k := &kept{}
	key := machineKey(program, o.Program[0])
	if file == "" || key == "" {
		return k
	}
	if data, ok := fingerprint.ReadOwn(file); !ok || json.Unmarshal(data, k) != nil || k.Machine != key ||
		k.Program.Path != program {
		*k = kept{Machine: key}
	}
	k.file = file
	return k
}

// holds reports whether these attempts were made before, and failed.
func (k *kept) holds(a attempts) bool {
	return k.file != "" && k.Program.Version != "" && slices.Contains(k.Held, a.shape())
}

// save adds attempts that failed. The folder must be there: who only looks makes nothing. A file
// that cannot be written costs the next process time.
func (k *kept) save(p bwrap.Program, a attempts) {
	if k.file == "" {
		return
	}
	k.Program = p
	if shape := a.shape(); !slices.Contains(k.Held, shape) {
		k.Held = append(k.Held, shape)
	}
	k.Held = k.Held[max(0, len(k.Held)-maxHeld):]
	k.write()
}

// stages reports whether a stage stood with this helper before.
func (k *kept) stages(helper []string) bool {
	return k.file != "" && k.Program.Version != "" && k.Stage != "" && k.Stage == stageKey(helper)
}

// saveStage adds that one stood. Without a self-test that passed there is nothing to add it to.
func (k *kept) saveStage(helper []string) {
	if key := stageKey(helper); k.file != "" && k.Program.Version != "" && k.Stage != key {
		k.Stage = key
		k.write()
	}
}

// stageKey names a helper, as it is now.
func stageKey(helper []string) string {
	return strings.Join(helper, " ") + " " + fingerprint.FileKey(helper[0])
}

func (k *kept) write() {
	data, err := json.Marshal(k)
	if err != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(k.file), ".checked-*") // it has mode 0600
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if closeErr := f.Close(); err != nil || closeErr != nil || os.Rename(f.Name(), k.file) != nil {
		os.Remove(f.Name())
	}
}

// shape names what is tried, without what differs from one time to the next.
func (a attempts) shape() string {
	dirs := make([]string, len(a.Write))
	for i, file := range a.Write {
		dirs[i] = filepath.Dir(file)
	}
	text, _ := json.Marshal([]any{dirs, a.Read[1:], a.Address != "", a.Abstract != "", a.Mount, a.Settings}) // plain values
	return string(text)
}
