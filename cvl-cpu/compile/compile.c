/* compile.c - see compile.h. Decides which codes are compiled, and when. */
#include "cvl-cpu/compile/private.h"

#include "cvl-cpu/compile/ahead.h"
#include "cvl-cpu/compile/child.h"
#include "cvl-cpu/cpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the cache ---- */

static bool choose_compiler(struct compile_cache *c, const char *zig) {
  struct c_compiler *command = &c->compiler.command;
  if (c_compiler_choose(command, zig)) return true;
  if (command->why[0]) compile_end(c, command->why);
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
  c->widths = (struct widths){options->int_elem, options->float_elem};
  c->when_it_pays = options->compile != CVL_COMPILE_ALL;
  c->waits = options->compile_waits && !c->when_it_pays;
  c->directory = -1;
  memcpy(c->path, directory, bytes);
  c->compiles = compiles && choose_compiler(c, options->zig);
  return c;
}

bool compile_when_it_pays(const struct compile_cache *c) {
  return c->when_it_pays;
}

bool compile_has_found(const struct compile_cache *c) {
  return atomic_load(&c->has_found);
}

void compile_cache_free(struct compile_cache *c) {
  if (!c) return;
  if (c->directory >= 0) close(c->directory);
  pthread_mutex_destroy(&c->lock);
  heap_free(c->heap, c, sizeof *c + strlen(c->path) + 1);
}

/* ---- which, and when ---- */

static bool compile_asked_to_end(const struct compile_cache *c) {
  return c->stop.asks && c->stop.asks(c->stop.with);
}

/* Looks at the compilations under way. Returns one that may begin, or NULL. */
static struct compilation *look_at_all(struct compile_cache *c) {
  struct compilation *idle = NULL;
  const unsigned most = c->when_it_pays ? MOST_WHEN_IT_PAYS : MOST_AT_ONCE;
  for (struct compilation *x = c->compilations; x < c->compilations + most; x++) {
    compilation_look(c, x, false);
    if (x->members == 0) idle = x;
  }
  return idle;
}

static struct compiled_code *first_wanted(const struct compile_cache *c) {
  struct compiled_code *code = c->codes;
  while (code && !(code->state == WAITING && code->wanted)) code = code->next;
  return code;
}

/* Begins as many compilations as may be under way, first that of this code. */
static void compile_begin(struct compiled_code *code) {
  struct compile_cache *c = code->cache;
  struct compiled_code *next = code->state == WAITING ? code : first_wanted(c);
  for (; next && !compile_asked_to_end(c); next = first_wanted(c)) {
    struct compilation *idle = look_at_all(c);
    if (!idle) return;
    compilation_start(c, idle, next);
  }
}

/* Waits until a code is ready or has failed, or somebody asks to end. */
static void compile_await(struct compiled_code *code) {
  struct compile_cache *c = code->cache;
  while ((code->state == WAITING || code->state == COMPILING) && !compile_asked_to_end(c)) {
    compilation_look(c, code->compilation ? code->compilation : &c->compilations[0], true);
    compile_begin(code);
  }
}

/* ---- the interface: one thread at a time ---- */

static void compile_lock(const struct compiled_code *code) {
  pthread_mutex_lock(&code->cache->lock);
}

static void compile_unlock(const struct compiled_code *code) {
  pthread_mutex_unlock(&code->cache->lock);
}

static void free_code(struct compiled_code *code) {
  heap_free(code->cache->heap, code, sizeof *code + code->length);
}

/* Counts a code among those that are compiled without a question, if there is room. */
static void count_unasked(struct compiled_code *code) {
  struct compile_cache *c = code->cache;
  if (c->when_it_pays || code->alone || code->state == READY) return;
  if (c->unasked + code->length > COMPILE_UNASKED) return;
  code->unasked = code->wanted = true;
  c->unasked += code->length;
}

/* Returns another code of the same text, which is used instead of this one; or this one, which
 * is from now on in the list. */
static struct compiled_code *compile_join(struct compiled_code *code) {
  struct compile_cache *cache = code->cache;
  compile_name(code);
  for (struct compiled_code *other = cache->codes; other; other = other->next) {
    if (strcmp(other->name, code->name) != 0) continue;
    free_code(code);
    other->references++;
    return other;
  }
  code->next = cache->codes;
  cache->codes = code;
  compile_load(code);
  count_unasked(code);
  return code;
}

