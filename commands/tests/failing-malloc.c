/* failing-malloc.c - a library to preload: one allocation of the process fails.
 *
 * It stands between a command and the C library, so that nothing of the command knows of it and
 * what the C library allocates for itself (streams, names, threads) fails as well.
 * FAILING_MALLOC names a file of two 64-bit numbers, which is mapped: first the number of the
 * allocation that is to fail, from 1 (0: none); then what is counted. What happened is there
 * even after a crash.
 *
 * Counted is what the process asks for from the beginning of main on, on all its threads.
 * Processes it starts are let alone: the library takes itself out of the environment, and a
 * forked process is known by its id.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct record {
  uint64_t fail_at;
  _Atomic uint64_t count;
};

static struct record *record; /* NULL: nothing is counted yet */
static pid_t counted;

/* Whether this allocation is the one. */
static bool failing_malloc_fails(void) {
  if (!record || getpid() != counted) return false;
  if (atomic_fetch_add(&record->count, 1) + 1 != record->fail_at) return false;
  if (getenv("FAILING_MALLOC_TRAP")) __builtin_trap(); /* for a debugger: who asked? */
  errno = ENOMEM;
  return true;
}

/* The C library's own, under the names it has for those who replace them. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t bytes) {
  return failing_malloc_fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  return failing_malloc_fails() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes) {
  return failing_malloc_fails() ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  return failing_malloc_fails() ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes) {
  void *p = failing_malloc_fails() ? NULL : __libc_memalign(alignment, bytes);
  if (p) *block = p;
  return p ? 0 : ENOMEM;
}

/* Address space, and leave to use it; what the C library maps for itself does not come here. */
void *mmap(void *at, size_t bytes, int allowed, int flags, int fd, off_t offset) {
  if (failing_malloc_fails()) return MAP_FAILED;
  return (void *)syscall(SYS_mmap, at, bytes, allowed, flags, fd, offset);
}

int mprotect(void *at, size_t bytes, int allowed) {
  return failing_malloc_fails() ? -1 : (int)syscall(SYS_mprotect, at, bytes, allowed);
}

/* ---- main ---- */

typedef int main_function(int argc, char **argv, char **envp);
typedef int start_function(main_function *, int argc, char **argv, void (*init)(void),
                           void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

static main_function *commands_main;

static void failing_malloc_begin(void) {
  const char *file = getenv("FAILING_MALLOC");
  const int fd = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) _exit(127);
  void *p = mmap(NULL, sizeof *record, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (p == MAP_FAILED) _exit(127);
  unsetenv("LD_PRELOAD");
  unsetenv("FAILING_MALLOC");
  counted = getpid();
  record = p;
}

static int counted_main(int argc, char **argv, char **envp) {
  failing_malloc_begin();
  return commands_main(argc, argv, envp);
}

/* Called before main, which is among its arguments. */
int __libc_start_main(main_function *, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
  start_function *start;
  *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
  commands_main = main;
  return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
