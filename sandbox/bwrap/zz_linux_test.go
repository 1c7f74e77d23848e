package bwrap

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func BenchmarkZZ(b *testing.B) {
	root, _ := filepath.EvalSymlinks(b.TempDir())
	r := New(find(), []string{os.Args[0], "sweep"})
	defer r.Close()
	r2 := New(find(), []string{os.Args[0], "sweep"})
	r2.program.ByFD = false
	defer r2.Close()
	list := map[string][]time.Duration{}
	rec := func(n string, d time.Duration) { list[n] = append(list[n], d) }
	for range 100 {
		rec("bare", timed(b, bareSpawn(b, r, root)))
		for name, rr := range map[string]*Runner{"fd": r, "nofd": r2} {
			t0 := time.Now()
			p, err := rr.Start(context.Background(), benchCommand(root))
			if err != nil {
				b.Fatal(err)
			}
			t1 := time.Now()
			p.Wait()
			rec(name+" start", t1.Sub(t0))
			rec(name+" wait", time.Since(t1))
			rec(name+" total", time.Since(t0))
		}
	}
	for n, l := range list {
		slices.Sort(l)
		fmt.Println(n, l[50], l[95])
	}
}
