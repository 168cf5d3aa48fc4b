/* library-kernels.c - compiles the superoperators of a library ahead of time: for the CPU by
 * the machine's C compiler, for CUDA as a file for nvcc.
 */
#include "commands/library-kernels.h"

#include "base/c-compiler.h"
#include "base/permissions.h"
#include "commands/output.h"
#include "commands/process.h"
#include "fused-kernels/emit.h"
#include "fused-kernels/fused.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- superoperators ---- */

bool library_superops(struct library *l, struct diag_list *diags) {
  size_t count = 0;
  for (uint32_t i = 0; i < l->entry_count; i++) count += l->entries[i].program->fused_count;
  l->superops = arena_alloc(l->arena, (count + 1) * sizeof *l->superops);
  for (uint32_t i = 0; i < l->entry_count; i++) {
    struct vcode_program *p = l->entries[i].program;
    for (uint32_t k = 0; k < p->fused_count; k++) {
      const struct superop *op = fused_parse(l->arena, p, &p->fused[k], diags);
      if (!op) return false;
      l->superops[l->superop_count++] = op;
    }
  }
  return true;
}

void library_cpu_text(const struct library *l, FILE *out) {
  fused_emit_cpu(l->arena, l->superops, l->superop_count, l->types.widths, out);
}

void library_cuda_text(const struct library *l, FILE *out) {
  fused_emit_cuda(l->arena, l->superops, l->superop_count, l->types.widths, out);
}

/* ---- the C compiler ---- */

static bool library_compile_failed(struct diag_list *diags, const char *file, const char *why) {
  diag_add(diags, SEVERITY_ERROR, file, (struct source_pos){0}, NULL,
           "it could not be compiled: %s", why);
  return false;
}

/* Starts the compiler and waits for it. */
static bool run_c_compiler(const char *source, char *const *words, struct diag_list *diags) {
  const struct permissions user = process_user();
  struct file_problem problem;
  int status = 0;
  pid_t child;
  if (!process_spawn(&user, &child, NULL, NULL, words, &problem)) {
    return library_compile_failed(diags, source, problem.text);
  }
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return output_complain(diags, source, errno);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  return library_compile_failed(diags, source, "the C compiler failed");
}

bool library_compile(const struct library *l, const char *folder, const char *arch,
                     struct diag_list *diags) {
  static const char *const flags[] = {FUSED_C_FLAGS};
  enum { FLAGS = sizeof flags / sizeof *flags };
  const char *source = arena_printf(l->arena, "%s/%s-cpu.c", folder, l->name);
  const char *object = arena_printf(l->arena, "%s/%s-cpu.so", folder, l->name);
  const char *part = arena_printf(l->arena, "%s.new", object);
  const char *words[C_COMPILER_WORDS + FLAGS + 6] = {NULL};
  struct c_compiler c;
  unsigned n = 0;
  if (!c_compiler_choose(&c, NULL)) {
    return library_compile_failed(diags, source, c.why[0] ? c.why : "there is no C compiler");
  }
  for (; n < c.count; n++) words[n] = c.words[n];
  for (int i = 0; i < FLAGS; i++) words[n++] = flags[i];
  if (arch[0]) words[n++] = arena_printf(l->arena, "-march=%s", arch);
  words[n++] = source;
  words[n++] = "-o";
  words[n++] = part;
  words[n++] = "-lm";
  if (run_c_compiler(source, (char *const *)words, diags)) {
    if (rename(part, object) == 0) return true;
    output_complain(diags, object, errno);
  }
  unlink(part);
  return false;
}