static struct compiled_code *new_code(struct compile_cache *cache, const char *prefix,
                                      const char *text, size_t length, bool alone, bool soon) {
  const bool ahead = cache->ahead && ahead_has(cache->ahead, prefix);
  if (!ahead && !cache->compiles) return NULL;
  struct compiled_code *code = heap_alloc(cache->heap, sizeof *code + length);
  if (!code) return NULL;
  *code = (struct compiled_code){
      .cache = cache, .references = 1, .length = length, .alone = alone, .soon = soon};
  snprintf(code->prefix, sizeof code->prefix, "%s", prefix);
  memcpy(code->text, text, length);
  if (!ahead) return compile_join(code);
  code->state = READY;
  return code;
}

static struct compiled_code *compile_add(struct compile_cache *cache, const char *prefix,
                                         const char *text, size_t length, bool alone,
                                         bool soon) {
  pthread_mutex_lock(&cache->lock);
  struct compiled_code *code = new_code(cache, prefix, text, length, alone, soon);
  pthread_mutex_unlock(&cache->lock);
  return code;
}

struct compiled_code *compile_text(struct compile_cache *cache, const char *prefix,
                                   const char *text, size_t length) {
  return compile_add(cache, prefix, text, length, false, false);
}

struct compiled_code *compile_file(struct compile_cache *cache, const char *prefix,
                                   const char *text, size_t length, bool soon) {
  return compile_add(cache, prefix, text, length, true, soon);
}

struct compiled_code *compiled_retain(struct compiled_code *code) {
  compile_lock(code);
  code->references++;
  compile_unlock(code);
  return code;
}

static bool compile_is_in(const struct compiled_code *code, enum code_state state) {
  compile_lock(code);
  const bool is = code->state == state;
  compile_unlock(code);
  return is;
}

bool compiled_cached(const struct compiled_code *code) {
  return compile_is_in(code, READY);
}

bool compiled_failed(const struct compiled_code *code) {
  return compile_is_in(code, FAILED);
}

bool compiled_unasked(const struct compiled_code *code) {
  compile_lock(code);
  const bool is = code->unasked || code->state == READY;
  compile_unlock(code);
  return is;
}

static bool compile_advance(struct compiled_code *code, bool wait) {
  compile_lock(code);
  if (code->state == WAITING || code->state == COMPILING) {
    code->wanted = true;
    (void)look_at_all(code->cache);
    compile_begin(code);
    if (wait) compile_await(code);
  }
  const bool ready = code->state == READY;
  compile_unlock(code);
  return ready;
}

bool compiled_ready(struct compiled_code *code) {
  return compile_advance(code, code->cache->waits);
}

bool compiled_awaited(struct compiled_code *code) {
  return compile_advance(code, true);
}

/* A code that is ready does not change any more. */
void *compiled_function(const struct compiled_code *code, const char *name) {
  char whole[2 * FUSED_NAME_MAX];
  if (!code->library) return ahead_function(code->cache->ahead, code->prefix, name);
  snprintf(whole, sizeof whole, "%s%s", code->prefix, name);
  return dlsym(code->library, whole);
}

/* Seconds that no compiler takes for the text of a code. */
static double owed_after(const struct compiled_code *code) {
  return 2 + (double)code->length / 25e3;
}

bool compiled_owed(const struct compiled_code *code) {
  return code->spent_before >= owed_after(code); /* neither changes */
}

void compiled_spent(struct compiled_code *code, double seconds) {
  compile_lock(code);
  code->spent += seconds;
  compile_unlock(code);
}

/* Waits for a compilation that is owed, but no longer than earlier processes have spent:
 * waiting in vain makes that more. Not if it is many times what a compiler takes. */
static void await_owed(struct compiled_code *code) {
  enum { HOPELESS = 10 };
  const double begun = clock_seconds();
  if (!compiled_owed(code) || code->spent_before > HOPELESS * owed_after(code)) return;
  while (code->state == COMPILING && !compile_asked_to_end(code->cache) &&
         clock_seconds() - begun < code->spent_before) {
    compilation_look(code->cache, code->compilation, false);
    if (code->state == COMPILING) child_pause_briefly();
  }
  code->spent += clock_seconds() - begun;
}

static void compile_leave(struct compiled_code *code) {
  struct compiled_code **at = &code->cache->codes;
  while (*at && *at != code) at = &(*at)->next;
  if (*at) *at = code->next;
}

void compiled_free(struct compiled_code *code) {
  if (!code) return;
  struct compile_cache *cache = code->cache;
  pthread_mutex_lock(&cache->lock);
  if (--code->references == 0) {
    if (code->compilation) await_owed(code);
    compile_leave(code);
    if (code->compilation) compilation_leave(code);
    compile_keep_spent(code);
    if (code->unasked) cache->unasked -= code->length;
    if (code->library) dlclose(code->library);
    free_code(code);
  }
  pthread_mutex_unlock(&cache->lock);
}
