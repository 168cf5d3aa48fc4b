/* native-compile.c - see native-compile.h. */
#include "cvl-cpu/native-compile.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Compilations: the program wants the processors too. */
enum { MOST_AT_ONCE = 2, MOST_UNASKED = 1 };

struct native_cache {
  struct heap *heap;
  bool waits, when_it_pays;
  unsigned compiling;
  bool identified;   /* whether it was tried */
  uint64_t identity; /* of compiler, flags and processor; 0: there is no compiler */
  char compiler[PATH_MAX];
  char directory[];
};

enum state { WAITING, COMPILING, READY, FAILED };

struct native_code {
  struct native_cache *cache;
  enum state state;
  pid_t process;
  void *library;
  uint64_t name[2];
  size_t length;
  char source[];
};

/* Floating point as everywhere in the program, or the bits would differ. */
static const char *const flags[] = {"-O3",
                                    "-march=native",
#ifdef __x86_64__
                                    "-mprefer-vector-width=512",
#endif
                                    "-ffp-contract=off",
                                    "-fno-math-errno",
                                    "-fno-trapping-math",
                                    "-std=c11",
                                    "-w",
                                    "-fPIC",
                                    "-shared",
                                    "-x",
                                    "c"};
enum { FLAGS = sizeof flags / sizeof *flags };

/* ---- names ---- */

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t n) {
  const unsigned char *x = data;
  for (size_t i = 0; i < n; i++) hash = (hash ^ x[i]) * UINT64_C(0x100000001B3);
  return hash;
}

static const uint64_t fnv_basis = UINT64_C(0xCBF29CE484222325);

/* The processor's name and abilities, as Linux lists them. */
static uint64_t hash_processor(uint64_t hash) {
  FILE *f = fopen("/proc/cpuinfo", "re");
  if (!f) return hash;
  char line[8192];
  while (fgets(line, sizeof line, f) && line[0] != '\n') { /* of the first processor */
    if (strncmp(line, "model name", 10) == 0 || strncmp(line, "flags", 5) == 0 ||
        strncmp(line, "Features", 8) == 0) {
      hash = hash_bytes(hash, line, strlen(line));
    }
  }
  fclose(f);
  return hash;
}

/* The first `cc` on the path. */
static bool find_compiler(char *to, struct stat *found) {
  const char *path = getenv("PATH");
  while (path && *path) {
    const size_t n = strcspn(path, ":");
    const int length = snprintf(to, PATH_MAX, "%.*s/cc", (int)n, path);
    if (n > 0 && length < PATH_MAX && access(to, X_OK) == 0 && stat(to, found) == 0)
      return true;
    path += n + (path[n] == ':');
  }
  return false;
}

/* The name of a file of the code in the directory, with something behind it. */
static void file_name(const struct native_code *code, const char *behind, char name[PATH_MAX]) {
  snprintf(name, PATH_MAX, "%s/ravel-%016llx%016llx%s", code->cache->directory,
           (unsigned long long)code->name[0], (unsigned long long)code->name[1], behind);
}

/* Files of this process, before they get their name. */
static void own_name(const struct native_code *code, const char *behind, char name[PATH_MAX]) {
  char end[64];
  snprintf(end, sizeof end, ".%ld.%p%s", (long)getpid(), (const void *)code, behind);
  file_name(code, end, name);
}

/* ---- the cache ---- */

static bool begins_with(const char **option, const char *word) {
  const size_t n = strlen(word);
  if (strncmp(*option, word, n) != 0) return false;
  *option += n;
  return true;
}

/* The folder, and the one it is in, for this user alone. */
static bool make_folder(const char *folder) {
  char above[PATH_MAX];
  const char *own = strrchr(folder, '/');
  snprintf(above, sizeof above, "%.*s", own ? (int)(own - folder) : 0, folder);
  if (own && own > folder) (void)mkdir(above, 0700); /* it may be there */
  return mkdir(folder, 0700) == 0 || errno == EEXIST;
}

struct native_cache *native_cache_new(struct heap *heap, const char *option) {
  const bool when_it_pays = begins_with(&option, "auto:");
  const bool waits = begins_with(&option, "wait:") && !when_it_pays;
  const size_t bytes = strlen(option) + 1;
  if (bytes == 1 || bytes > PATH_MAX - 128) return NULL; /* room for the names of files */
  struct native_cache *c = heap_alloc(heap, sizeof *c + bytes);
  if (!c) return NULL;
  memset(c, 0, sizeof *c);
  c->heap = heap;
  c->waits = waits;
  c->when_it_pays = when_it_pays;
  memcpy(c->directory, option, bytes);
  return c;
}

bool native_when_it_pays(const struct native_cache *c) {
  return c->when_it_pays;
}

