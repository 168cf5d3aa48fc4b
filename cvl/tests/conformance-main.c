/* conformance-main.c - the conformance suite as a command, over the back ends linked with it,
 * or over one that is a module.
 */
#include "base/diag.h"
#include "cvl/delayed.h"
#include "cvl/oracle/oracle.h"
#include "cvl/plugin.h"
#include "cvl/suite/conformance.h"
#include "cvl/tuning.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#ifdef RAVEL_HAS_CPU
#include "cvl-cpu/cvl-cpu.h"
DELAYED_BACKEND(delayed_cpu, "delayed", cvl_cpu_backend)
#endif
#ifdef RAVEL_HAS_CUDA_EMULATION
#include "cvl-cuda/emulation.h"
#endif
DELAYED_BACKEND(delayed_oracle, "delayed-oracle", cvl_oracle_backend)

const struct cvl_backend *const *cvl_backends(void) {
  static struct cvl_backend tables[2];
  static const struct cvl_backend *all[6];
  size_t n = 0;
#ifdef RAVEL_HAS_CPU
  all[n++] = &cvl_cpu_backend;
  all[n++] = delayed_cpu(&tables[0]);
#endif
  all[n++] = &cvl_oracle_backend;
  all[n++] = delayed_oracle(&tables[1]);
#ifdef RAVEL_HAS_CUDA_EMULATION
  all[n++] = cvl_cuda_emulation_backend();
#endif
  return all;
}

static const char usage[] =
    "usage: conformance [options]\n"
    "  --backend NAME     this one only, linked or a module (default: all that are linked)\n"
    "  --int 32|64        width of INT (default: both)\n"
    "  --float 32|64      width of FLOAT (default: 64; with --full both)\n"
    "  --threads N[,N...] numbers of threads; results must agree between them (default: 2)\n"
    "  --device N         handed to the back end; the seed of a delaying one (default: -1)\n"
    "  --seed S           of all random values (default: 1)\n"
    "  --native DIR       superoperators are compiled, and kept there: wait:DIR waits for "
    "that\n"
    "  --tuning FILE      tuning values, see tables/tuning.def\n"
    "  --only ITEM        one item of --list, or all of one operation\n"
    "  --shard K/N        of N shards of the items the K-th\n"
    "  --quick | --full   how much (default: --quick)\n"
    "  --brief            no lengths of 65537 and more, half of the shapes, a fourth of the "
    "forms of operands, fewer seeds\n"
    "  --all-forms        with --brief: all forms of operands\n"
    "  --list             the names of all items and back ends\n";

struct arguments {
  const char *backend;
  int int_width, float_width; /* 0: not given */
  bool list;
  struct conformance_options options;
  struct tuning tuning;
};

static _Noreturn void wrong_usage(const char *what) {
  fprintf(stderr, "conformance: %s\n%s", what, usage);
  exit(2);
}

/* Parses "DIR" or "wait:DIR". */
static void parse_compile(const char *value, struct conformance_options *o) {
  static const char wait[] = "wait:";
  o->compile_waits = strncmp(value, wait, sizeof wait - 1) == 0;
  o->compile_directory = o->compile_waits ? value + sizeof wait - 1 : value;
}

/* Parses "K/N", where K counts from 1. */
static void parse_shard(const char *text, struct conformance_options *o) {
  int end = 0;
  if (sscanf(text, "%u/%u%n", &o->shard, &o->shards, &end) != 2 || text[end] != 0 ||
      o->shard < 1 || o->shard > o->shards)
    wrong_usage("--shard takes K/N, K from 1 to N");
  o->shard--;
}

static void parse_threads(const char *text, struct conformance_options *o) {
  o->threads_count = 0;
  for (char *end; *text; text = *end ? end + 1 : end) {
    unsigned long n = strtoul(text, &end, 10);
    if (end == text || (*end && *end != ',') || n > 4096) wrong_usage("bad list of threads");
    if (o->threads_count == CONFORMANCE_THREADS_MAX) wrong_usage("too many numbers of threads");
    o->threads[o->threads_count++] = (unsigned)n;
  }
}

static void read_tuning(const char *file, struct tuning *values) {
  enum { MOST = 1 << 16 };
  static char text[MOST];
  struct heap heap;
  struct arena arena;
  struct diag_list diags;
  FILE *in = fopen(file, "re");
  if (!in) wrong_usage("the file of --tuning cannot be read");
  const size_t length = fread(text, 1, MOST, in);
  fclose(in);
  heap_init(&heap, 0);
  arena_init(&arena, &heap);
  diag_list_init(&diags, &arena);
  const bool fine = tuning_parse(file, text, length, values, &diags);
  diag_print(&diags, "conformance", 0, stderr);
  arena_free(&arena);
  if (!fine) exit(2);
}

