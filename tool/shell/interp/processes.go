package interp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

func listSignals(s *shell) int {
	var sb strings.Builder
	n := 0
	for sig := 1; sig <= 64; sig++ {
		name := signalNames[sig]
		if name == "" {
			continue
		}
		fmt.Fprintf(&sb, "%2d) SIG%s", sig, name)
		if n++; n%5 == 0 {
			sb.WriteByte('\n')
		} else {
			sb.WriteByte('\t')
		}
	}
	sb.WriteByte('\n')
	return int(truth(!s.out(sb.String())))
}

func killBuiltin(s *shell, args []string) int {
	args = args[1:]
	sig := syscall.SIGTERM
	if len(args) == 0 {
		s.usage("kill")
		return 2
	}
	bad := func(spec string) int {
		s.complain("kill", "%s: invalid signal specification", spec)
		return 1
	}
	if args[0] == "-l" || args[0] == "-L" {
		return killList(s, args[1:])
	}
	if arg := args[0]; len(arg) > 1 && arg[0] == '-' && arg != "--" {
		spec := arg[1:]
		args = args[1:]
		if arg == "-s" || arg == "-n" {
			if len(args) == 0 {
				s.complain("kill", "%s: option requires an argument", arg)
				return 1
			}
			spec, args = args[0], args[1:]
		}
		var ok bool
		if sig, ok = signalNamed(spec); !ok {
			return bad(spec)
		}
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		s.usage("kill")
		return 2
	}
	status := 0
	for _, arg := range args {
		var err error
		if strings.HasPrefix(arg, "%") {
			j := s.findJob(arg)
			if j == nil {
				s.complain("kill", "%s: no such job", arg)
				status = 1
				continue
			}
			err = s.send(j, sig)
			arg = itoa(s.jobPid(j))
		} else {
			pid, perr := strconv.Atoi(arg)
			if perr != nil {
				s.complain("kill", "%s: arguments must be process or job IDs", arg)
				status = 1
				continue
			}
			err = s.kill(pid, sig)
		}
		if err != nil {
			if err.Error() == "os: process already finished" {
				err = syscall.ESRCH
			}
			s.complain("kill", "(%s) - %s", arg, errText(err))
			status = 1
		}
	}
	// A signal to this shell itself counts before the next command.
	s.check()
	s.runTraps()
	return status
}

func killList(s *shell, specs []string) int {
	if len(specs) == 0 {
		return listSignals(s)
	}
	status := 0
	for _, spec := range specs {
		if n, err := strconv.Atoi(spec); err == nil {
			if n > 128 {
				n -= 128
			}
			if name := signalNames[n]; name != "" {
				s.out(name + "\n")
				continue
			}
		} else if sig, ok := signalNamed(spec); ok {
			s.outf("%d\n", int(sig))
			continue
		}
		s.complain("kill", "%s: invalid signal specification", spec)
		status = 1
	}
	return status
}