/* Whether there is a compiler; the first time, what its results depend on. */
static bool identify(struct native_cache *c) {
  struct stat s;
  if (c->identified) return c->identity != 0;
  c->identified = true;
  if (!find_compiler(c->compiler, &s)) return false;
  const uint64_t facts[] = {(uint64_t)s.st_dev, (uint64_t)s.st_ino, (uint64_t)s.st_size,
                            (uint64_t)s.st_mtim.tv_sec, (uint64_t)s.st_mtim.tv_nsec};
  c->identity = hash_bytes(fnv_basis, facts, sizeof facts);
  for (int i = 0; i < FLAGS; i++)
    c->identity = hash_bytes(c->identity, flags[i], strlen(flags[i]));
  c->identity = hash_processor(c->identity) | 1;
  return true;
}

void native_cache_free(struct native_cache *c) {
  if (c) heap_free(c->heap, c, sizeof *c + strlen(c->directory) + 1);
}

/* ---- compiling ---- */

/* A plain file of this user or of the system: what others wrote is not executed. */
static bool trusted(const char *name) {
  struct stat s;
  return lstat(name, &s) == 0 && S_ISREG(s.st_mode) &&
         (s.st_uid == geteuid() || s.st_uid == 0) && !(s.st_mode & S_IWOTH);
}

static void load(struct native_code *code) {
  char name[PATH_MAX];
  file_name(code, ".so", name);
  if (!trusted(name)) return;
  code->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (code->library) code->state = READY;
}

static bool write_source(const struct native_code *code, const char *name) {
  FILE *f = fopen(name, "wxe");
  if (!f) return false;
  const bool written = fwrite(code->source, 1, code->length, f) == code->length;
  return (fclose(f) == 0) & written;
}

/* Starts the compiler, with nothing to read and nobody to listen. */
static void start(struct native_code *code) {
  char source[PATH_MAX], object[PATH_MAX];
  own_name(code, ".c", source);
  own_name(code, ".tmp", object);
  code->state = FAILED;
  if (!make_folder(code->cache->directory) || !write_source(code, source)) {
    unlink(source);
    return;
  }
  char *arguments[FLAGS + 6];
  int n = 0;
  arguments[n++] = code->cache->compiler;
  for (int i = 0; i < FLAGS; i++) arguments[n++] = (char *)flags[i];
  arguments[n++] = source;
  arguments[n++] = (char *)"-o";
  arguments[n++] = object;
  arguments[n++] = (char *)"-lm";
  arguments[n] = NULL;
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return;
  bool good = true;
  for (int fd = 0; fd < 3; fd++) {
    good &= posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0) == 0;
  }
  good = good && posix_spawn(&code->process, code->cache->compiler, &actions, NULL, arguments,
                             environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  if (good) {
    code->state = COMPILING;
    code->cache->compiling++;
  } else {
    unlink(source);
  }
}

/* After the compiler has ended. */
static void finish(struct native_code *code, bool succeeded) {
  char source[PATH_MAX], object[PATH_MAX], name[PATH_MAX];
  own_name(code, ".c", source);
  own_name(code, ".tmp", object);
  file_name(code, ".so", name);
  unlink(source);
  code->cache->compiling--;
  code->state = FAILED;
  if (succeeded && rename(object, name) == 0) {
    load(code);
  } else {
    unlink(object);
  }
}

static void look(struct native_code *code, bool wait) {
  int status = 0;
  pid_t ended;
  do {
    ended = waitpid(code->process, &status, wait ? 0 : WNOHANG);
  } while (ended < 0 && errno == EINTR);
  if (ended == 0) return;
  finish(code, ended == code->process && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

struct native_code *native_compile(struct native_cache *cache, const char *source,
                                   size_t length) {
  if (!identify(cache)) return NULL;
  struct native_code *code = heap_alloc(cache->heap, sizeof *code + length);
  if (!code) return NULL;
  *code = (struct native_code){.cache = cache, .length = length};
  memcpy(code->source, source, length);
  code->name[0] = hash_bytes(cache->identity, source, length);
  code->name[1] = hash_bytes(fnv_basis ^ cache->identity, source, length) ^ length;
  load(code);
  return code;
}

bool native_kept(const struct native_code *code) {
  return code->state == READY;
}

bool native_failed(const struct native_code *code) {
  return code->state == FAILED;
}

bool native_ready(struct native_code *code) {
  const struct native_cache *cache = code->cache;
  const unsigned most = cache->when_it_pays ? MOST_UNASKED : MOST_AT_ONCE;
  if (code->state == WAITING && (cache->waits || cache->compiling < most)) start(code);
  if (code->state == COMPILING) look(code, cache->waits);
  return code->state == READY;
}

void *native_function(const struct native_code *code, const char *name) {
  return dlsym(code->library, name);
}

void native_free(struct native_code *code) {
  if (!code) return;
  if (code->state == COMPILING) {
    kill(code->process, SIGTERM);
    look(code, true);
  }
  if (code->library) dlclose(code->library);
  heap_free(code->cache->heap, code, sizeof *code + code->length);
}
