package keeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/staged"
	"github.com/assent-dev/assent/internal/notify"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool"
)

// An Order says whose commands are kept.
type Order struct {
	Places setup.Places
	// Key names the keeper: see [staged.Place].
	Key     string
	Session string // of the agent
	Project string
	// Name is that of the agent.
	Name string
	// Agent is the process of the agent, with which the keeper ends; 0 if it is not known.
	Agent int
	// Settings are files of agents that no command may change. SettingNames are those that the
	// tools change nowhere.
	Settings     []sandbox.Entry
	SettingNames []string
}

// idle is how long a keeper stays of which nothing is asked and in which nothing runs.
const idle = 30 * time.Minute

// first is how long a connection may take for its first message.
const first = 10 * time.Second

// ErrNoSandbox says that nothing holds commands here.
var ErrNoSandbox = errors.New("no sandbox for commands works here")

// A keeper is one that runs.
type keeper struct {
	Order
	base  *open.Base
	box   *toolbox.Box
	gate  *tool.Gate
	calls calls
	// shell is the tool for commands.
	shell   tool.Tool
	stamp   []string // of the files that hold
	refused refusals
	busy    atomic.Int64  // connections that are open
	heard   chan struct{} // something was asked
}

// Serve keeps the commands of a session until its agent ends, or ctx does. Ready is called once
// hooks can reach it.
func Serve(ctx context.Context, o Order, ready func()) (err error) {
	folder := staged.Place(o.Places.State, o.Key)
	lock, err := staged.Lock(folder)
	if err != nil {
		return err
	}
	defer lock.Close()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if err := endWith(o.Agent, func() { end(errors.New("the agent has ended")) }); err != nil {
		return err
	}
	k := &keeper{Order: o, heard: make(chan struct{}, 1)}
	k.calls.key = o.Key
	if err := k.open(ctx); err != nil {
		return errors.Join(err, k.close())
	}
	l, err := staged.Listen(folder)
	if err != nil {
		return errors.Join(err, k.close())
	}
	defer context.AfterFunc(ctx, func() { l.Close() })()
	go k.watch(ctx, end)
	ready()
	staged.Tidy(o.Places.State)
	var all sync.WaitGroup
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			break // it is over
		}
		all.Go(func() { k.serve(ctx, conn, end) })
	}
	l.Close()
	end(errors.New("the keeper ends"))
	all.Wait()
	return errors.Join(k.close(), staged.Remove(folder))
}

// resolve reads the files that hold.
func (k *keeper) resolve(ctx context.Context) (*setup.Setup, error) {
	return setup.Resolve(ctx, setup.Order{
		Places: k.Places, Dir: k.Project, Default: true, Settings: k.Settings, SettingNames: k.SettingNames,
	})
}

// open opens what a run of our own has.
func (k *keeper) open(ctx context.Context) error {
	s, err := k.resolve(ctx)
	if err != nil {
		return err
	}
	k.stamp = s.Stamp()
	if !s.HasShell {
		return errors.New("the policy gives agents no shell; add a shell section to it")
	}
	order := open.Order{Use: open.Run, Steps: true, Session: k.Session, Folder: k.Project, Agent: k.Name}
	if k.base, err = open.Open(ctx, s, order); err != nil {
		return err
	}
	if k.base.Sandbox.Missing() {
		return fmt.Errorf("%w: %s", ErrNoSandbox, k.base.Sandbox.Cause())
	}
	tmp := filepath.Join(staged.Place(k.Places.State, k.Key), staged.TmpName)
	if err := errors.Join(os.MkdirAll(tmp, 0o700), os.Chmod(tmp, 0o777|os.ModeSticky)); err != nil {
		return err
	}
	if k.box, err = k.base.Box(k.base.Configuration, open.Tools{Tmp: tmp}); err != nil {
		return err
	}
	i := slices.IndexFunc(k.box.Tools, func(t tool.Tool) bool {
		return t.Spec().Connector == "" && t.Spec().Name == policy.ActShell
	})
	if i < 0 {
		return errors.New("the tools section of the policy takes the shell away from agents")
	}
	cfg := k.base.Gate(k.base.InForce())
	tell := notify.Options{Command: k.base.Person.Notify, After: k.base.Person.NotifyAfter}
	cfg.Approver = inbox{k.base.Store, notify.Around(approval.Queue(k.base.Store), tell)}
	cfg.Recorder = agents.Recorder{
		DetailRecorder: k.base.Store, Add: func(ctx context.Context, e *approval.Event) { e.Folder = askedIn(ctx).folder },
	}
	k.shell = command{k.box.Tools[i]}
	k.gate, err = tool.Guard(cfg, k.shell)
	return err
}

func (k *keeper) close() error {
	for _, one := range k.calls.end() {
		k.expire(one.batch, "the agent's session ended before it ran")
	}
	var errs []error
	if k.gate != nil {
		k.gate.Close()
	}
	if k.box != nil {
		errs = append(errs, k.box.Close())
	}
	if k.base != nil {
		errs = append(errs, k.base.Close())
	}
	return errors.Join(errs...)
}

