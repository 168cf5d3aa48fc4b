/* compile.c - see compile.h. */
#include "cvl-cpu/compile.h"

#include "base/cache.h"
#include "base/sha256.h"
#include "cvl-cpu/ahead.h"
#include "cvl-cpu/child.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Compilations: the program wants the processors too. */
enum { MOST_AT_ONCE = 2, MOST_UNASKED = 1 };

struct compile_cache {
  pthread_mutex_t lock; /* of all that changes, here and in all codes */
  struct heap *heap;
  struct compiled_code *codes; /* those that are not compiled ahead of time */
  struct cvl_stop stop;        /* ends waits for compilers */
  struct cvl_speaker say;
  struct ahead *ahead; /* what was compiled ahead of time, or NULL */
  bool compiles;       /* the rest */
  bool waits, when_it_pays;
  unsigned compiling;
  bool identified;              /* whether it was tried */
  bool found;                   /* there is a compiler */
  struct sha256_state identity; /* of compiler, flags and processor */
  int directory;                /* as it was opened and checked; -1: not yet */
  bool given_up;                /* nothing more is compiled */
  char compiler[PATH_MAX];
  char path[];
};

enum state { WAITING, COMPILING, READY, FAILED };

struct compiled_code {
  struct compile_cache *cache;
  struct compiled_code *next; /* in cache->codes */
  uint32_t references;
  enum state state;
  pid_t process;
  int scratch; /* COMPILING: the directory the compiler writes into */
  char scratch_name[NAME_MAX + 1];
  void *library;
  char names[FUSED_NAME_MAX];    /* what they begin with in cache->ahead; or empty */
  char name[SHA256_DIGITS + 16]; /* of its file in the cache */
  size_t length;
  char source[];
};

static const char *const flags[] = {FUSED_C_FLAGS, "-march=native",
#ifdef __x86_64__
                                    "-mprefer-vector-width=512",
#endif
                                    "-x", "c"};
enum { FLAGS = sizeof flags / sizeof *flags };

/* ---- names ---- */

static const char prefix[] = "ravel-", suffix[] = ".so", object[] = "object";

/* An object says by this symbol which name it is to have, and so which source it was made of.
 */
#define MADE_FOR_SYMBOL "ravel_made_for"

/* The processor's name and abilities, as Linux lists them. */
static void add_processor(struct sha256_state *identity) {
  FILE *f = fopen("/proc/cpuinfo", "re");
  if (!f) return;
  char line[8192];
  while (fgets(line, sizeof line, f) && line[0] != '\n') { /* of the first processor */
    if (strncmp(line, "model name", 10) == 0 || strncmp(line, "flags", 5) == 0 ||
        strncmp(line, "Features", 8) == 0) {
      sha256_add(identity, line, strlen(line));
    }
  }
  fclose(f);
}

/* The first `cc` on the path; it runs in another directory, so that only absolute ones count.
 */
static bool find_compiler(char *to, struct stat *found) {
  const char *path = getenv("PATH");
  while (path && *path) {
    const size_t n = strcspn(path, ":");
    const int length = snprintf(to, PATH_MAX, "%.*s/cc", (int)n, path);
    if (path[0] == '/' && length < PATH_MAX && access(to, X_OK) == 0 && stat(to, found) == 0)
      return true;
    path += n + (path[n] == ':');
  }
  return false;
}

static void name_file(struct compiled_code *code) {
  struct sha256_state state = code->cache->identity;
  uint8_t digest[SHA256_BYTES];
  char digits[SHA256_DIGITS + 1];
  sha256_add(&state, code->source, code->length);
  sha256_end(&state, digest);
  sha256_show(digest, digits);
  snprintf(code->name, sizeof code->name, "%s%s%s", prefix, digits, suffix);
}

/* ---- the cache ---- */

/* Compiles nothing more, and reports why. */
static void complain(struct compile_cache *c, const char *why) {
  char line[CACHE_WHY + 64];
  snprintf(line, sizeof line, "superoperators are not compiled: %s", why);
  if (!c->given_up) cvl_say(&c->say, line);
  c->given_up = true;
}