func waitBuiltin(s *shell, args []string) int {
	next, into := false, ""
	ids, ok := s.flags(args, "fnp:", func(flag byte, value string) {
		switch flag {
		case 'n':
			next = true
		case 'p':
			into = value
		}
	})
	if !ok {
		return 2
	}
	if into != "" && !syntax.ValidName(into) {
		s.complain("wait", "`%s': not a valid identifier", into)
		return 1
	}
	tell := func(j *job) int {
		if into != "" {
			s.set(into, itoa(j.pid))
		}
		return s.ended(j)
	}
	if next {
		jobs := s.own(slices.Concat(s.past, s.jobs))
		if len(ids) > 0 {
			jobs = nil
			for _, id := range ids {
				if j := s.findJob(id); j != nil {
					jobs = append(jobs, j)
				}
			}
			jobs = s.own(jobs)
		}
		if into != "" {
			s.unset(into)
		}
		j, sig := s.waitAny(jobs)
		switch {
		case sig != 0:
			return 128 + int(sig)
		case j == nil:
			return 127
		}
		return tell(j)
	}
	if len(ids) == 0 {
		jobs := s.own(s.jobs)
		if s.lastBg != nil && s.lastBg.owner == s.self && s.lastBg.procSub {
			jobs = append(slices.Clip(jobs), s.lastBg)
		}
		for _, j := range jobs {
			if sig := s.waitJob(j); sig != 0 {
				return 128 + int(sig)
			}
			s.ended(j)
		}
		return 0
	}
	status := 0
	for _, id := range ids {
		j := s.findJob(id)
		if j == nil || j.owner != s.self {
			switch _, err := strconv.Atoi(id); {
			case strings.HasPrefix(id, "%"):
				s.complain("wait", "%s: no such job", id)
			case err != nil:
				s.complain("wait", "`%s': not a pid or valid job spec", id)
				if id != "" && id[0] >= '0' && id[0] <= '9' {
					return 1
				}
				status = 1
				continue
			default:
				s.complain("wait", "pid %s is not a child of this shell", id)
			}
			status = 127
			continue
		}
		if sig := s.waitJob(j); sig != 0 {
			return 128 + int(sig)
		}
		status = tell(j)
	}
	return status
}

// own leaves out the jobs of other shells, which a subshell can see but not wait for.
func (s *shell) own(jobs []*job) []*job {
	return slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.owner != s.self })
}

// ended notes that a job's end was waited for, and returns its status.
func (s *shell) ended(j *job) int {
	j.reported.Store(true)
	if !j.told.Swap(true) {
		s.tellSignal(j.pid, j.signal, j.text, false)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.status
}

// waitJob waits for a job. A trapped signal ends the wait, and is returned.
func (s *shell) waitJob(j *job) syscall.Signal {
	_, sig := waitFor(s, j.done)
	return sig
}

// waitFor waits until something is done, or a trapped signal comes.
func waitFor[T any](s *shell, done <-chan T) (one T, sig syscall.Signal) {
	for {
		var bell <-chan struct{}
		if s.box != nil {
			bell = s.box.bell
		}
		select {
		case one = <-done:
			return one, 0
		case <-s.r.gate.done:
			panic(halted{})
		case <-bell:
			s.check()
			if len(s.trapped) > 0 && s.box.owner == s {
				sig = s.trapped[0]
				s.runTraps()
				return one, sig
			}
		}
	}
}

// waitAny waits for the first of some jobs that has not been waited for.
func (s *shell) waitAny(jobs []*job) (*job, syscall.Signal) {
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.reported.Load() || j.disowned.Load() })
	if len(jobs) == 0 {
		return nil, 0
	}
	over := make(chan struct{})
	defer close(over)
	first := make(chan *job, len(jobs))
	for _, j := range jobs {
		if j.ended() {
			return j, 0
		}
		go func() {
			select {
			case <-j.done:
				first <- j
			case <-over:
			}
		}()
	}
	return waitFor(s, first)
}

func jobsBuiltin(s *shell, args []string) int {
	long, pids, running, stopped, fresh := false, false, false, false, false
	specs, ok := s.flags(args, "lnprsx", func(flag byte, _ string) {
		switch flag {
		case 'l':
			long = true
		case 'p':
			pids = true
		case 'r':
			running = true
		case 's':
			stopped = true
		case 'n':
			fresh = true
		case 'x':
			s.unsupported("jobs -x", s.pos)
		}
	})
	if !ok {
		return 2
	}
	status := 0
	jobs := s.jobs
	if len(specs) > 0 {
		jobs = nil
		for _, spec := range specs {
			j := s.findJob(spec)
			if j == nil {
				s.complain("jobs", "%s: no such job", spec)
				status = 1
				continue
			}
			jobs = append(jobs, j)
		}
	}
	var live []*job
	for _, j := range s.jobs {
		if !j.disowned.Load() && !j.reported.Load() {
			live = append(live, j)
		}
	}
	for _, j := range jobs {
		done := j.ended()
		if j.disowned.Load() || j.reported.Load() || stopped || (running && done) || (fresh && !done) {
			continue
		}
		if pids {
			s.outf("%d\n", s.jobPid(j))
			continue
		}
		mark := " "
		if n := len(live); n > 0 && j == live[n-1] {
			mark = "+"
		} else if n > 1 && j == live[n-2] {
			mark = "-"
		}
		state, tail := "Running", " &"
		if done {
			tail = ""
			switch {
			case j.signal != 0:
				state = signalText(j.signal)
			case j.status == 0:
				state = "Done"
			default:
				state = "Exit " + itoa(j.status)
			}
			j.reported.Store(true)
			j.told.Store(true)
		}
		pid := ""
		if long {
			pid = fmt.Sprintf("%5d ", s.jobPid(j))
			s.outf("[%d]%s %s%-23s %s%s\n", j.n, mark, pid, state, j.text, tail)
			continue
		}
		s.outf("[%d]%s  %-23s %s%s\n", j.n, mark, state, j.text, tail)
	}
	return status
}

