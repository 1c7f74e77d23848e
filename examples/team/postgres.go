package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// startPostgres starts a database server in a folder of its own, which only it can enter and where its socket is. It
// listens on no port. It returns how to reach it.
func (s *stage) startPostgres() (dsn string) {
	bin, err := postgresPrograms()
	must(err)
	as, err := ordinaryUser()
	must(err)
	dir := s.path("postgres")
	must(os.Mkdir(dir, 0o700))
	if as != nil {
		must(os.Chown(dir, int(as.Uid), int(as.Gid)))
	}
	run := func(name string, args ...string) error {
		c := exec.Command(filepath.Join(bin, name), args...)
		c.Dir, c.Env = dir, append(os.Environ(), "LC_ALL=C.UTF-8", "TZ=UTC")
		c.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setsid: true} // an interrupt is for the demo, which ends it
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		return nil
	}
	data := filepath.Join(dir, "data")
	must(run("initdb", "-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"))
	s.ending(func() { _ = run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop") })
	// What is here is thrown away in a minute, so that nothing needs to reach the disk.
	must(run("pg_ctl", "-D", data, "-l", filepath.Join(dir, "log"), "-w", "-o",
		"-c listen_addresses= -c unix_socket_directories="+dir+" -c fsync=off -c full_page_writes=off", "start"))
	return "host=" + dir + " user=postgres dbname=postgres sslmode=disable"
}

// postgresPrograms finds the folder of PostgreSQL's programs. Debian keeps them off the PATH.
func postgresPrograms() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	file, err := exec.LookPath("initdb")
	if err != nil {
		return "", errors.New("PostgreSQL is not installed: there is no initdb in /usr/lib/postgresql/*/bin or on the PATH; " +
			"on Debian: apt install postgresql")
	}
	if file, err = filepath.EvalSymlinks(file); err != nil {
		return "", err
	}
	return filepath.Dir(file), nil
}

// ordinaryUser is who runs PostgreSQL, which refuses to run as root; nil for who runs the demo.
func ordinaryUser() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		who, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(who.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, cmp.Or(err, err2)
}
