/* program.c - see program.h. */
#include "commands/program.h"
#include "commands/process.h"

#include <string.h>
#include <unistd.h>

/* ---- widths ---- */

static struct widths choose_widths(const struct program *p, const struct program_options *o) {
  struct widths widths = {CVL_I64, CVL_F64};
  vcode_recorded_widths(p->source.text, p->source.length, &widths);
  if (o->shared->int_given) widths.int_elem = o->shared->widths.int_elem;
  if (o->shared->float_given) widths.float_elem = o->shared->widths.float_elem;
  return widths;
}

/* ---- memory ---- */

void program_init(struct program *p, uint64_t memory_limit) {
  memset(p, 0, sizeof *p);
  heap_init(&p->heap, memory_limit);
  arena_init(&p->arena, &p->heap);
  heap_init(&p->message_heap, DIAG_MEMORY);
  arena_init(&p->messages, &p->message_heap);
  diag_list_init(&p->diags, &p->messages);
}

void program_free(struct program *p) {
  source_free(&p->source, &p->heap);
  source_free(&p->sop, &p->heap);
  arena_free(&p->arena);
  arena_free(&p->messages);
}

/* ---- superoperators that stand in another file ---- */

static bool uses_superops(const struct vcode_program *vcode) {
  for (uint32_t f = 0; f < vcode->function_count; f++) {
    const struct vcode_function *function = &vcode->functions[f];
    for (uint32_t i = 0; i < function->length; i++) {
      if (function->code[i].op == OPC_FUSED) return true;
    }
  }
  return false;
}

/* PROGRAM.sop for PROGRAM.fcode, if it is there; else NULL. */
static const char *sop_beside(struct program *p, const char *file) {
  const char *slash = strrchr(file, '/'), *point = strrchr(file, '.');
  bool extension = point && point > (slash ? slash + 1 : file);
  int stem = (int)(extension ? (size_t)(point - file) : strlen(file));
  int length = snprintf(p->sop_path, sizeof p->sop_path, "%.*s.sop", stem, file);
  bool fits = length > 0 && (size_t)length < sizeof p->sop_path;
  return fits && access(p->sop_path, F_OK) == 0 ? p->sop_path : NULL;
}

static bool read_definitions(struct program *p, const struct program_options *o) {
  const char *sop = o->sop;
  if (!sop) {
    if (p->vcode->fused_count > 0 || !uses_superops(p->vcode) || strcmp(o->file, "-") == 0)
      return true;
    sop = sop_beside(p, o->file);
    if (!sop) return true; /* FUSED without definitions is an error later */
  }
  return source_read(&p->sop, &p->heap, sop, &p->diags) &&
         vcode_parse_definitions(&p->arena, p->vcode, sop, p->sop.text, p->sop.length,
                                 &p->diags);
}

/* ---- loading ---- */

/* Keeps the first error only, if the text is no VCODE at all: that causes many errors. */
static void complain_of_whole(struct program *p, const char *what) {
  struct diag first = p->diags.list.items[0];
  diag_list_init(&p->diags, &p->messages);
  diag_add(&p->diags, SEVERITY_ERROR, first.file, first.pos, NULL,
           "this is no VCODE program but %s: %s", what, first.message);
}

/* Describes a file that is no VCODE; NULL if its kind is unknown. */
static const char *other_kind(const struct program *p, const char *file) {
  const size_t length = strlen(file);
  if (source_is_binary(&p->source)) return "a binary file";
  if (length < 5 || strcmp(file + length - 5, ".nesl") != 0) return NULL;
  return "one of NESL, which `nesl run` executes and `neslc` compiles to VCODE";
}

bool program_parse(struct program *p, const struct program_options *o) {
  if (!source_read(&p->source, &p->heap, o->file, &p->diags)) return false;
  p->widths = choose_widths(p, o);
  p->vcode =
      vcode_parse(&p->arena, o->file, p->source.text, p->source.length, p->widths, &p->diags);
  if (!p->vcode) {
    const char *kind = other_kind(p, o->file);
    if (p->diags.list.count > 0 && kind) complain_of_whole(p, kind);
    return false;
  }
  return read_definitions(p, o);
}

bool program_load(struct program *p, const struct program_options *o) {
  if (!program_parse(p, o)) return false;
  p->ir = ir_build(&p->arena, p->vcode, p->widths, &p->diags);
  return p->ir != NULL;
}

bool program_stopped(struct program *p, const char *file) {
  char text[128];
  if (stop_asks(process_stop()) == STOP_NOT) return false;
  stop_describe(process_stop(), text, sizeof text);
  diag_list_init(&p->diags, &p->messages);
  diag_add(&p->diags, SEVERITY_ERROR, file, (struct source_pos){0}, NULL, "%s", text);
  return false;
}
