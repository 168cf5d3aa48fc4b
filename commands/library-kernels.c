/* library-kernels.c - compiles the superoperators and procedures of a library ahead of time:
 * for the CPU by the machine's C compiler, for CUDA as a file for nvcc.
 */
#include "commands/library-kernels.h"

#include "base/c-compiler.h"
#include "base/permissions.h"
#include "commands/output.h"
#include "commands/process.h"
#include "fcode-opt/fcode-opt.h"
#include "fused-kernels/emit.h"
#include "fused-kernels/fused.h"
#include "procedures/procedures.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
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

/* ---- procedures ---- */

/* Returns the program as libravel has it when the library is loaded, since the names of its
 * procedures are made from what is printed of them there. NULL with diagnostics. */
static const struct ir_program *loaded_program(const struct library *l,
                                               const struct library_entry *e,
                                               struct diag_list *diags) {
  const struct fcode_opt_options optimiser = fcode_opt_default_options();
  const struct widths widths = l->types.widths;
  struct vcode_program *vcode =
      vcode_parse(l->arena, e->c_name, e->text, e->length, widths, diags);
  struct ir_program *program = vcode ? ir_build(l->arena, vcode, widths, diags) : NULL;
  if (!program) return NULL;
  program->entry_layout = e->layout;
  if (fcode_opt_is_done(program)) return program;
  return fcode_opt(l->arena, program, &optimiser, NULL, NULL, diags);
}

static bool has_earlier(const struct library *l, const struct library_entry *e) {
  for (const struct library_entry *other = l->entries; other < e; other++) {
    if (strcmp(other->procedures_prefix, e->procedures_prefix) == 0) return true;
  }
  return false;
}

bool library_procedures(struct library *l, struct diag_list *diags) {
  for (struct library_entry *e = l->entries; e < l->entries + l->entry_count; e++) {
    struct procedures p;
    const struct ir_program *program = loaded_program(l, e, diags);
    if (!program) return false;
    if (!procedures_make(l->arena, program, &p)) continue;
    fused_functions_prefix(p.text, p.length, e->procedures_prefix);
    if (has_earlier(l, e)) continue;
    e->procedures = p.text;
    e->procedures_length = p.length;
  }
  return true;
}

const char *library_procedures_suffix(const struct library *l, const struct library_entry *e) {
  return arena_printf(l->arena, "-cpu-%s.c", e->c_name);
}

void library_procedures_text(const struct library_entry *e, FILE *out) {
  fprintf(out,
          "/* Made by neslc (Ravel " RAVEL_VERSION "): %s and what it calls, for one element "
          "after the other.\n * It is compiled together with what is beside it. */\n"
          "#define RAVEL_ENTRY(name) %s##name\nconst char %s[] = \"\";\n",
          e->c_name, e->procedures_prefix, e->procedures_prefix);
  fwrite(e->procedures, 1, e->procedures_length, out);
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

/* Returns the words that compile all sources to a part of the object. NULL with diagnostics. */
static const char **compile_words(const struct library *l, const char *folder, const char *arch,
                                  const char *part, struct diag_list *diags) {
  static const char *const flags[] = {FUSED_C_FLAGS};
  enum { FLAGS = sizeof flags / sizeof *flags };
  const char *source = arena_printf(l->arena, "%s/%s-cpu.c", folder, l->name);
  struct c_compiler *c = arena_alloc(l->arena, sizeof *c);
  const char **words =
      arena_alloc(l->arena, (C_COMPILER_WORDS + FLAGS + l->entry_count + 6) * sizeof *words);
  size_t n = 0;
  if (!c_compiler_choose(c, NULL)) {
    library_compile_failed(diags, source, c->why[0] ? c->why : "there is no C compiler");
    return NULL;
  }
  for (unsigned i = 0; i < c->count; i++) words[n++] = c->words[i];
  for (int i = 0; i < FLAGS; i++) words[n++] = flags[i];
  if (arch[0]) words[n++] = arena_printf(l->arena, "-march=%s", arch);
  words[n++] = source;
  for (const struct library_entry *e = l->entries; e < l->entries + l->entry_count; e++) {
    if (e->procedures)
      words[n++] =
          arena_printf(l->arena, "%s/%s%s", folder, l->name, library_procedures_suffix(l, e));
  }
  words[n++] = "-o";
  words[n++] = part;
  words[n++] = "-lm";
  words[n] = NULL;
  return words;
}

bool library_compile(const struct library *l, const char *folder, const char *arch,
                     struct diag_list *diags) {
  const char *source = arena_printf(l->arena, "%s/%s-cpu.c", folder, l->name);
  const char *object = arena_printf(l->arena, "%s/%s-cpu.so", folder, l->name);
  const char *part = arena_printf(l->arena, "%s.new", object);
  const char **words = compile_words(l, folder, arch, part, diags);
  if (words && run_c_compiler(source, (char *const *)words, diags)) {
    if (rename(part, object) == 0) return true;
    output_complain(diags, object, errno);
  }
  unlink(part);
  return false;
}
