package runner_test

import (
	"os/exec"
	"testing"

	"github.com/assent-dev/assent/tool/shell/runner"
)

// BenchmarkRun compares with bash started by nobody in particular.
func BenchmarkRun(b *testing.B) {
	for name, text := range map[string]string{"empty": ":", "output=1MB": "head -c 1000000 /dev/zero"} {
		c := command(b, text)
		b.Run(name+"/by=exec", func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command("/bin/bash", "-c", text)
				cmd.Dir, cmd.Env = c.Dir, c.Env.Entries()
				_, err := cmd.Output()
				must(b, err)
			}
		})
		b.Run(name+"/by=runner", func(b *testing.B) {
			for b.Loop() {
				run(b, c)
			}
		})
	}
}

func BenchmarkNewEnvironment(b *testing.B) {
	own := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/h", "LANG=C.UTF-8", "TERM=xterm", "A=b", "C=d"}
	for b.Loop() {
		runner.NewEnvironment(own, nil)
	}
}
