/* emit-tile.c - the function that executes a tile, strip by strip: what spreads, counts and
 * gathers fills buffers, then the function of a stage runs, and so on; last come packs, which
 * append what they keep. Whatever depends on the segments of a position is a walk over them,
 * written here around the functions of tile-functions.h.
 */
#include "cvl/trees.h"
#include "fused-kernels/emit-expression.h"

struct tile_text {
  const struct superop *op;
  const struct fused_functions *functions;
  struct widths widths;
  const char *name, *block;
  FILE *out;
};

static const struct fused_schedule *schedule(const struct tile_text *t) {
  return &t->functions->schedule;
}

static bool emit_tile_of_stage(const struct tile_text *t, uint32_t k, uint32_t stage) {
  return fused_schedule_executes(schedule(t), stage, k);
}

/* Whether the function of a stage executes a node that is a gather, or INDEX. */
static bool emit_tile_is_inside(const struct tile_text *t, uint32_t k, enum superop_role role) {
  return schedule(t)->tasks[k] == TASK_INSIDE && t->op->nodes[k].role == role;
}

/* The letter of the functions for elements of this kind. */
static char letter_of(const struct tile_text *t, uint32_t v) {
  return "ifb"[t->op->kinds[v] == SUPEROP_INT ? 0 : t->op->kinds[v] == SUPEROP_FLOAT ? 1 : 2];
}

/* Where the elements of value v are, for the strip. */
static void print_data(const struct tile_text *t, uint32_t v) {
  fprintf(t->out, "(void *)(t->data[%u] + at * t->step[%u])", v, v);
}

bool fused_tile_walks(const struct fused_functions *f, uint32_t k) {
  const struct fused_schedule *s = &f->schedule;
  const struct superop_node *node = &s->op->nodes[k];
  switch ((enum superop_role)node->role) {
  case ROLE_SPREAD:
    return s->apart[k] && (!fused_is_constant(s->op, node) || s->needed[node->result]);
  case ROLE_INDEX:
  case ROLE_GATHER:
  case ROLE_PICK: return s->apart[k] || s->tasks[k] == TASK_INSIDE;
  case ROLE_CARRY: return fused_begins_loop(s->op, k);
  default: return false;
  }
}

/* ---- which values the stages read and write ---- */

/* in[v] and out[v] for a stage. */
static void print_operands(const struct tile_text *t, uint32_t stage) {
  for (uint32_t v = 0; v < t->op->value_count; v++) {
    if (fused_schedule_computes(schedule(t), stage, v)) {
      if (!schedule(t)->written[v]) continue;
      fprintf(t->out, "    out[%u] = ", v);
    } else if (fused_schedule_reads(schedule(t), stage, v) &&
               emit_spread_constant(t->op, v) == NULL) {
      fprintf(t->out, "    in[%u] = ", v);
    } else {
      continue;
    }
    print_data(t, v);
    fputs(";\n", t->out);
  }
}

/* ---- nodes that are not of blocks ---- */

static void print_walk(const struct tile_text *t, uint32_t k, const char *fills) {
  const uint32_t v = t->op->nodes[k].result;
  fprintf(t->out,
          "    if (t->nodes[%u].act == TILE_FILL) {\n"
          "      %s(&t->nodes[%u], first + at, last, ",
          k, fills, k);
  print_data(t, v);
  fputs(");\n    }\n", t->out);
}

static void print_fault(const struct tile_text *t, uint32_t k, const char *position) {
  fprintf(t->out, "t->fails(t->with, %u, %s);\n", k, position);
}

