/* compilation.c - the compilation of a file with some of the wanted codes: from the source to
 * the library that they load.
 */
#include "cvl-cpu/compile/private.h"

#include "base/cache.h"
#include "base/text.h"
#include "cvl-cpu/compile/child.h"
#include "cvl-cpu/cpu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- its codes ---- */

/* Ends the compilation without a result: its codes get this state. */
static void leave_all(struct compile_cache *c, struct compilation *x, enum code_state state) {
  for (struct compiled_code *code = c->codes; code; code = code->next) {
    if (code->compilation != x) continue;
    code->compilation = NULL;
    code->state = state;
  }
  x->members = 0;
}

static void compilation_fail(struct compile_cache *c, struct compilation *x) {
  leave_all(c, x, FAILED);
}

/* Reports once that a compiler fails, if it was named: another may be right. */
static void complain_of_compiler(struct compile_cache *c) {
  if (c->compiler.command.named && !c->failed)
    cvl_say(&c->say, "the compiler that RAVEL_CC names fails: what it fails for is evaluated");
  c->failed = true;
}

/* The compiler has failed. Perhaps it refuses one of several codes, or all together are too
 * large. */
static void fail_to_compile(struct compile_cache *c, struct compilation *x) {
  const bool several = x->members > 1;
  c->one_by_one |= several;
  if (!several) complain_of_compiler(c);
  leave_all(c, x, several ? WAITING : FAILED);
}

static void compilation_add_member(struct compilation *x, struct compiled_code *code) {
  code->compilation = x;
  code->state = COMPILING;
  x->members++;
}

/* Whether a code may be compiled together with others. */
static bool compilation_is_wanted(const struct compiled_code *code) {
  return code->state == WAITING && code->wanted && !code->alone;
}

/* Returns the number of bytes from which on a file takes no more codes. If somebody waits for
 * all codes, they are spread over the processes that may run at once. Beside a running program,
 * the first codes are to be ready soon. */
static size_t file_bytes(const struct compile_cache *c) {
  size_t wanted = 0, idle = 0;
  if (c->one_by_one) return 0;
  if (!c->waits) return COMPILE_TOGETHER;
  for (const struct compiled_code *code = c->codes; code; code = code->next) {
    if (compilation_is_wanted(code)) wanted += code->length;
  }
  for (unsigned i = 0; i < MOST_AT_ONCE; i++) idle += c->compilations[i].members == 0;
  return wanted > idle * COMPILE_TOGETHER ? wanted / idle : COMPILE_TOGETHER;
}

/* Chooses this code, and others that are wanted. */
static void choose_members(struct compile_cache *c, struct compilation *x,
                           struct compiled_code *first) {
  const size_t most = first->alone ? 0 : file_bytes(c);
  size_t bytes = first->length;
  x->soon = first->soon;
  compilation_add_member(x, first);
  for (struct compiled_code *code = c->codes; code && bytes < most; code = code->next) {
    if (!compilation_is_wanted(code)) continue;
    bytes += code->length;
    compilation_add_member(x, code);
  }
}

/* Loads the file of a compilation into its codes. The file is kept only if it is what it should
 * be. The compilation is over. */
static void hand_out(struct compile_cache *c, struct compilation *x) {
  bool good = true;
  for (struct compiled_code *code = c->codes; code; code = code->next) {
    if (code->compilation != x) continue;
    code->compilation = NULL;
    code->state = FAILED;
    compile_load_from(code, x->file);
    good &= code->state == READY;
    if (good && strcmp(code->name, x->file) != 0)
      (void)cache_link(c->directory, code->name, x->file);
  }
  if (!good) cache_remove(c->directory, x->file);
  x->members = 0;
}

/* ---- the compiler ---- */

