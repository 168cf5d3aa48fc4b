/* nesl-random.c - random NESL programs, each evaluated in several ways that must agree: by the
 * direct interpreter of the unflattened semantics, and compiled, optimised, fused, on one
 * thread and on several, on a back end that does everything late. Values must be equal to the
 * bit, output to the byte, errors in their kind and sentence.
 *
 *     nesl-random [--seed S] [--first N] [--count N] [--seconds T] [--native FOLDER] [--show]
 *
 * --native: with compiled superoperators as well, kept in this folder.
 *
 * Every evaluation is a process of its own, forked with the library loaded: a crash or a
 * time-out is an outcome like others. A program whose outcomes differ is shrunk and shown.
 * The last line is "N passed, N failed".
 */
#include "commands/nesl-evaluate.h"
#include "commands/tests/random-nesl.h"
#include "neslc/front/syntax.h"
#include "neslc/reference/direct.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- ways ---- */

struct way {
  const char *name, *backend; /* NULL: the direct interpreter */
  unsigned threads;
  bool optimise, fuse;
  bool unchecked; /* only for programs that return a value */
  bool native;    /* superoperators are compiled first: only with --native */
};

static const struct way ways[] = {
    {.name = "interpreted directly", .threads = 1},
    {.name = "compiled", .backend = "cpu", .threads = 1},
    {.name = "compiled, 3 threads", .backend = "cpu", .threads = 3},
    {.name = "optimised", .backend = "cpu", .threads = 1, .optimise = true},
    {.name = "fused", .backend = "cpu", .threads = 1, .optimise = true, .fuse = true},
    {.name = "fused, 3 threads",
     .backend = "cpu",
     .threads = 3,
     .optimise = true,
     .fuse = true},
    {.name = "delayed", .backend = "delayed", .threads = 1},
    {.name = "delayed, fused",
     .backend = "delayed",
     .threads = 1,
     .optimise = true,
     .fuse = true},
    {.name = "unchecked", .backend = "cpu", .threads = 1, .unchecked = true},
    {.name = "unchecked, fused",
     .backend = "cpu",
     .threads = 1,
     .optimise = true,
     .fuse = true,
     .unchecked = true},
    {.name = "native",
     .backend = "cpu",
     .threads = 2,
     .optimise = true,
     .fuse = true,
     .native = true},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* ---- one evaluation, in a process of its own ---- */

enum {
  MOST_SECONDS = 20, /* of processor time */
  MOST_STEPS = 1000000,
  FIRST_TEXT = 4096, /* so small that processes stay small, and quick to fork */
  MOST_TEXT = 8 << 20
};

/* One line for each column of a value: what is equal here is equal to the bit, but for the
 * payloads of NaNs. */
static void show_columns(const struct nesl_value *v, FILE *out) {
  for (uint32_t i = 0; i < v->count; i++) {
    const struct column *c = &v->columns[i];
    fprintf(out, "\n %u:", c->kind);
    for (uint64_t k = 0; k < c->length; k++) {
      switch ((enum column_kind)c->kind) {
      case COLUMN_INT:
      case COLUMN_SEGDES: fprintf(out, " %" PRId64, c->as.ints[k]); break;
      case COLUMN_FLOAT:
        if (c->as.floats[k] != c->as.floats[k]) {
          fputs(" nan", out);
        } else {
          fprintf(out, " %a", c->as.floats[k]);
        }
        break;
      case COLUMN_BOOL: fprintf(out, " %d", c->as.bools[k] != 0); break;
      }
    }
  }
}

static void show_error(const struct complaints *complaints, FILE *out) {
  const char *message = "";
  for (size_t i = complaints->diags->list.count; i-- > 0;) {
    const struct diag *d = &complaints->diags->list.items[i];
    if (d->severity == SEVERITY_ERROR) message = d->message;
  }
  fprintf(out, "error %s", nesl_error_name(complaints->first));
  size_t line = strcspn(message, "\n"), stop = strcspn(message, ".(");
  if (complaints->first == NESL_USER) line = 0; /* the machine prints the text */
  fprintf(out, ": %.*s", (int)(stop < line ? stop : line), message);
}

/* evaluator: NULL for the direct interpreter. */
static bool nesl_random_run_form(struct evaluator *evaluator, const struct evaluation *e,
                                 const struct form *form, bool last, FILE *printed, FILE *out) {
  const struct direct_options direct = {.out = printed, .most_steps = MOST_STEPS};
  struct direct_cost cost;
  struct checked checked = {0};
  struct evaluation here = *e;
  struct nesl_value value;
  here.form = &checked;
  if (!check_form(e->session, form, e->complaints, &checked)) return false;
  if (!checked.value) return true;
  if (session_find_missing(e->session, checked.value, e->complaints)) return false;
  bool fine =
      evaluator ? evaluator->evaluate(evaluator, &here, &value)
                : direct_evaluate(e->session, &checked, &direct, e->complaints, &value, &cost);
  if (!fine) return false;
  session_bind_checked(e->session, &checked, &value);
  if (last) {
    fputs("value", out);
    show_columns(&value, out);
  }
  if (evaluator) evaluator->release(evaluator);
  return true;
}

/* native: the folder of compiled superoperators, or NULL. */
static void run_unguarded(struct session *session, const struct way *way, const char *native,
                          const char *text, FILE *out) {
  struct diag_list diags;
  struct complaints complaints = {.diags = &diags};
  char *printed = NULL;
  size_t printed_size = 0;
  struct nesl_options options = {.machine = machine_default_options()};
  options.widths = (struct widths){session->classic ? CVL_I32 : CVL_I64, CVL_F64};
  options.classic = session->classic;
  options.machine.widths = options.widths;
  options.machine.out = open_memstream(&printed, &printed_size);
  options.machine.memory_limit = (uint64_t)1 << 30;
  options.machine.threads = way->threads;
  if (way->native) {
    options.machine.compile = CVL_COMPILE_ALL;
    options.machine.compile_waits = true;
    options.machine.compile_directory = native;
  }
  options.backend_name = way->backend;
  options.optimise = way->optimise;
  options.no_fusion = !way->fuse;
  session->argument_checks = !way->unchecked;
  diag_list_init(&diags, session->arena);
  const struct evaluation e = {.session = session, .complaints = &complaints};
  struct evaluator *evaluator =
      way->backend ? evaluator_compiled(&options, session->arena->heap, &diags) : NULL;
  struct source *source = arena_alloc(session->arena, sizeof *source);
  *source = (struct source){
      .name = "random.nesl", .text = text, .length = strlen(text), .first_line = 1};
  session_add_source(session, source);
  struct reader reader;
  reader_init(&reader, session->arena, &session->names, source);
  bool fine = options.machine.out && (evaluator || !way->backend);
  while (fine && reader.at < source->length) {
    struct form *form = arena_alloc(session->arena, sizeof *form);
    enum reading reading = read_form(&reader, &complaints, form);
    if (reading == READ_END) break;
    bool last = strspn(text + reader.at, "\n") == source->length - reader.at;
    fine = reading == READ_FORM &&
           nesl_random_run_form(evaluator, &e, form, last, options.machine.out, out);
  }
  if (!fine) {
    show_error(&complaints, out);
  } else if (fflush(options.machine.out) == 0 && printed_size > 0) {
    fprintf(out, "\nprinted: %s", printed);
  }
}

static void nesl_random_run_text(struct session *session, const struct way *way,
                                 const char *native, const char *text, FILE *out) {
  struct memory_guard guard;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    fputs("error limit: memory", out);
    return;
  }
  run_unguarded(session, way, native, text, out);
  memory_guard_end(&guard);
}