// watch ends a keeper of which nothing was asked for long.
func (k *keeper) watch(ctx context.Context, end context.CancelCauseFunc) {
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.heard:
			timer.Reset(idle)
		case <-timer.C:
			if k.busy.Load() == 0 && !k.box.Lingers() && !k.calls.wait() {
				end(errors.New("nothing was asked for long"))
				return
			}
			timer.Reset(idle)
		}
	}
}

// serve answers one connection: of a hook, or of a command.
func (k *keeper) serve(ctx context.Context, conn *net.UnixConn, end context.CancelCauseFunc) {
	k.busy.Add(1)
	defer k.busy.Add(-1)
	defer conn.Close()
	select {
	case k.heard <- struct{}{}:
	default:
	}
	answer := func(m staged.Message) { _ = staged.Write(conn, m) } // nobody waits any more
	defer func() {
		if r := recover(); r != nil {
			answer(staged.Message{Error: fmt.Sprintf("it panicked: %v", r)})
		}
	}()
	// Who says nothing does not keep it from ending.
	_ = conn.SetReadDeadline(time.Now().Add(first))
	heard := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })
	m, output, err := receive(conn)
	if heard() {
		_ = conn.SetReadDeadline(time.Time{})
	}
	defer output.close()
	if err != nil {
		answer(staged.Message{Error: err.Error()})
		return
	}
	ctx, hangUp := context.WithCancelCause(ctx)
	defer hangUp(nil)
	signals := make(chan syscall.Signal, 8)
	go listen(conn, signals, hangUp)
	switch {
	case m.Ask != nil:
		verdict, err := k.judge(ctx, *m.Ask)
		if err != nil {
			answer(staged.Message{Error: err.Error()})
			return
		}
		answer(staged.Message{Verdict: &verdict})
	case m.Run != "":
		answer(k.run(ctx, m.Run, output, signals))
	case m.Folder != "":
		dir, err := k.calls.folder(m.Folder)
		if err != nil {
			answer(staged.Message{Error: err.Error()})
			return
		}
		answer(staged.Message{Folder: dir})
	case m.Leave:
		answer(staged.Message{Leave: true})
		end(errors.New("the agent's session has ended"))
	default:
		answer(staged.Message{Error: "nothing was asked"})
	}
}

// listen hears what the other side says later: signals, and that it has gone.
func listen(conn io.Reader, signals chan<- syscall.Signal, hangUp context.CancelCauseFunc) {
	for {
		m, err := staged.Read(conn)
		if err != nil {
			hangUp(errors.New("the process that asked has ended"))
			return
		}
		if m.Signal > 0 {
			select {
			case signals <- syscall.Signal(m.Signal):
			default: // there are many on the way already
			}
		}
	}
}

// An output is where a command prints to: files of the process that the agent started.
type output struct{ stdout, stderr *os.File }

func (o output) close() {
	if o.stdout != nil {
		o.stdout.Close()
	}
	if o.stderr != nil && o.stderr != o.stdout {
		o.stderr.Close()
	}
}

func sameFile(a, b *os.File) bool {
	one, err := a.Stat()
	if err != nil {
		return false
	}
	two, err := b.Stat()
	return err == nil && os.SameFile(one, two)
}

// receive reads the first message of a connection. It must be from this user.
func receive(conn *net.UnixConn) (m staged.Message, out output, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return m, out, err
	}
	if err := ownPeer(raw); err != nil {
		return m, out, err
	}
	r := &rightsReader{conn: conn}
	m, err = staged.Read(r)
	files := r.files()
	if err == nil && m.Version != staged.Version {
		err = fmt.Errorf("it speaks version %d, and this program version %d: they were not built together", m.Version,
			staged.Version)
	}
	if err == nil && m.Run != "" && len(files) != 2 {
		err = errors.New("the command has no output to print to")
	}
	if err != nil || m.Run == "" {
		for _, f := range files {
			f.Close()
		}
		return m, out, err
	}
	out = output{files[0], files[1]}
	if sameFile(out.stdout, out.stderr) {
		out.stderr.Close()
		out.stderr = out.stdout // so that what is printed keeps its order
	}
	return m, out, nil
}

// A rightsReader reads from a connection, and keeps the descriptors that come with it.
type rightsReader struct {
	conn *net.UnixConn
	fds  []int
}

// Read implements [io.Reader].
func (r *rightsReader) Read(p []byte) (int, error) {
	control := make([]byte, unix.CmsgSpace(8*4))
	n, received, _, _, err := r.conn.ReadMsgUnix(p, control)
	if messages, parseErr := unix.ParseSocketControlMessage(control[:received]); parseErr == nil {
		for i := range messages {
			if fds, err := unix.ParseUnixRights(&messages[i]); err == nil {
				for _, fd := range fds {
					unix.CloseOnExec(fd)
				}
				r.fds = append(r.fds, fds...)
			}
		}
	}
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

func (r *rightsReader) files() (out []*os.File) {
	for _, fd := range r.fds {
		out = append(out, os.NewFile(uintptr(fd), "output"))
	}
	return out
}
