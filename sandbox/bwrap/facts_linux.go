package bwrap

import (
	"os"
	"strings"
)

// LookAround returns the facts of this machine.
func LookAround() Facts {
	ordinary := os.Geteuid() != 0
	return Facts{
		AppArmor:     ordinary && sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1",
		NoNamespaces: sysctl("user/max_user_namespaces") == "0" || ordinary && sysctl("kernel/unprivileged_userns_clone") == "0",
		Container:    exists("/.dockerenv") || exists("/run/.containerenv") || os.Getenv("container") != "",
	}
}

func sysctl(name string) string {
	data, _ := os.ReadFile("/proc/sys/" + name) // what is not there says nothing
	return strings.TrimSpace(string(data))
}