/* The result of an evaluation. */
struct outcome {
  int from; /* the pipe it comes through, */
  pid_t process;
  char *text;
};

static void nesl_random_start(struct outcome *o, struct session *session, const struct way *way,
                              const char *native, const char *text) {
  int ends[2];
  fflush(stdout);
  if (pipe(ends) != 0 || (o->process = fork()) < 0) {
    perror("nesl-random");
    exit(2);
  }
  if (o->process == 0) {
    const struct rlimit limit = {MOST_SECONDS, MOST_SECONDS};
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CPU, &limit);
    setrlimit(RLIMIT_CORE, &none);
    FILE *out = fdopen(ends[1], "w");
    close(ends[0]);
    if (out) nesl_random_run_text(session, way, native, text, out);
    _exit(!out || fclose(out) != 0);
  }
  close(ends[1]);
  o->from = ends[0];
}

/* All that comes through a pipe, to be freed; with room for a sentence instead. */
static char *nesl_random_read_text(int from) {
  size_t length = 0, room = FIRST_TEXT;
  char *text = malloc(room);
  ssize_t got = 1;
  while (text && length < MOST_TEXT && got > 0) {
    if (length + 1 == room) text = realloc(text, room *= 2);
    got = text ? read(from, text + length, room - 1 - length) : 0;
    if (got > 0) length += (size_t)got;
  }
  if (!text) exit(2);
  text[length] = '\0';
  return text;
}

