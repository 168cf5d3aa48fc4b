/* serve.c - main of every program by hand: baseline.h says how it is called.
 *
 * With ON_GPU arrays and scratch memory are the device's, by the functions of serve.cu;
 * arguments that are numbers stay on the host.
 */
#include "baseline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static _Noreturn void fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

/* ---- memory ---- */

static void *host_allocate(size_t bytes) {
  void *at;
  if (posix_memalign(&at, 2 << 20, bytes)) fail("memory", "there is not enough");
  madvise(at, bytes, MADV_HUGEPAGE);
  return at;
}

#ifdef ON_GPU
#include "serve-gpu.h"
#else /* the host is the device */
static void *device_allocate(size_t bytes) {
  return host_allocate(bytes);
}
static void device_free(void *at) {
  free(at);
}
static void device_wait(void) {}
#endif

struct block {
  void *at;
  size_t size;
};
static struct block scratch_blocks[MOST_SCRATCH], result_blocks[MOST_RESULTS];

static void *grown(struct block *block, size_t bytes) {
  if (bytes > block->size) {
    device_free(block->at);
    block->size = bytes + bytes / 4 + 64;
    block->at = device_allocate(block->size);
  }
  return block->at;
}

/* From the host's memory to where the program wants its arguments. */
static void *settled(void *host, size_t bytes) {
#ifdef ON_GPU
  void *at = device_allocate(bytes + 1);
  device_copy_in(at, host, bytes);
  free(host);
  return at;
#else
  (void)bytes;
  return host;
#endif
}

/* And back: in memory that is the caller's to free. */
static void *fetched(void *at, size_t bytes) {
  void *host = malloc(bytes + 1);
  if (!host) fail("memory", "there is not enough");
#ifdef ON_GPU
  device_copy_out(host, at, bytes);
#else
  memcpy(host, at, bytes);
#endif
  return host;
}

void *scratch(int k, size_t bytes) {
  return grown(&scratch_blocks[k], bytes + 1);
}

static size_t element_size(enum array_type type) {
  return type == ARRAY_INTEGER ? sizeof(integer) : type == ARRAY_REAL ? sizeof(real) : 1;
}

struct array *result(struct array *results, int k, enum array_type type, int64_t length) {
  results[k].type = type;
  results[k].length = length;
  results[k].as.b = grown(&result_blocks[k], (size_t)length * element_size(type) + 1);
  return &results[k];
}

/* ---- files of numpy: one dimension, little endian, as bench/run writes them ---- */

static size_t width_of(const char *descr) {
  return (size_t)strtoul(descr + 2, NULL, 10);
}

/* Converts elements from the file's width to the program's, in the same memory. */
static void narrow(const char *name, const struct array *a, char *raw, size_t width) {
  const size_t wanted = element_size(a->type);
  if (width == wanted) return;
  if (width != 8 || wanted != 4) fail(name, "elements of a width that is not known here");
  for (int64_t i = 0; i < a->length; i++) {
    if (a->type == ARRAY_INTEGER) {
      int64_t x;
      memcpy(&x, raw + 8 * i, sizeof x);
      memcpy(raw + 4 * i, &(int32_t){(int32_t)x}, sizeof(int32_t));
    } else {
      double x;
      memcpy(&x, raw + 8 * i, sizeof x);
      memcpy(raw + 4 * i, &(float){(float)x}, sizeof(float));
    }
  }
}

static struct array read_npy(const char *name) {
  FILE *file = fopen(name, "rb");
  if (!file) fail(name, strerror(errno));
  char head[10], header[65536];
  if (fread(head, 1, sizeof head, file) != sizeof head || memcmp(head, "\x93NUMPY\x01", 7) != 0)
    fail(name, "not a numpy file of version 1");
  const size_t length = (unsigned char)head[8] | (size_t)(unsigned char)head[9] << 8;
  if (fread(header, 1, length, file) != length) fail(name, "cut off");
  header[length] = '\0';
  const char *descr = strstr(header, "'descr': '"), *shape = strstr(header, "'shape': (");
  if (!descr || !shape) fail(name, "no array of numbers");
  descr += strlen("'descr': '");
  int64_t count = strtoll(shape + strlen("'shape': ("), NULL, 10);
  size_t width = width_of(descr);
  if (descr[1] == 'S' && count == 0) { /* one text: its characters */
    count = (int64_t)width;
    width = 1;
  }
  char *raw = host_allocate((size_t)count * width + 1);
  if (fread(raw, width, (size_t)count, file) != (size_t)count) fail(name, "cut off");
  fclose(file);
  if (descr[1] == 'S' && count == 1 && raw[0] == '\0') count = 0; /* numpy's empty text */