/* Runs where there are any; the rest after a fault is 0. */
static void print_runs(const struct tile_text *t, uint32_t k) {
  const uint32_t v = t->op->nodes[k].result;
  fprintf(t->out,
          "    if (t->nodes[%u].act == TILE_RUNS) {\n"
          "      %s *to = ",
          k, emit_type_of(t->op, t->widths, v));
  print_data(t, v);
  fprintf(t->out,
          ";\n      const uint64_t good = tile_runs_%c(&t->nodes[%u], first + at, last, to);\n"
          "      if (good < last) {\n"
          "        memset(to, 0, m * sizeof *to);\n        ",
          letter_of(t, v), k);
  print_fault(t, k, "good");
  fputs("      }\n    }\n", t->out);
}

/* A gather whose index is in a buffer. */
static void print_gather(const struct tile_text *t, uint32_t k) {
  const struct superop_node *node = &t->op->nodes[k];
  const uint32_t v = node->result;
  fprintf(t->out,
          "    if (t->nodes[%u].act == TILE_FILL) {\n"
          "      tile_%s(&t->nodes[%u], first + at, last);\n"
          "      %s *to = ",
          k, node->role == ROLE_PICK ? "own_bounds" : "bounds", k,
          emit_type_of(t->op, t->widths, v));
  print_data(t, v);
  fputs(";\n      const INT *index = ", t->out);
  print_data(t, node->operands[1]);
  fprintf(t->out,
          ";\n      const uint64_t good = tile_gather_%c(&t->nodes[%u], index, m, to);\n"
          "      if (good < m) ",
          letter_of(t, v), k);
  print_fault(t, k, "first + at + good");
  fputs("    }\n", t->out);
}

/* Node k, before the stage that may read it. */
static void print_node(const struct tile_text *t, uint32_t k) {
  const struct superop_node *node = &t->op->nodes[k];
  char fills[16];
  snprintf(fills, sizeof fills, "tile_dist_%c", letter_of(t, node->result));
  switch ((enum superop_role)node->role) {
  case ROLE_SPREAD: print_walk(t, k, fills); break;
  case ROLE_INDEX: print_walk(t, k, "tile_index"); break;
  case ROLE_GATHER:
    if (node->op == OPC_BPERMUTE) print_runs(t, k);
    print_gather(t, k);
    break;
  case ROLE_PICK: print_gather(t, k); break;
  default: break;
  }
}

/* ---- nodes of blocks ---- */

/* Whether node k is the first gather between its descriptors. */
static bool finds_bounds(const struct tile_text *t, uint32_t k) {
  if (t->functions->flat || !emit_tile_is_inside(t, k, ROLE_GATHER)) return false;
  for (uint32_t i = 0; i < k; i++) {
    if (emit_tile_is_inside(t, i, ROLE_GATHER) &&
        t->functions->bounds[i] == t->functions->bounds[k] &&
        schedule(t)->stages[i] <= schedule(t)->stages[k])
      return false;
  }
  return true;
}

/* Writes what gathers and INDEXes of a stage need besides operands. */
static void prepare_stage(const struct tile_text *t, uint32_t stage) {
  for (uint32_t k = 0; k < t->op->node_count; k++) {
    const uint32_t v = t->op->nodes[k].result;
    if (!emit_tile_of_stage(t, k, stage)) continue;
    if (finds_bounds(t, k))
      fprintf(t->out, "    tile_bounds(&t->nodes[%u], first + at, last);\n", k);
    if (emit_tile_is_inside(t, k, ROLE_GATHER))
      fprintf(t->out, "    in[%u] = &t->nodes[%u].gathered;\n", v, k);
    if (!emit_tile_is_inside(t, k, ROLE_INDEX)) continue;
    fprintf(t->out,
            "    struct fused_progression from%u = t->nodes[%u].index_of;\n"
            "    from%u.start += from%u.stride * (first + at);\n"
            "    in[%u] = &from%u;\n",
            v, k, v, v, v, v);
  }
}

static void call_stage(const struct tile_text *t, uint32_t stage) {
  const bool last = stage + 1 == schedule(t)->stage_count;
  fprintf(t->out, "    %s%u(m, in, out, fault, %s);\n", t->block, stage,
          last ? "t->ahead ? &ahead : 0" : "0");
}