func disownBuiltin(s *shell, args []string) int {
	all, running := false, false
	specs, ok := s.flags(args, "ahr", func(flag byte, _ string) {
		switch flag {
		case 'a':
			all = true
		case 'r':
			all, running = true, true
		}
	})
	if !ok {
		return 2
	}
	if len(specs) == 0 && !all {
		specs = []string{"%+"}
		if s.findJob("%+") == nil {
			s.complain("disown", "current: no such job")
			return 1
		}
	}
	status := 0
	drop := func(j *job) {
		j.disowned.Store(true)
		s.jobs = slices.DeleteFunc(slices.Clone(s.jobs), func(o *job) bool { return o == j })
	}
	if all && len(specs) == 0 {
		for _, j := range s.jobs {
			if !running || !j.ended() {
				drop(j)
			}
		}
		return 0
	}
	for _, spec := range specs {
		j := s.findJob(spec)
		if j == nil {
			s.complain("disown", "%s: no such job", spec)
			status = 1
			continue
		}
		drop(j)
	}
	return status
}

func umaskBuiltin(s *shell, args []string) int {
	symbolic, print := false, false
	rest, ok := s.flags(args, "Sp", func(flag byte, _ string) {
		symbolic = symbolic || flag == 'S'
		print = print || flag == 'p'
	})
	if !ok {
		return 2
	}
	mask := s.umask
	if mask < 0 {
		mask = processUmask()
	}
	show := func() {
		text := fmt.Sprintf("%04o", mask)
		if symbolic {
			text = ""
			for i, who := range "ugo" {
				bits := (^mask >> (6 - 3*i)) & 7
				text += "," + string(who) + "="
				for b, c := range "rwx" {
					if bits&(4>>b) != 0 {
						text += string(c)
					}
				}
			}
			text = text[1:]
		}
		if print {
			if symbolic {
				text = "-S " + text
			}
			text = "umask " + text
		}
		s.out(text + "\n")
	}
	if len(rest) == 0 {
		show()
		return 0
	}
	mode := rest[0]
	if mode != "" && mode[0] >= '0' && mode[0] <= '9' {
		n, err := strconv.ParseUint(mode, 8, 32)
		if err != nil || n > 0o777 {
			s.complain("umask", "%s: octal number out of range", mode)
			return 1
		}
		mask = int(n)
	} else {
		allowed, ok := s.symbolicMode(mode, ^mask&0o777)
		if !ok {
			return 1
		}
		mask = ^allowed & 0o777
	}
	s.umask = mask
	if symbolic {
		show()
	}
	return 0
}

