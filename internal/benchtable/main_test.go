package main

import (
	"strings"
	"testing"
)

const sample = `goos: linux
goarch: amd64
pkg: github.com/assent-dev/assent/approval
cpu: some processor
BenchmarkReview/rules=10-2         	   50000	      2000 ns/op	     512 B/op	       7 allocs/op
BenchmarkReview/rules=1000-2       	   40000	      2500 ns/op	     512 B/op	       7 allocs/op
BenchmarkReview/deny/rules=1000-2  	   40000	      9999 ns/op	     512 B/op	       7 allocs/op
BenchmarkRead-2                    	     100	  12345678 ns/op	  81.00 MB/s	  1024 B/op	      12 allocs/op
PASS
ok  	github.com/assent-dev/assent/approval	3.2s
?   	github.com/assent-dev/assent/internal/rounds	[no test files]
pkg: github.com/assent-dev/assent/present
BenchmarkReview/rules=10           	 1000000	         0.5000 ns/op
BenchmarkReview/rules=100          	 1000000	         1.500 ns/op
BenchmarkVerify                    	       1	         4.000 ns/op	 220000 events/s	 1.5 x
PASS
ok  	github.com/assent-dev/assent/present	1.1s
`

const want = `benchmark                    ns/op  B/op  allocs/op  vs rules=10  measures
approval
  Review/rules=10             2000   512          7        1.00x
  Review/rules=1000           2500   512          7        1.25x
  Review/deny/rules=1000      9999   512          7
  Read                    12345678  1024         12               81.00 MB/s
present
  Review/rules=10           0.5000                         1.00x
  Review/rules=100           1.500                         3.00x
  Verify                     4.000                                220000 events/s, 1.5 x
`

func TestRun(t *testing.T) {
	var out, errs strings.Builder
	if err := run(strings.NewReader(sample), &out, &errs); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if errs.Len() > 0 {
		t.Errorf("a run that passed wrote to standard error:\n%s", errs.String())
	}
}

func TestRunFails(t *testing.T) {
	for name, tail := range map[string]string{
		"a failing benchmark":  "--- FAIL: BenchmarkAsk-2\n    ask_test.go:12: not asked\nFAIL\n",
		"a package not built":  "FAIL\tgithub.com/assent-dev/assent/tool [build failed]\n",
		"go test itself ended": "FAIL\n",
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			if err := run(strings.NewReader(sample+tail), &out, &errs); err == nil {
				t.Fatal("want an error")
			}
			if out.String() != want {
				t.Errorf("the results before the failure are not shown:\n%s", out.String())
			}
			if !strings.Contains(errs.String(), tail) {
				t.Errorf("the failure is not told:\n%s", errs.String())
			}
		})
	}
}

func TestRunNothing(t *testing.T) {
	var out, errs strings.Builder
	if err := run(strings.NewReader("PASS\n"), &out, &errs); err != nil {
		t.Fatal(err)
	}
	if out.String() != "no benchmarks\n" {
		t.Errorf("got %q", out.String())
	}
}