static void write_source(const struct compile_cache *c, const struct compilation *x,
                         FILE *out) {
  bool common = false;
  for (const struct compiled_code *code = c->codes; code; code = code->next) {
    if (code->compilation != x) continue;
    if (!common && !code->alone) fused_emit_prelude(c->widths, out);
    common = true;
    if (code->alone) fprintf(out, "#define RAVEL_ENTRY(name) %s##name\n", code->prefix);
    fprintf(out, "\nconst char %s[] = \"%s\";\n", code->prefix, code->name);
    fwrite(code->text, 1, code->length, out);
  }
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

/* Writes the source into a file without a name. Returns its descriptor, or -1. */
static int open_source(const struct compile_cache *c, const struct compilation *x) {
  struct text text;
  if (!text_begin(&text, c->heap)) return -1;
  write_source(c, x, text.stream);
  int fd = text_end(&text) ? memfd_create("source", MFD_CLOEXEC) : -1;
  if (fd >= 0 && !(write_all(fd, text.bytes, text.length) && lseek(fd, 0, SEEK_SET) == 0)) {
    close(fd);
    fd = -1;
  }
  text_free(&text);
  return fd;
}

static bool start_compiler(const struct compile_cache *c, struct compilation *x) {
  const int source = open_source(c, x);
  if (source < 0) return false;
  x->begun = clock_seconds();
  const int error = compiler_start(&c->compiler, c->heap, &x->process, x->scratch, source,
                                   !c->waits, x->soon);
  close(source);
  return error == 0;
}

void compilation_start(struct compile_cache *c, struct compilation *x,
                       struct compiled_code *first) {
  choose_members(c, x, first);
  if (!compile_directory(c, true)) {
    compilation_fail(c, x);
    return;
  }
  compile_name_file(c, x);
  if (x->members > 1 && compile_is_kept(c, x->file)) {
    hand_out(c, x);
    return;
  }
  x->scratch =
      cache_begin_scratch(c->directory, x->file, x->scratch_name, sizeof x->scratch_name);
  if (x->scratch < 0) {
    compile_complain(c, errno);
    compilation_fail(c, x);
  } else if (!start_compiler(c, x)) {
    cache_end_scratch(c->directory, x->scratch, x->scratch_name);
    complain_of_compiler(c);
    compilation_fail(c, x);
  }
}

/* Stores the compiler's output in the cache. */
static bool compilation_keep(struct compile_cache *c, const struct compilation *x) {
  size_t bytes = 0;
  char *data = compiler_object(x->scratch, c->heap, &bytes);
  if (!data) {
    complain_of_compiler(c);
    return false;
  }
  const int error = cache_keep(c->directory, x->file, data, bytes);
  heap_free(c->heap, data, bytes);
  if (error) compile_complain(c, error);
  return error == 0;
}

/* Ends a compilation whose compiler has ended. */
static void compilation_finish(struct compile_cache *c, struct compilation *x, bool succeeded) {
  if (!succeeded) {
    fail_to_compile(c, x);
  } else if (compilation_keep(c, x)) {
    hand_out(c, x);
    cache_make_room(c->directory, COMPILED_PREFIX, COMPILED_SUFFIX, CACHE_MOST_BYTES);
  } else {
    compilation_fail(c, x);
  }
  cache_end_scratch(c->directory, x->scratch, x->scratch_name);
}

void compilation_look(struct compile_cache *c, struct compilation *x, bool wait) {
  int status = 0;
  if (x->members == 0) return;
  const bool ended =
      wait ? child_await(x->process, c->stop, &status) : child_ended(x->process, &status);
  if (ended) compilation_finish(c, x, WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A compilation goes on if other codes need it. */
void compilation_leave(struct compiled_code *code) {
  struct compilation *x = code->compilation;
  const struct compile_cache *c = code->cache;
  if (code->unasked) code->spent += clock_seconds() - x->begun; /* nobody else measures it */
  if (--x->members > 0) return;
  child_end(x->process);
  cache_end_scratch(c->directory, x->scratch, x->scratch_name);
}