// symbolicMode changes permission bits as u=rwx,g-w says.
func (s *shell) symbolicMode(mode string, bits int) (int, bool) {
	for clause := range strings.SplitSeq(mode, ",") {
		i, who := 0, 0
		for ; i < len(clause) && strings.IndexByte("ugoa", clause[i]) >= 0; i++ {
			switch clause[i] {
			case 'u':
				who |= 0o700
			case 'g':
				who |= 0o070
			case 'o':
				who |= 0o007
			case 'a':
				who |= 0o777
			}
		}
		if who == 0 {
			who = 0o777
		}
		if i == len(clause) || strings.IndexByte("+-=", clause[i]) < 0 {
			c := "`'"
			if i < len(clause) {
				c = "`" + clause[i:i+1] + "'"
			}
			s.complain("umask", "%s: invalid symbolic mode operator", c)
			return 0, false
		}
		op := clause[i]
		perms := 0
		for _, c := range clause[i+1:] {
			switch c {
			case 'r':
				perms |= 0o444
			case 'w':
				perms |= 0o222
			case 'x':
				perms |= 0o111
			default:
				s.complain("umask", "`%c': invalid symbolic mode character", c)
				return 0, false
			}
		}
		switch op {
		case '+':
			bits |= perms & who
		case '-':
			bits &^= perms & who
		case '=':
			bits = bits&^who | perms&who
		}
	}
	return bits, true
}

func timesBuiltin(s *shell, _ []string) int {
	var self syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &self)
	s.r.crowd.mu.Lock()
	used := s.r.crowd.used
	s.r.crowd.mu.Unlock()
	f := func(t syscall.Timeval) string { return clock(time.Duration(t.Nano()), 3) }
	return int(truth(!s.outf("%s %s\n%s %s\n", f(self.Utime), f(self.Stime), f(used[0]), f(used[1]))))
}

// clock prints a time as 0m0.000s.
func clock(d time.Duration, digits int) string {
	minutes := d / time.Minute
	return fmt.Sprintf("%dm%.*fs", minutes, digits, (d - minutes*time.Minute).Seconds())
}

// time runs a pipeline and prints on standard error how long it took.
func (s *shell) time(cm *syntax.TimeClause) {
	var before, after syscall.Rusage
	times := func(self *syscall.Rusage) (user, sys time.Duration) {
		syscall.Getrusage(syscall.RUSAGE_SELF, self)
		s.r.crowd.mu.Lock()
		defer s.r.crowd.mu.Unlock()
		return time.Duration(self.Utime.Nano() + s.r.crowd.used[0].Nano()),
			time.Duration(self.Stime.Nano() + s.r.crowd.used[1].Nano())
	}
	start := time.Now()
	user, sys := times(&before)
	report := func() {
		real := time.Since(start)
		user2, sys2 := times(&after)
		user2, sys2 = user2-user, sys2-sys
		format := "\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS"
		if v, ok := s.lookup("TIMEFORMAT").scalar(); ok {
			format = v
		}
		if cm.PosixFormat {
			format = "real %2R\nuser %2U\nsys %2S"
		}
		if format != "" {
			s.errText(s.timeText(format, real, user2, sys2) + "\n")
		}
	}
	defer report()
	if cm.Stmt == nil {
		s.status = 0
		return
	}
	s.stmt(cm.Stmt)
}

func (s *shell) timeText(format string, real, user, sys time.Duration) string {
	var sb strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			sb.WriteByte(format[i])
			continue
		}
		i++
		digits, long := 3, false
		if format[i] >= '0' && format[i] <= '9' && i+1 < len(format) {
			digits = min(int(format[i]-'0'), 3)
			i++
		}
		if format[i] == 'l' && i+1 < len(format) {
			long = true
			i++
		}
		var d time.Duration
		switch format[i] {
		case '%':
			sb.WriteByte('%')
			continue
		case 'R':
			d = real
		case 'U':
			d = user
		case 'S':
			d = sys
		case 'P':
			percent := 0.0
			if real > 0 {
				percent = min(100, 100*float64(user+sys)/float64(real))
			}
			fmt.Fprintf(&sb, "%.2f", percent)
			continue
		default:
			s.warn("TIMEFORMAT: `%c': invalid format character", format[i])
			return ""
		}
		if long {
			sb.WriteString(clock(d, digits))
		} else {
			fmt.Fprintf(&sb, "%.*f", digits, d.Seconds())
		}
	}
	return sb.String()
}