static int conformance_main_parse_width(const char *text) {
  if (strcmp(text, "32") != 0 && strcmp(text, "64") != 0) wrong_usage("a width is 32 or 64");
  return atoi(text);
}

static void conformance_main_parse(int argc, char **argv, struct arguments *a) {
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i];
    bool is_flag = true;
    if (!strcmp(name, "--quick")) {
      a->options.full = false;
    } else if (!strcmp(name, "--full")) {
      a->options.full = true;
    } else if (!strcmp(name, "--brief")) {
      a->options.brief = true;
    } else if (!strcmp(name, "--all-forms")) {
      a->options.all_forms = true;
    } else if (!strcmp(name, "--list")) {
      a->list = true;
    } else if (!strcmp(name, "--help")) {
      fputs(usage, stdout);
      exit(0);
    } else {
      is_flag = false;
    }
    if (is_flag) continue;
    if (i + 1 == argc) wrong_usage("an option is unknown or lacks its value");
    const char *value = argv[++i];
    if (!strcmp(name, "--backend")) {
      a->backend = value;
    } else if (!strcmp(name, "--int")) {
      a->int_width = conformance_main_parse_width(value);
    } else if (!strcmp(name, "--float")) {
      a->float_width = conformance_main_parse_width(value);
    } else if (!strcmp(name, "--threads")) {
      parse_threads(value, &a->options);
    } else if (!strcmp(name, "--device")) {
      a->options.device = atoi(value);
    } else if (!strcmp(name, "--seed")) {
      a->options.seed = strtoull(value, NULL, 0);
    } else if (!strcmp(name, "--native")) {
      parse_compile(value, &a->options);
    } else if (!strcmp(name, "--tuning")) {
      read_tuning(value, &a->tuning);
      a->options.tuning = &a->tuning;
    } else if (!strcmp(name, "--shard")) {
      parse_shard(value, &a->options);
    } else if (!strcmp(name, "--only")) {
      a->options.only = value;
    } else {
      wrong_usage("unknown option");
    }
  }
}

/* Runs one back end in all widths asked for, and adds up the results. */
static void run_backend(const struct cvl_backend *b, struct arguments *a,
                        struct conformance_result *sum) {
  for (int f = 64; f >= 32; f -= 32) {
    for (int i = 64; i >= 32; i -= 32) {
      if (a->int_width && a->int_width != i) continue;
      if (a->float_width ? a->float_width != f : f != 64 && !a->options.full) continue;
      a->options.int_elem = i == 64 ? CVL_I64 : CVL_I32;
      a->options.float_elem = f == 64 ? CVL_F64 : CVL_F32;
      a->options.folds = strstr(b->name, "oracle") == NULL;
      struct conformance_result r = conformance_run(b, &a->options);
      sum->items += r.items;
      sum->cases += r.cases;
      sum->failures += r.failures;
    }
  }
}

/* Returns the back end of this name. If it is not available, there is no result. */
static const struct cvl_backend *named_backend(const char *name) {
  const struct cvl_backend *b = cvl_backend_find(name);
  char text[PLUGIN_WHY_MAX];
  const char *why = text;
  if (!b) b = plugin_open(name, text);
  struct cvl_device device;
  if (b && b->devices(&device, 1, &why) > 0) return b;
  fprintf(stderr, "conformance: the back end %s cannot be had: %s\n", name, why);
  exit(2);
}

int main(int argc, char **argv) {
  struct arguments a = {
      .options = {.threads = {2}, .threads_count = 1, .device = -1, .seed = 1, .out = stdout}};
  conformance_main_parse(argc, argv, &a);
  if (a.list) {
    conformance_list(stdout);
    for (const struct cvl_backend *const *b = cvl_backends(); *b; b++) {
      printf("back end %s: %s\n", (*b)->name, (*b)->doc);
    }
    return 0;
  }
  struct conformance_result sum = {0};
  if (a.backend) {
    run_backend(named_backend(a.backend), &a, &sum);
  } else {
    for (const struct cvl_backend *const *b = cvl_backends(); *b; b++)
      run_backend(*b, &a, &sum);
  }
  if (sum.items == 0) wrong_usage("no such item");
  printf("conformance: %s, seed %" PRIu64 ": %" PRIu64 " items, %" PRIu64 " cases, %" PRIu64
         " failures\n",
         a.backend ? a.backend : "all back ends", a.options.seed, sum.items, sum.cases,
         sum.failures);
  return sum.failures ? 1 : 0;
}