static void nesl_random_finish(struct outcome *o) {
  char *text = nesl_random_read_text(o->from);
  int status = 0;
  close(o->from);
  waitpid(o->process, &status, 0);
  if (WIFSIGNALED(status)) sprintf(text, "killed by signal %d", WTERMSIG(status));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    sprintf(text, "exit status %d", WEXITSTATUS(status));
  }
  o->text = text;
}

/* ---- programs ---- */

struct tester {
  struct session *session;
  const char *native;  /* folder of compiled superoperators; NULL: none are compiled */
  const char *text;    /* that is being compared */
  char *results[WAYS]; /* outcomes as text, the first of the direct interpreter */
  unsigned differing;  /* the way whose outcome differs from it; 0: none */
  unsigned only;       /* while shrinking: this way alone is asked; 0: all */
};

static void nesl_random_forget(struct tester *t) {
  for (unsigned i = 0; i < WAYS; i++) {
    free(t->results[i]);
    t->results[i] = NULL;
  }
}

static bool nesl_random_begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/* Programs that are too large are not compared, nor those that the checker rejects, which is
 * the same in all ways. */
static bool is_moot(const char *outcome) {
  return nesl_random_begins(outcome, "error ") &&
         !nesl_random_begins(outcome, "error runtime") &&
         !nesl_random_begins(outcome, "error user");
}

static bool differs(void *context, const char *text) {
  struct tester *t = context;
  struct outcome outcomes[WAYS];
  nesl_random_forget(t);
  t->differing = 0;
  nesl_random_start(&outcomes[0], t->session, &ways[0], NULL, text);
  nesl_random_finish(&outcomes[0]);
  t->results[0] = outcomes[0].text;
  if (is_moot(t->results[0])) return false;
  const bool failed = nesl_random_begins(t->results[0], "error");
  bool asked[WAYS] = {false};
  for (unsigned i = 1; i < WAYS; i++) {
    asked[i] = (!t->only || t->only == i) && !(failed && ways[i].unchecked) &&
               !(ways[i].native && !t->native);
    if (asked[i]) nesl_random_start(&outcomes[i], t->session, &ways[i], t->native, text);
  }
  for (unsigned i = 1; i < WAYS; i++) {
    if (!asked[i]) continue;
    nesl_random_finish(&outcomes[i]);
    t->results[i] = outcomes[i].text;
    if (!t->differing && strcmp(t->results[i], t->results[0]) != 0) t->differing = i;
  }
  return t->differing != 0;
}

static void show_difference(struct tester *t, struct random_program *program, uint64_t seed,
                            uint64_t number) {
  enum { QUESTIONS = 1500, MOST_SHOWN = 1000 };
  printf("FAILED program %" PRIu64 " (--seed %" PRIu64 " --first %" PRIu64 " --count 1)\n",
         number, seed, number);
  t->only = t->differing;
  random_program_shrink(program, QUESTIONS, differs, t);
  char *text = random_program_text(program);
  if (!text || !differs(t, text)) {
    printf("the difference does not show again\n");
    t->differing = t->only;
  }
  printf("%s%s: %.*s\n%s: %.*s\n\n", text, ways[0].name, MOST_SHOWN, t->results[0],
         ways[t->differing].name, MOST_SHOWN, t->results[t->differing]);
  fflush(stdout);
  free(text);
  t->only = 0;
}

