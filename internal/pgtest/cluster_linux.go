package pgtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// A cluster is one server with its folder: data, socket, log.
type cluster struct {
	bin      string // where initdb and postgres are
	dir      string
	own      bool // belongs to one test
	port     int  // on loopback; 0 if it does not listen there
	password string
	settings map[string]string
	env      []string            // of the server, besides ours
	as       *syscall.Credential // nil: as ourselves
	watcher  io.Closer           // closed, or gone with us: the server ends and its folder goes

	mu      sync.Mutex
	process *exec.Cmd     // nil if it does not run
	ended   chan struct{} // closed when process was waited for
}

// anyPort names the socket's file of a server that listens on no port.
const anyPort = 5432

func newCluster(o Options) (_ *cluster, err error) {
	c := &cluster{env: o.Env, settings: map[string]string{
		"listen_addresses": "", "max_connections": "200", "shared_buffers": "64MB",
		"timezone": "UTC", "log_checkpoints": "off",
	}}
	if c.bin, err = binaries(); err != nil {
		return nil, err
	}
	if c.as, err = ordinary(); err != nil {
		return nil, err
	}
	if c.dir, err = os.MkdirTemp(o.Dir, "pgtest-"); err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	if c.as != nil {
		if err := os.Chown(c.dir, int(c.as.Uid), int(c.as.Gid)); err != nil {
			return nil, fmt.Errorf("pgtest: %w", err)
		}
	}
	c.settings["unix_socket_directories"] = c.dir
	if !o.Durable {
		c.settings["fsync"], c.settings["full_page_writes"] = "off", "off"
	}
	if o.Loopback {
		if c.port, err = freePort(); err != nil {
			return nil, fmt.Errorf("pgtest: %w", err)
		}
		c.settings["listen_addresses"] = "127.0.0.1"
	}
	c.settings["port"] = strconv.Itoa(cmp.Or(c.port, anyPort))
	maps.Copy(c.settings, o.Settings)
	if err := c.watch(); err != nil {
		return nil, err
	}
	return c, c.init()
}

// binaries finds PostgreSQL's programs: Debian keeps them off the PATH.
func binaries() (string, error) {
	if folder := os.Getenv("ASSENT_POSTGRES_BIN"); folder != "" {
		return folder, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) })), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errors.New("pgtest: there is no initdb in /usr/lib/postgresql/*/bin or on the PATH; scripts/need.sh all installs PostgreSQL")
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", fmt.Errorf("pgtest: %w", err)
	}
	return filepath.Dir(path), nil
}

// version is the number in /usr/lib/postgresql/15/bin/initdb.
func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// ordinary is who runs the server: PostgreSQL refuses to run as root.
func ordinary() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		who, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("pgtest: PostgreSQL does not run as root, and there is no other user: %w", err)
	}
	uid, uidErr := strconv.ParseUint(who.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(who.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// command is one of PostgreSQL's programs, or a shell, as the server's user.
func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = c.dir
	// A group of its own: an interrupt at the terminal ends the tests, and they end the server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as, Setpgid: true}
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TZ=UTC")
	return cmd
}

// watch starts a shell that outlives us, whichever way we end: it reads from a pipe that only
// we hold open, and then ends the server and removes its folder.
func (c *cluster) watch() error {
	watcher := c.command("/bin/sh", "-c", `cat >/dev/null; "$1/pg_ctl" -D "$2/data" -m immediate -w stop; cd /; rm -rf "$2"`,
		"sh", c.bin, c.dir)
	hold, err := watcher.StdinPipe()
	if err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	if err := watcher.Start(); err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	c.watcher = waiting{hold, watcher}
	return nil
}

// waiting closes a program's input and waits until the program has ended.
type waiting struct {
	input io.Closer
	cmd   *exec.Cmd
}

func (w waiting) Close() error { return errors.Join(w.input.Close(), w.cmd.Wait()) }

// init makes the data folder.
func (c *cluster) init() error {
	c.password = rand.Text()
	secret := filepath.Join(c.dir, "password")
	if err := os.WriteFile(secret, []byte(c.password+"\n"), 0o600); err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	if c.as != nil {
		if err := os.Chown(secret, int(c.as.Uid), int(c.as.Gid)); err != nil {
			return fmt.Errorf("pgtest: %w", err)
		}
	}
	// Trust is for the socket alone, in a folder that nobody else enters.
	initdb := c.command(filepath.Join(c.bin, "initdb"), "-D", filepath.Join(c.dir, "data"), "-U", superuser,
		"--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile="+secret,
		"--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: initdb: %w\n%s", err, out)
	}
	return nil
}

// start runs the server and returns when it answers.
func (c *cluster) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	defer func() { _ = log.Close() }()
	args := []string{"-D", filepath.Join(c.dir, "data")}
	for _, name := range slices.Sorted(maps.Keys(c.settings)) {
		args = append(args, "-c", name+"="+c.settings[name])
	}
	process := c.command(filepath.Join(c.bin, "postgres"), args...)
	process.Env = append(process.Env, c.env...)
	process.Stdout, process.Stderr = log, log
	if err := process.Start(); err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = process.Wait()
		close(ended)
	}()
	c.process, c.ended = process, ended
	return until(patience, func() error { return c.ping(ended) })
}

// ping connects once.
func (c *cluster) ping(ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.dsn("postgres"))
	if err == nil {
		return conn.Close(ctx)
	}
	select {
	case <-ended:
		text, _ := os.ReadFile(filepath.Join(c.dir, "log"))
		return fmt.Errorf("pgtest: the server ended: %s", text)
	default:
		return fmt.Errorf("pgtest: the server does not answer: %w", err)
	}
}

// kill ends all processes of the server and returns when they are gone: a server does not
// start while a process of the one before still holds its memory.
func (c *cluster) kill() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return nil
	}
	pid := c.process.Process.Pid
	// Stopped first, so that it starts no further process while we read which there are.
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	children, err := childrenOf(pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	if err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	for _, child := range children {
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	<-c.ended
	c.process = nil
	return until(patience, func() error {
		for _, child := range children {
			if alive(child) {
				return fmt.Errorf("pgtest: process %d of the server does not end", child)
			}
		}
		return nil
	})
}

// childrenOf are the processes that the one with this pid started.
func childrenOf(pid int) ([]int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // it ended already
	}
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, field := range strings.Fields(string(text)) {
		child, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		pids = append(pids, child)
	}
	return pids, nil
}

// alive reports whether a process still holds anything: a dead one that nobody waited for
// holds nothing.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// end ends the server and removes its folder.
func (c *cluster) end() {
	_ = c.kill()
	_ = c.watcher.Close()
	_ = os.RemoveAll(c.dir) // in a folder that the server's user may not write in, its last name is left
}
