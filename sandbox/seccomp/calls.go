package seccomp

// A number is a system call's number on each architecture; none where it has no such call.
type number struct{ amd64, arm64 int }

const none = -1

// everywhere is a call that was added after the tables were made one.
func everywhere(n int) number { return number{n, n} }

// denied are the calls that fail, whatever their arguments: nothing that a tool is for
// needs them, and each has been, or leads to, a way out.
var denied = map[string]number{
	// Other processes.
	"ptrace":            {101, 117},
	"process_vm_readv":  {310, 270},
	"process_vm_writev": {311, 271},
	"process_madvise":   everywhere(440),
	"kcmp":              {312, 272},
	"pidfd_getfd":       everywhere(438),

	// Mounts and namespaces.
	"mount":             {165, 40},
	"umount2":           {166, 39},
	"pivot_root":        {155, 41},
	"chroot":            {161, 51},
	"open_tree":         everywhere(428),
	"open_tree_attr":    everywhere(467),
	"move_mount":        everywhere(429),
	"fsopen":            everywhere(430),
	"fsconfig":          everywhere(431),
	"fsmount":           everywhere(432),
	"fspick":            everywhere(433),
	"mount_setattr":     everywhere(442),
	"setns":             {308, 268},
	"open_by_handle_at": {304, 265},
	"name_to_handle_at": {303, 264},

	// Calls that open files and sockets past this filter.
	"io_uring_setup":    everywhere(425),
	"io_uring_enter":    everywhere(426),
	"io_uring_register": everywhere(427),

	// The kernel's keys, programs, modules and counters.
	"add_key":         {248, 217},
	"request_key":     {249, 218},
	"keyctl":          {250, 219},
	"bpf":             {321, 280},
	"perf_event_open": {298, 241},
	"userfaultfd":     {323, 282},
	"fanotify_init":   {300, 262},
	"lookup_dcookie":  {212, 18},
	"init_module":     {175, 105},
	"finit_module":    {313, 273},
	"delete_module":   {176, 106},
	"kexec_load":      {246, 104},
	"kexec_file_load": {320, 294},
	"syslog":          {103, 116},

	// The machine.
	"reboot":        {169, 142},
	"swapon":        {167, 224},
	"swapoff":       {168, 225},
	"acct":          {163, 89},
	"quotactl":      {179, 60},
	"quotactl_fd":   everywhere(443),
	"settimeofday":  {164, 170},
	"clock_settime": {227, 112},
	"clock_adjtime": {305, 266},
	"adjtimex":      {159, 171},
	"sethostname":   {170, 161},
	"setdomainname": {171, 162},
	"vhangup":       {153, 58},
	"nfsservctl":    {180, 42},
	"iopl":          {172, none},
	"ioperm":        {173, none},
	"modify_ldt":    {154, none},
	"uselib":        {134, none},
	"ustat":         {136, none},
	"sysfs":         {139, none},
	"_sysctl":       {156, none},
}

// absent are the calls whose arguments cannot be seen. Programs try older ones instead.
var absent = map[string]number{
	"clone3":  everywhere(435),
	"openat2": everywhere(437),
}

// The calls that depend on their arguments.
var (
	clone       = number{56, 220}
	socket      = number{41, 198}
	socketpair  = number{53, 199}
	ioctl       = number{16, 29}
	personality = number{135, 92}
	unshare     = number{272, 97}
)

// A moded call gives a file a mode: the argument that has it, and the one with the flags
// that say whether it counts (none if it always does).
type moded struct {
	number
	mode, flags int
}

var modes = []moded{
	{number{90, none}, 1, none},  // chmod
	{number{91, 52}, 1, none},    // fchmod
	{number{268, 53}, 2, none},   // fchmodat
	{everywhere(452), 2, none},   // fchmodat2
	{number{85, none}, 1, none},  // creat
	{number{133, none}, 1, none}, // mknod
	{number{259, 33}, 2, none},   // mknodat
	{number{2, none}, 2, 1},      // open
	{number{257, 56}, 3, 2},      // openat
}