  struct array a = {.length = count};
  switch (descr[1]) {
  case 'i': a.type = ARRAY_INTEGER; break;
  case 'f': a.type = ARRAY_REAL; break;
  case 'b': a.type = ARRAY_BOOL; break;
  case 'u':
  case 'S': a.type = ARRAY_CHAR; break;
  default: fail(name, "elements of a type that is not known here");
  }
  narrow(name, &a, raw, width);
  a.as.b = settled(raw, (size_t)count * element_size(a.type));
  return a;
}

static void write_npy(const char *name, const struct array *a) {
  static const char letters[] = {'i', 'f', 'b', 'u'};
  char header[128] = {0};
  const size_t width = element_size(a->type);
  const int used = snprintf(
      header, sizeof header, "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (%lld,), }",
      width == 1 ? '|' : '<', letters[a->type], width, (long long)a->length);
  memset(header + used, ' ', 118 - (size_t)used - 1);
  header[117] = '\n';
  FILE *file = fopen(name, "wb");
  if (!file) fail(name, strerror(errno));
  fwrite("\x93NUMPY\x01\0\x76\0", 1, 10, file);
  fwrite(header, 1, 118, file);
  void *host = fetched(a->as.b, (size_t)a->length * width);
  fwrite(host, width, (size_t)a->length, file);
  free(host);
  if (fclose(file)) fail(name, strerror(errno));
}

static struct array read_number(const char *text) {
  struct array a = {.length = 1};
  a.as.b = host_allocate(sizeof(double));
  char *end;
  if (!strcmp(text, "true") || !strcmp(text, "false")) {
    a.type = ARRAY_BOOL;
    a.as.b[0] = text[0] == 't';
    return a;
  }
  if (strpbrk(text, ".en")) {
    a.type = ARRAY_REAL;
    a.as.r[0] = (real)strtod(text, &end);
  } else {
    a.type = ARRAY_INTEGER;
    a.as.i[0] = (integer)strtoll(text, &end, 10);
  }
  if (*end) fail(text, "neither a number nor a .npy file");
  return a;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  long repeat = 1;
  const char *files[MOST_RESULTS];
  struct array arguments[MOST_ARGUMENTS] = {0}, results[MOST_RESULTS] = {0};
  int file_count = 0, argument_count = 0;
  for (int k = 1; k < argc; k++) {
    const char *a = argv[k];
    const bool more = k + 1 < argc;
    if (!strcmp(a, "--repeat") && more) {
      repeat = strtol(argv[++k], NULL, 10);
    } else if (!strcmp(a, "--threads") && more) {
#ifdef _OPENMP
      omp_set_num_threads((int)strtol(argv[++k], NULL, 10));
#else
      k++;
#endif
    } else if (!strcmp(a, "-o") && more && file_count < MOST_RESULTS) {
      files[file_count++] = argv[++k];
    } else if (argument_count < MOST_ARGUMENTS) {
      const size_t length = strlen(a);
      const bool file = length > 4 && !strcmp(a + length - 4, ".npy");
      arguments[argument_count++] = file ? read_npy(a) : read_number(a);
    } else {
      fail(argv[0], "too many arguments");
    }
  }
  const double first = now();
  baseline(arguments, results);
  device_wait();
  printf("{\"first_seconds\": %.9f, \"seconds\": [", now() - first);
  for (long k = 0; k < repeat; k++) {
    const double start = now();
    baseline(arguments, results);
    device_wait();
    printf("%s%.9f", k ? ", " : "", now() - start);
  }
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  printf("], \"peak_bytes\": %lld}\n", (long long)used.ru_maxrss * 1024);
  for (int k = 0; k < file_count; k++) write_npy(files[k], &results[k]);
  return 0;
}