struct tally {
  unsigned passed, failed, moot, errors;
};

static void nesl_random_test(struct tester *t, uint64_t seed, uint64_t number,
                             struct tally *tally) {
  struct heap heap;
  struct arena arena;
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  struct random_program *program = random_program(&arena, seed, number);
  char *text = random_program_text(program);
  if (!text) exit(2);
  if (differs(t, text)) {
    tally->failed++;
    show_difference(t, program, seed, number);
  } else if (is_moot(t->results[0])) {
    tally->moot++;
    if (!nesl_random_begins(t->results[0], "error limit")) {
      printf("program %" PRIu64 " is rejected: %s\n", number, t->results[0]);
    }
  } else {
    tally->passed++;
    tally->errors += nesl_random_begins(t->results[0], "error");
  }
  free(text);
  arena_free(&arena);
}

/* ---- the command ---- */

struct wishes {
  uint64_t seed, first, count;
  double seconds;
  const char *native;
  bool show;
};

static bool read_wishes(struct wishes *w, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i];
    if (strcmp(name, "--show") == 0) {
      w->show = true;
      continue;
    }
    if (i + 1 == argc) return false;
    char *end;
    const char *value = argv[++i];
    if (strcmp(name, "--native") == 0) {
      w->native = value;
      continue;
    }
    uint64_t number = strtoull(value, &end, 0);
    if (strcmp(name, "--seed") == 0) {
      w->seed = number;
    } else if (strcmp(name, "--first") == 0) {
      w->first = number;
    } else if (strcmp(name, "--count") == 0) {
      w->count = number;
    } else if (strcmp(name, "--seconds") == 0) {
      w->seconds = (double)number;
    } else {
      return false;
    }
    if (end == value || *end) return false;
  }
  return true;
}

static void show_program(const struct wishes *w, uint64_t number) {
  struct heap heap;
  struct arena arena;
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  char *text = random_program_text(random_program(&arena, w->seed, number));
  printf("%s\n", text ? text : "");
  free(text);
  arena_free(&arena);
}

static struct session *open_session(struct arena *arena, bool classic) {
  struct diag_list diags;
  diag_list_init(&diags, arena);
  return session_new(arena, classic, &diags);
}

int main(int argc, char **argv) {
  struct wishes w = {.seed = 1, .count = UINT64_MAX, .seconds = 30};
  if (!read_wishes(&w, argc, argv)) {
    fputs("usage: nesl-random [--seed S] [--first N] [--count N] [--seconds T] "
          "[--native FOLDER] [--show]\n",
          stderr);
    return 2;
  }
  struct heap heap;
  struct arena arenas[2];
  struct tester testers[2] = {{.only = 0}, {.only = 0}};
  struct tally tally = {0};
  heap_init(&heap, 0);
  for (int classic = 0; classic < 2; classic++) {
    arena_init(&arenas[classic], &heap);
    testers[classic].session = open_session(&arenas[classic], classic);
    if (!testers[classic].session) return 2;
    testers[classic].native = w.native;
  }
  struct timespec begun, now;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  uint64_t number = w.first;
  double passed = 0;
  while (number - w.first < w.count && (w.count != UINT64_MAX || passed < w.seconds)) {
    if (w.show) {
      show_program(&w, number);
    } else {
      nesl_random_test(&testers[number % 4 == 3], w.seed, number, &tally);
    }
    number++;
    clock_gettime(CLOCK_MONOTONIC, &now);
    passed = (double)(now.tv_sec - begun.tv_sec);
  }
  for (int classic = 0; classic < 2; classic++) {
    nesl_random_forget(&testers[classic]);
    arena_free(&arenas[classic]);
  }
  if (w.show) return 0;
  printf("seed %" PRIu64 ": %" PRIu64 " programs in %.0f s, of which %u end with an error and"
         " %u are too large\n%u passed, %u failed\n",
         w.seed, number - w.first, passed, tally.errors, tally.moot, tally.passed,
         tally.failed);
  enum { FEW = 20 };
  if (tally.moot > FEW + tally.passed / 10) {
    puts("too many programs say nothing: the generator makes what it should not");
    return 1;
  }
  return tally.failed != 0;
}