static void report_stage(const struct tile_text *t, uint32_t stage) {
  for (uint32_t k = 0; k < t->op->node_count; k++) {
    if (!emit_tile_of_stage(t, k, stage) || !t->op->nodes[k].checked) continue;
    char position[48];
    snprintf(position, sizeof position, "first + at + fault[%u]", k);
    fprintf(t->out, "    if (fault[%u] != UINT64_MAX) ", k);
    print_fault(t, k, position);
  }
}

static void print_stage(const struct tile_text *t, uint32_t stage) {
  for (uint32_t k = 0; k < t->op->node_count; k++) {
    if (schedule(t)->stages[k] == stage && fused_tile_walks(t->functions, k) &&
        schedule(t)->tasks[k] != TASK_INSIDE)
      print_node(t, k);
  }
  if (stage >= schedule(t)->stage_count) return;
  prepare_stage(t, stage);
  print_operands(t, stage);
  call_stage(t, stage);
  report_stage(t, stage);
}

/* ---- packs ---- */

static void print_pack(const struct tile_text *t, uint32_t k, uint32_t number) {
  const struct superop_node *node = &t->op->nodes[k];
  fprintf(t->out,
          "    {\n      struct tile_pack *p = &t->packs[%u];\n      const uint8_t *flags = ",
          number);
  print_data(t, node->operands[1]);
  fprintf(t->out,
          ";\n      if (p->offsets) tile_ranks(p, first + at, last, flags);\n"
          "      if (p->out) {\n        %s *to = (%s *)(void *)p->out + p->kept;\n"
          "        p->kept += tile_pack_%c(m, ",
          emit_type_of(t->op, t->widths, node->operands[0]),
          emit_type_of(t->op, t->widths, node->operands[0]), letter_of(t, node->operands[0]));
  print_data(t, node->operands[0]);
  fputs(", flags, to);\n      } else {\n        p->kept += tile_count(m, flags);\n      }\n    "
        "}\n",
        t->out);
}

static void print_packs(const struct tile_text *t) {
  uint32_t number = 0;
  for (uint32_t k = 0; k < t->op->node_count; k++) {
    if (t->op->nodes[k].role == ROLE_PACK) print_pack(t, k, number++);
  }
}

/* ---- the function ---- */

static void print_beginning(const struct tile_text *t) {
  for (int declared = 0; declared < 2; declared++) {
    fprintf(t->out, "%svoid %s(struct tile *t, uint64_t first, uint64_t n)%s",
            declared ? "" : "SELDOM ", t->name, declared ? " {\n" : ";\n");
  }
  fprintf(t->out,
          "  const void *in[%u];\n"
          "  void *out[%u];\n"
          "  uint64_t fault[%u];\n"
          "  (void)in, (void)out, (void)fault;\n"
          "  for (uint64_t at = 0, m; at < n; at += m) {\n"
          "    m = n - at < t->strip ? n - at : t->strip;\n"
          "    const uint64_t last = first + at + m;\n"
          "    const struct tile_ahead ahead = {t->streams, t->stream_count, first + at, "
          "t->ahead};\n"
          "    (void)last, (void)ahead;\n",
          t->op->value_count, t->op->value_count + 1, t->op->node_count + 1);
}

void fused_emit_tile(const struct fused_functions *f, struct widths widths, const char *name,
                     const char *block, FILE *out) {
  const struct superop *op = f->schedule.op;
  const struct tile_text t = {op, f, widths, name, block, out};
  uint32_t stages = f->schedule.stage_count;
  for (uint32_t k = 0; k < op->node_count; k++) {
    if (f->schedule.stages[k] > stages) stages = f->schedule.stages[k];
  }
  print_beginning(&t);
  for (uint32_t s = 0; s <= stages; s++) print_stage(&t, s);
  print_packs(&t);
  fputs("    if (t->done) t->done(t->with, first + at, m);\n  }\n}\n\n", out);
}
