package sandbox

import (
	"errors"
	"time"
)

// Limits are how much a command may use. Zero is no limit of that kind, except for the
// private folders, which always have a size.
type Limits struct {
	// Tmp is the size of each private folder (/tmp, the home folder, /dev/shm) in bytes.
	// 0 means DefaultTmp.
	Tmp int64 `json:"tmp"`
	// FileSize is the size of the largest file that can be written, in bytes.
	FileSize int64 `json:"file_size"`
	// OpenFiles is how many files one process can have open.
	OpenFiles int64 `json:"open_files"`
	// Processes is how many processes a command can have. The kernel does not hold
	// root to it.
	Processes int64 `json:"processes"`
	// Output is how much a command can print, on both streams together, before it is
	// ended, in bytes.
	Output int64 `json:"output"`
	// Time is how long a command can run before it is ended.
	Time time.Duration `json:"time"`
}

// DefaultTmp is the size of private folders.
const DefaultTmp = 1 << 30

// DefaultLimits are for commands of which nothing is known.
func DefaultLimits() Limits {
	return Limits{
		Tmp: DefaultTmp, FileSize: 4 << 30, OpenFiles: 4096, Processes: 2048,
	}
}

func (l Limits) check() error {
	if min(l.Tmp, l.FileSize, l.OpenFiles, l.Processes, l.Output, int64(l.Time)) < 0 {
		return errors.New("a limit is negative")
	}
	return nil
}

// Within returns the tighter of both for each kind.
func (l Limits) Within(o Limits) Limits {
	return Limits{
		Tmp:       tighter(l.Tmp, o.Tmp),
		FileSize:  tighter(l.FileSize, o.FileSize),
		OpenFiles: tighter(l.OpenFiles, o.OpenFiles),
		Processes: tighter(l.Processes, o.Processes),
		Output:    tighter(l.Output, o.Output),
		Time:      tighter(l.Time, o.Time),
	}
}

// tighter is the smaller limit, where 0 is none.
func tighter[N ~int64](a, b N) N {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
