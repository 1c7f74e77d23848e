// A disk that is slow while a file exists: loaded into PostgreSQL with LD_PRELOAD, it delays what brings data to the disk,
// each time by something between SLOW_DISK_LEAST and SLOW_DISK_MOST milliseconds. The file is SLOW_DISK_WHILE.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(void) {
	const char *file = getenv("SLOW_DISK_WHILE"), *least = getenv("SLOW_DISK_LEAST"), *most = getenv("SLOW_DISK_MOST");
	if (!file || !least || !most || access(file, F_OK) != 0)
		return;
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	unsigned seed = t.tv_nsec ^ getpid();
	long ms = atol(least) + rand_r(&seed) % (atol(most) - atol(least) + 1);
	t.tv_sec = ms / 1000;
	t.tv_nsec = ms % 1000 * 1000000;
	while (nanosleep(&t, &t) != 0) // a signal of PostgreSQL interrupts it
		;
}

int fsync(int fd) {
	wait_for_disk();
	return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}

int fdatasync(int fd) {
	wait_for_disk();
	return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}

int sync_file_range(int fd, off64_t offset, off64_t count, unsigned flags) {
	wait_for_disk();
	return ((int (*)(int, off64_t, off64_t, unsigned))dlsym(RTLD_NEXT, "sync_file_range"))(fd, offset, count, flags);
}
