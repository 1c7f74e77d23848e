package analysis
import ("testing";"strings";"time";"syscall")
func cpu() time.Duration { var r syscall.Rusage; syscall.Getrusage(syscall.RUSAGE_SELF,&r); return time.Duration(r.Utime.Nano()+r.Stime.Nano()) }
func TestTmp(t *testing.T){
 for _,text:=range []string{ "ls",
		strings.Repeat("true; ", 10000) + "rm -rf build",
		strings.Repeat("true && ", 5000) + "rm -rf build",
		strings.Repeat("f() { true; }; f; ", 3000) + "rm -rf build",
		strings.Repeat("f() { true; }; f; ", 900) + "rm -rf build",
		"for a in {1..200}; do for b in {1..200}; do true; done; done; rm -rf build",
		strings.Repeat("( ", 90) + "rm -rf build" + strings.Repeat(")", 90),
		strings.Repeat("eval ", 3200) + "x",
		strings.Repeat("f() { f; f; }; ", 1000),
		strings.Repeat("cat /*/../*/", 1300),
		strings.Repeat("for x in a b; do ", 90) + "x" + strings.Repeat("; done", 90),
		strings.Repeat("for x in a b; do ", 240) + "x" + strings.Repeat("; done", 240),
		strings.Repeat("a=$b;(c=1);", 1400),
		strings.Repeat("{1..255} ", 1800),
		strings.Repeat("true; ", 2700),
		strings.Repeat("x=$(cat src/a.go); ", 850),
 } {
  best:=time.Hour
  for i:=0;i<3;i++ { b:=cpu(); Read(text,"/w",project()); if d:=cpu()-b; d<best {best=d} }
  t.Logf("%.20s %d %v", text, len(text), best) }
}
