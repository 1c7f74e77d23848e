/* A spy stands in the place of a program. It writes down where it was started and with
 * which words, and then becomes the real program, if there is one.
 *
 * Called "limit" it writes nothing: it bounds what follows and becomes that.
 *
 * A record is: its length in four bytes, the folder, the spy's own path, and the words,
 * each with a NUL behind it. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { room = 1 << 20 };

static char record[room];
static size_t used = sizeof(uint32_t);

static void add(const char *text) {
	size_t n = strlen(text) + 1;
	if (used + n > room)
		_exit(99);
	memcpy(record + used, text, n);
	used += n;
}

static void bound(int what, rlim_t most) {
	struct rlimit r = {most, most};
	if (setrlimit(what, &r) != 0)
		_exit(98);
}

static void limit(char **argv) {
	bound(RLIMIT_AS, 1 << 28);
	bound(RLIMIT_FSIZE, 1 << 22);
	bound(RLIMIT_CPU, 10);
	bound(RLIMIT_NPROC, 200);
	bound(RLIMIT_CORE, 0);
	execv(argv[1], argv + 1);
	_exit(97);
}

int main(int argc, char **argv) {
	char self[4096], folder[4096], real[4200];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n < 0)
		_exit(96);
	self[n] = 0;
	const char *name = strrchr(self, '/') + 1;
	if (strcmp(name, "limit") == 0)
		limit(argv);

	add(getcwd(folder, sizeof folder) ? folder : "?");
	add(self);
	for (int i = 0; i < argc; i++)
		add(argv[i]);
	uint32_t length = used - sizeof length;
	memcpy(record, &length, sizeof length);
	int log = open("/w/log/spies", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (log < 0 || write(log, record, used) != (ssize_t)used)
		_exit(95);
	close(log);

	snprintf(real, sizeof real, "/w/real/%s", name);
	execv(real, argv);
	return 0;
}