/* The same for an error of the system: with CVL_COMPILE_WHEN_IT_PAYS nothing is reported. */
static void complain_of(struct compile_cache *c, int error) {
  char why[CACHE_WHY], text[128];
  snprintf(why, sizeof why, "%s: %s", c->path, strerror_r(error, text, sizeof text));
  if (!c->when_it_pays) complain(c, why);
  c->given_up = true;
}

/* Opens the directory unless it is open, making it and the one it is in. False if it is not
 * there, or not to be trusted. */
static bool open_directory(struct compile_cache *c, bool make) {
  char why[CACHE_WHY];
  if (c->directory >= 0 || c->given_up) return c->directory >= 0;
  const int opened = cache_open(c->path, make ? 2 : 0, why);
  if (opened >= 0) {
    c->directory = opened;
    return true;
  }
  if (opened == CACHE_NOT_THERE && !make) return false;
  if (opened == CACHE_NOT_TRUSTED || !c->when_it_pays) complain(c, why);
  c->given_up = true;
  return false;
}

struct compile_cache *compile_cache_new(struct heap *heap, const struct cvl_options *options,
                                        struct ahead *ahead) {
  const bool given = options->compile_directory && options->compile_directory[0];
  const char *directory = given ? options->compile_directory : "";
  const size_t bytes = strlen(directory) + 1;
  const bool compiles = options->compile != CVL_COMPILE_NONE && given && bytes <= PATH_MAX;
  if (!compiles && !ahead) return NULL;
  struct compile_cache *c = heap_alloc(heap, sizeof *c + bytes);
  if (!c) return NULL;
  memset(c, 0, sizeof *c);
  if (pthread_mutex_init(&c->lock, NULL) != 0) {
    heap_free(heap, c, sizeof *c + bytes);
    return NULL;
  }
  c->heap = heap;
  c->stop = options->stop;
  c->say = options->say;
  c->ahead = ahead;
  c->compiles = compiles;
  c->when_it_pays = options->compile != CVL_COMPILE_ALL;
  c->waits = options->compile_waits && !c->when_it_pays;
  c->directory = -1;
  memcpy(c->path, directory, bytes);
  return c;
}

bool compile_when_it_pays(const struct compile_cache *c) {
  return c->when_it_pays;
}

/* Whether there is a compiler; the first time, what its results depend on. */
static bool identify(struct compile_cache *c) {
  struct stat s;
  if (c->identified) return c->found;
  c->identified = true;
  c->found = find_compiler(c->compiler, &s);
  if (!c->found) return false;
  const uint64_t facts[] = {(uint64_t)s.st_dev, (uint64_t)s.st_ino, (uint64_t)s.st_size,
                            (uint64_t)s.st_mtim.tv_sec, (uint64_t)s.st_mtim.tv_nsec};
  sha256_begin(&c->identity);
  sha256_add(&c->identity, facts, sizeof facts);
  for (int i = 0; i < FLAGS; i++) {
    sha256_add(&c->identity, flags[i], strlen(flags[i]) + 1);
  }
  add_processor(&c->identity);
  return true;
}

void compile_cache_free(struct compile_cache *c) {
  if (!c) return;
  if (c->directory >= 0) close(c->directory);
  pthread_mutex_destroy(&c->lock);
  heap_free(c->heap, c, sizeof *c + strlen(c->path) + 1);
}

/* ---- compiling ---- */

/* Whether it was made of the source: not by a compiler that writes something else. */
static bool is_made_for(void *library, const struct compiled_code *code) {
  const char *name = dlsym(library, MADE_FOR_SYMBOL);
  return name && strncmp(name, code->name, sizeof code->name) == 0;
}

/* Loads the object from the cache, if it is complete. The path goes through the directory that
 * was checked. It differs for different contents, since the loader identifies objects by their
 * paths.
 */
static void load(struct compiled_code *code) {
  struct compile_cache *c = code->cache;
  char path[sizeof code->name + 64];
  uint64_t bytes;
  if (!open_directory(c, false)) return;
  const int fd = cache_find(c->directory, code->name, &bytes);
  if (fd < 0) return;
  snprintf(path, sizeof path, "/proc/self/fd/%d/%s", c->directory, code->name);
  code->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  close(fd);
  if (!code->library) return;
  if (is_made_for(code->library, code)) {
    code->state = READY;
    return;
  }
  dlclose(code->library);
  code->library = NULL;
}