type limit struct {
	flag     byte
	resource int // -1: a constant
	text     string
	unit     string
	scale    uint64
}

const infinity = ^uint64(0)

func ulimitBuiltin(s *shell, args []string) int {
	soft, hard, all := false, false, false
	var chosen []limit
	bad := byte(0)
	rest, ok := s.flags(args, "SHabcdefiklmnpqrstuvxPRT", func(flag byte, _ string) {
		switch flag {
		case 'S':
			soft = true
		case 'H':
			hard = true
		case 'a':
			all = true
		default:
			i := slices.IndexFunc(limits, func(l limit) bool { return l.flag == flag })
			if i < 0 {
				bad = flag
				return
			}
			chosen = append(chosen, limits[i])
		}
	})
	if !ok {
		return 2
	}
	if bad != 0 {
		s.unsupported("ulimit -"+string(bad), s.pos)
	}
	if all {
		for _, l := range limits {
			unit := "(-" + string(l.flag) + ") "
			if l.unit != "" {
				unit = "(" + l.unit + ", -" + string(l.flag) + ") "
			}
			s.outf("%-20s %20s%s\n", l.text, unit, s.limitText(l, hard))
		}
		return 0
	}
	if len(chosen) == 0 {
		i := slices.IndexFunc(limits, func(l limit) bool { return l.flag == 'f' })
		chosen = limits[i : i+1]
	}
	if len(rest) == 0 {
		for _, l := range chosen {
			if len(chosen) > 1 {
				unit := "(-" + string(l.flag) + ") "
				if l.unit != "" {
					unit = "(" + l.unit + ", -" + string(l.flag) + ") "
				}
				s.outf("%-20s %20s", l.text, unit)
			}
			s.out(s.limitText(l, hard) + "\n")
		}
		return 0
	}
	for _, l := range chosen {
		if l.resource < 0 {
			s.complain("ulimit", "%s: cannot modify limit: %s", l.text, errText(syscall.EINVAL))
			return 1
		}
		now := s.rlimit(l.resource)
		var value uint64
		switch rest[0] {
		case "unlimited":
			value = infinity
		case "soft":
			value = now.Cur
		case "hard":
			value = now.Max
		default:
			n, err := strconv.ParseUint(rest[0], 10, 63)
			if err != nil {
				s.complain("ulimit", "%s: invalid number", rest[0])
				return 1
			}
			value = n * l.scale
		}
		if value > now.Max && !mayRaiseLimits() {
			s.complain("ulimit", "%s: cannot modify limit: %s", l.text, errText(syscall.EPERM))
			return 1
		}
		if !hard && !soft || soft {
			now.Cur = value
		}
		if !hard && !soft || hard {
			now.Max = value
		}
		if now.Cur > now.Max {
			s.complain("ulimit", "%s: cannot modify limit: %s", l.text, errText(syscall.EINVAL))
			return 1
		}
		limits := map[int]syscall.Rlimit{l.resource: now}
		for r, lim := range s.limits {
			if r != l.resource {
				limits[r] = lim
			}
		}
		s.limits = limits
	}
	return 0
}

// rlimit returns the limit that the shell's next program gets.
func (s *shell) rlimit(resource int) syscall.Rlimit {
	if l, ok := s.limits[resource]; ok {
		return l
	}
	var l syscall.Rlimit
	if resource == syscall.RLIMIT_NOFILE {
		// The runtime raises this one for itself and lowers it again for programs.
		return inheritedFiles()
	}
	syscall.Getrlimit(resource, &l)
	return l
}

func (s *shell) limitText(l limit, hard bool) string {
	if l.resource < 0 {
		return strconv.FormatUint(l.scale, 10)
	}
	lim := s.rlimit(l.resource)
	n := lim.Cur
	if hard {
		n = lim.Max
	}
	if n == infinity || n == 1<<63-1 {
		return "unlimited"
	}
	return strconv.FormatUint(n/l.scale, 10)
}