static bool write_all(int fd, const char *text, size_t length) {
  for (size_t at = 0; at < length;) {
    const ssize_t n = write(fd, text + at, length - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    at += (size_t)n;
  }
  return true;
}

/* The source, with what it is for, in a file without a name; -1 and errno. */
static int open_source(const struct compiled_code *code) {
  char made[sizeof code->name + 64];
  const int fd = memfd_create("source", MFD_CLOEXEC);
  if (fd < 0) return -1;
  snprintf(made, sizeof made, "\nconst char %s[] = \"%s\";\n", MADE_FOR_SYMBOL, code->name);
  if (write_all(fd, code->source, code->length) && write_all(fd, made, strlen(made)) &&
      lseek(fd, 0, SEEK_SET) == 0)
    return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

/* Starts the compiler in the scratch directory, with the source as its input and its output
 * discarded. 0 or an errno. */
static int spawn(struct compiled_code *code, int source) {
  char *arguments[FLAGS + 6];
  int n = 0;
  arguments[n++] = code->cache->compiler;
  for (int i = 0; i < FLAGS; i++) arguments[n++] = (char *)flags[i];
  arguments[n++] = (char *)"-";
  arguments[n++] = (char *)"-o";
  arguments[n++] = (char *)object;
  arguments[n++] = (char *)"-lm";
  arguments[n] = NULL;
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  /* First the directory: its number may be that of a standard stream. */
  error = posix_spawn_file_actions_addfchdir_np(&actions, code->scratch);
  if (!error) error = posix_spawn_file_actions_adddup2(&actions, source, 0);
  for (int fd = 1; fd < 3 && !error; fd++) {
    error = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  if (!error) {
    error = child_start(&code->process, code->cache->compiler, &actions, arguments,
                        !code->cache->waits);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

static void start(struct compiled_code *code) {
  struct compile_cache *c = code->cache;
  code->state = FAILED;
  if (!open_directory(c, true)) return;
  code->scratch = cache_begin_scratch(c->directory, code->name, code->scratch_name,
                                      sizeof code->scratch_name);
  if (code->scratch < 0) {
    complain_of(c, errno);
    return;
  }
  const int source = open_source(code);
  int error = source < 0 ? errno : spawn(code, source);
  if (source >= 0) close(source);
  if (error) {
    cache_end_scratch(c->directory, code->scratch, code->scratch_name);
    return;
  }
  code->state = COMPILING;
  c->compiling++;
}

/* The file that the compiler wrote, to be freed from the heap; NULL: none, or no memory. */
static char *read_object(const struct compiled_code *code, size_t *bytes) {
  struct stat s;
  const int fd = openat(code->scratch, object, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return NULL;
  char *data = NULL;
  size_t at = 0;
  if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0) {
    *bytes = (size_t)s.st_size;
    data = heap_alloc(code->cache->heap, *bytes);
  }
  while (data && at < *bytes) {
    const ssize_t n = read(fd, data + at, *bytes - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    at += (size_t)n;
  }
  close(fd);
  if (!data || at == *bytes) return data;
  heap_free(code->cache->heap, data, *bytes);
  return NULL;
}

/* Stores the compiler's output in the cache, and loads it; it does not stay there if it is not
 * what it should be. */
static void keep(struct compiled_code *code) {
  struct compile_cache *c = code->cache;
  size_t bytes = 0;
  char *data = read_object(code, &bytes);
  if (!data) return;
  const int error = cache_keep(c->directory, code->name, data, bytes);
  heap_free(c->heap, data, bytes);
  if (error) {
    complain_of(c, error);
  } else {
    cache_make_room(c->directory, prefix, suffix, CACHE_MOST_BYTES);
    load(code);
    if (code->state != READY) cache_remove(c->directory, code->name);
  }
}

/* After the compiler has ended. */
static void finish(struct compiled_code *code, bool succeeded) {
  code->cache->compiling--;
  code->state = FAILED;
  if (succeeded) keep(code);
  cache_end_scratch(code->cache->directory, code->scratch, code->scratch_name);
}

static void look(struct compiled_code *code, bool wait) {
  int status = 0;
  const bool ended = wait ? child_await(code->process, code->cache->stop, &status)
                          : child_ended(code->process, &status);
  if (ended) finish(code, WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool asked_to_end(const struct compile_cache *c) {
  return c->stop.asks && c->stop.asks(c->stop.with);
}

/* ---- the interface: one thread at a time ---- */

static void lock(const struct compiled_code *code) {
  pthread_mutex_lock(&code->cache->lock);
}

static void unlock(const struct compiled_code *code) {
  pthread_mutex_unlock(&code->cache->lock);
}

static void free_code(struct compiled_code *code) {
  heap_free(code->cache->heap, code, sizeof *code + code->length);
}

/* Another code of the same source, which is used instead; or this one, from now on. */
static struct compiled_code *join(struct compiled_code *code) {
  struct compile_cache *cache = code->cache;
  name_file(code);
  for (struct compiled_code *other = cache->codes; other; other = other->next) {
    if (strcmp(other->name, code->name) != 0) continue;
    free_code(code);
    other->references++;
    return other;
  }
  code->next = cache->codes;
  cache->codes = code;
  load(code);
  return code;
}

static struct compiled_code *new_code(struct compile_cache *cache, const char *source,
                                      size_t length) {
  char names[FUSED_NAME_MAX] = "";
  const bool ahead = cache->ahead && ahead_find(cache->ahead, source, length, names);
  if (!ahead && !(cache->compiles && identify(cache))) return NULL;
  struct compiled_code *code = heap_alloc(cache->heap, sizeof *code + length);
  if (!code) return NULL;
  *code = (struct compiled_code){.cache = cache, .references = 1, .length = length};
  memcpy(code->source, source, length);
  if (!ahead) return join(code);
  code->state = READY;
  strcpy(code->names, names);
  return code;
}

struct compiled_code *compile_source(struct compile_cache *cache, const char *source,
                                     size_t length) {
  pthread_mutex_lock(&cache->lock);
  struct compiled_code *code = new_code(cache, source, length);
  pthread_mutex_unlock(&cache->lock);
  return code;
}

struct compiled_code *compiled_retain(struct compiled_code *code) {
  lock(code);
  code->references++;
  unlock(code);
  return code;
}

static bool is_in(const struct compiled_code *code, enum state state) {
  lock(code);
  const bool is = code->state == state;
  unlock(code);
  return is;
}

bool compiled_cached(const struct compiled_code *code) {
  return is_in(code, READY);
}

bool compiled_failed(const struct compiled_code *code) {
  return is_in(code, FAILED);
}

bool compiled_ready(struct compiled_code *code) {
  lock(code);
  const struct compile_cache *cache = code->cache;
  const unsigned most = cache->when_it_pays ? MOST_UNASKED : MOST_AT_ONCE;
  if (code->state == WAITING && (cache->waits || cache->compiling < most) &&
      !asked_to_end(cache)) {
    start(code);
  }
  if (code->state == COMPILING) look(code, cache->waits);
  const bool ready = code->state == READY;
  unlock(code);
  return ready;
}

/* What is ready does not change any more. */
void *compiled_function(const struct compiled_code *code, const char *name) {
  if (code->names[0]) return ahead_function(code->cache->ahead, code->names, name);
  return dlsym(code->library, name);
}

static void leave(struct compiled_code *code) {
  struct compiled_code **at = &code->cache->codes;
  while (*at && *at != code) at = &(*at)->next;
  if (*at) *at = code->next;
}

void compiled_free(struct compiled_code *code) {
  if (!code) return;
  struct compile_cache *cache = code->cache;
  pthread_mutex_lock(&cache->lock);
  if (--code->references == 0) {
    leave(code);
    if (code->state == COMPILING) {
      child_end(code->process);
      finish(code, false);
    }
    if (code->library) dlclose(code->library);
    free_code(code);
  }
  pthread_mutex_unlock(&cache->lock);
}
