/* gathers.c - gathers from the operands of a map instead of from its result.
 *
 *     v = 2.0 * x                       x' = x[i]
 *     r = v[i]                          r = 2.0 * x'
 *
 * A gather needs the vector that it reads from in memory, so v takes a pass of its own. Behind
 * this pass the map has the domain of the gather and fuses with it, and only the elements that
 * are read are computed. Constants are spread over the new domain. A value for each segment is
 * spread over the segments of the gather. An INDEX becomes arithmetic on the index.
 *
 * It is done if v has no other uses than such gathers, and if computing it again for each of
 * them costs at most as much as v in memory (fuse-cost.c). An index that is an INDEX reads each
 * element once. Of any other index that is taken to be so if v has as many elements; reading
 * several vectors at such positions costs more than reading one, so there must be only one.
 *
 * Neither the map nor the gather may fail. One level of maps is handled at a time: the driver
 * repeats the pass, with simplify and dead, while it changes anything.
 */
#include "fcode-opt/fuse.h"
#include "ir/definitions.h"
#include "ir/kinds.h"

enum { GATHER_VALUES, GATHER_INDEX, GATHER_SOURCE, GATHER_TARGET };
enum { GATHERS_MOST = 16 }; /* from one map */

/* How an operand of the map is had at the positions of the gather. */
enum operand_way { WAY_CONSTANT, WAY_SEGMENT, WAY_PROGRESSION, WAY_GATHER };

struct gathers {
  struct opt *o;
  struct fuse fuse;         /* for costs */
  uint32_t *uses;           /* of each variable */
  uint32_t *read;           /* of each variable: gathers from it that are eligible */
  struct rewrite_block out; /* of the block that is rewritten */
  const struct ir_binding *at;
  ir_var flat; /* a descriptor of one segment for the gather's domain, or IR_NO_VAR */
  bool changed;
};

static const struct ir_binding *gathers_definition(const struct gathers *g, ir_var v) {
  return g->fuse.definitions[v];
}

static bool is_defined_by(const struct gathers *g, ir_var v, enum opcode op) {
  const struct ir_binding *x = gathers_definition(g, v);
  return x && x->form == IR_OP && x->op == op;
}

/* ---- which gathers ---- */

static enum operand_way way_of(const struct gathers *g, ir_var v, ir_var source) {
  const struct ir_binding *x = gathers_definition(g, v);
  if (is_defined_by(g, v, OPC_DIST)) {
    if (fuse_constant(&g->fuse, x->operands[0])) return WAY_CONSTANT;
    if (x->operands[1] == source) return WAY_SEGMENT;
  }
  if (is_defined_by(g, v, OPC_INDEX) && x->operands[2] == source) return WAY_PROGRESSION;
  return WAY_GATHER;
}

static bool is_map(const struct ir_binding *x) {
  enum superop_role role;
  return superop_access(x->op, &role) && role == ROLE_MAP &&
         opcode_fault((enum opcode)x->op, (enum type_word)x->type) == CVL_E_NONE;
}

/* Returns what a gather reads from, if it can be had at the gather's positions; or NULL. */
static const struct ir_binding *source_of(const struct gathers *g, const struct ir_binding *x) {
  const ir_var v = x->operands[GATHER_VALUES], source = x->operands[GATHER_SOURCE];
  const struct ir_binding *from = gathers_definition(g, v);
  if (!from || from->form != IR_OP) return NULL;
  const bool gather = from->op == OPC_BPERMUTE && from->operands[GATHER_TARGET] == source;
  if (!is_map(from) && !gather && way_of(g, v, source) == WAY_GATHER) return NULL;
  return sizes_safe(g->fuse.sizes, g->fuse.function, from) ? from : NULL;
}

/* Whether each element of the source is read about once. */
static bool reads_once(const struct gathers *g, const struct ir_binding *x) {
  if (is_defined_by(g, x->operands[GATHER_INDEX], OPC_INDEX)) return true;
  const struct sizes *sizes = g->fuse.sizes;
  const uint32_t function = g->fuse.function;
  return sizes_assumed(sizes, function, x->operands[GATHER_INDEX], SIZE_LEN) ==
         sizes_assumed(sizes, function, x->operands[GATHER_VALUES], SIZE_LEN);
}

/* How many vectors are gathered from instead. */
static uint32_t gathered_vectors(const struct gathers *g, const struct ir_binding *from,
                                 ir_var source) {
  if (!is_map(from)) return 0;
  uint32_t vectors = 0;
  for (uint32_t k = 0; k < from->operand_count; k++)
    vectors += way_of(g, from->operands[k], source) == WAY_GATHER;
  return vectors;
}

static const struct ir_binding *eligible(const struct gathers *g, const struct ir_binding *x) {
  if (x->form != IR_OP || x->op != OPC_BPERMUTE) return NULL;
  const struct ir_binding *from = source_of(g, x);
  if (!from || !sizes_safe(g->fuse.sizes, g->fuse.function, x) || !reads_once(g, x))
    return NULL;
  const bool affine = is_defined_by(g, x->operands[GATHER_INDEX], OPC_INDEX);
  return affine || gathered_vectors(g, from, x->operands[GATHER_SOURCE]) <= 1 ? from : NULL;
}

static void count_gathers(struct gathers *g, const struct ir_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding *x = &block->bindings[i];
    if (eligible(g, x)) g->read[x->operands[GATHER_VALUES]]++;
    if (x->form != IR_IF) continue;
    count_gathers(g, x->as.arms.then);
    count_gathers(g, x->as.arms.otherwise);
  }
}

/* Whether computing it for each of n gathers costs at most as much as its result, which is
 * computed and written once, and read by each of them. */
static bool gathers_pay(const struct gathers *g, const struct ir_binding *from, ir_var source,
                        uint32_t n) {
  const double bytes = fuse_bytes(&g->fuse, from->results[0]);
  double again = fuse_work(&g->fuse, from);
  for (uint32_t k = 0; k < from->operand_count; k++) {
    const ir_var v = from->operands[k];
    if (is_map(from) && way_of(g, v, source) == WAY_GATHER) again += fuse_bytes(&g->fuse, v);
  }
  return n * again <= again + (n + 1) * bytes;
}

/* Returns what a gather reads from if it is computed at the gather's positions; or NULL. */
static const struct ir_binding *moved(const struct gathers *g, const struct ir_binding *x) {
  const struct ir_binding *from = eligible(g, x);
  if (!from) return NULL;
  const uint32_t n = g->uses[from->results[0]];
  const bool only = n == g->read[from->results[0]] && n <= GATHERS_MOST;
  return only && gathers_pay(g, from, x->operands[GATHER_SOURCE], n) ? from : NULL;
}

/* ---- what becomes of them ---- */

/* Appends an operation at the position of the gather; returns its result. */
static ir_var gathers_emit(struct gathers *g, enum opcode op, enum ir_kind_tag tag,
                           const ir_var *operands, uint32_t count) {
  const bool typed = opcode_info(op)->types != NO_TYPE;
  const enum type_word type = tag == IR_FLOAT ? TW_FLOAT : tag == IR_BOOL ? TW_BOOL : TW_INT;
  struct ir_binding x = rewrite_binding(g->o, (uint16_t)op, typed ? (uint8_t)type : TW_NONE,
                                        count, 1, g->at->pos, g->at->origin);
  for (uint32_t k = 0; k < count; k++) x.operands[k] = operands[k];
  x.results[0] = rewrite_var(g->o, g->fuse.f, ir_kind_base(tag));
  rewrite_append(g->o, &g->out, &x);
  return x.results[0];
}

static ir_var emit_int_op(struct gathers *g, enum opcode op, ir_var a, ir_var b) {
  return gathers_emit(g, op, IR_INT, (ir_var[]){a, b}, 2);
}

/* A descriptor of one segment over the domain of the gather. */
static ir_var flat_descriptor(struct gathers *g) {
  const ir_var target = g->at->operands[GATHER_TARGET];
  if (sizes_known(g->fuse.sizes, g->fuse.function, target, SIZE_COUNT) == 1) return target;
  if (g->flat == IR_NO_VAR) {
    const ir_var length =
        gathers_emit(g, OPC_LENGTH, IR_INT, &g->at->operands[GATHER_INDEX], 1);
    g->flat = gathers_emit(g, OPC_MAKE_SEGDES, IR_SEGDES, &length, 1);
  }
  return g->flat;
}

/* start + stride * index, of an INDEX again an INDEX. */
static ir_var progression(struct gathers *g, const struct ir_binding *index) {
  const ir_var start = index->operands[0], stride = index->operands[1];
  const ir_var at = g->at->operands[GATHER_INDEX], target = g->at->operands[GATHER_TARGET];
  const struct ir_binding *by = gathers_definition(g, at);
  if (is_defined_by(g, at, OPC_INDEX) && by->operands[2] == target) {
    const ir_var first = emit_int_op(g, OPC_MUL, stride, by->operands[0]);
    const ir_var begin = emit_int_op(g, OPC_ADD, start, first);
    const ir_var step = emit_int_op(g, OPC_MUL, stride, by->operands[1]);
    return gathers_emit(g, OPC_INDEX, IR_INT, (ir_var[]){begin, step, target}, 3);
  }
  const ir_var starts = gathers_emit(g, OPC_DIST, IR_INT, (ir_var[]){start, target}, 2);
  const ir_var strides = gathers_emit(g, OPC_DIST, IR_INT, (ir_var[]){stride, target}, 2);
  return emit_int_op(g, OPC_ADD, starts, emit_int_op(g, OPC_MUL, strides, at));
}

/* An operand of the map at the positions of the gather. */
static ir_var operand_at(struct gathers *g, ir_var v) {
  const ir_var *of = g->at->operands;
  const struct ir_binding *x = gathers_definition(g, v);
  const enum ir_kind_tag tag = g->fuse.f->vars[v]->tag;
  switch (way_of(g, v, of[GATHER_SOURCE])) {
  case WAY_CONSTANT: {
    const ir_var over = flat_descriptor(g);
    return gathers_emit(g, OPC_DIST, tag, (ir_var[]){x->operands[0], over}, 2);
  }
  case WAY_SEGMENT:
    return gathers_emit(g, OPC_DIST, tag, (ir_var[]){x->operands[0], of[GATHER_TARGET]}, 2);
  case WAY_PROGRESSION: return progression(g, x);
  case WAY_GATHER: break;
  }
  return gathers_emit(g, OPC_BPERMUTE, tag,
                      (ir_var[]){v, of[GATHER_INDEX], of[GATHER_SOURCE], of[GATHER_TARGET]}, 4);
}

/* Appends the map at the positions of the gather. */
static void move_map(struct gathers *g, const struct ir_binding *map) {
  struct ir_binding y =
      rewrite_binding(g->o, map->op, map->type, map->operand_count, 1, map->pos, map->origin);
  y.as = map->as;
  for (uint32_t k = 0; k < map->operand_count; k++)
    y.operands[k] = operand_at(g, map->operands[k]);
  rewrite_append(g->o, &g->out, &y);
}

/* Appends the gather by the index that the gather reads. */
static void move_gather(struct gathers *g, const struct ir_binding *from) {
  struct ir_binding y =
      rewrite_binding(g->o, from->op, from->type, 4, 1, from->pos, from->origin);
  y.operands[GATHER_VALUES] = from->operands[GATHER_VALUES];
  y.operands[GATHER_INDEX] = operand_at(g, from->operands[GATHER_INDEX]);
  y.operands[GATHER_SOURCE] = from->operands[GATHER_SOURCE];
  y.operands[GATHER_TARGET] = g->at->operands[GATHER_TARGET];
  rewrite_append(g->o, &g->out, &y);
}

/* Appends what a gather reads from, at the positions of the gather, with its result. */
static void move_source(struct gathers *g, const struct ir_binding *x,
                        const struct ir_binding *from) {
  g->at = x;
  g->flat = IR_NO_VAR;
  if (is_map(from)) {
    move_map(g, from);
  } else if (from->op == OPC_BPERMUTE) {
    move_gather(g, from);
  } else {
    operand_at(g, from->results[0]);
  }
  g->out.bindings[g->out.count - 1].results[0] = x->results[0];
  g->changed = true;
}

/* Rewrites a block, unless nothing in it moves: then its bindings stay as they are. */
static void gathers_in_block(struct gathers *g, struct ir_block *block) {
  struct rewrite_block before = g->out;
  g->out = (struct rewrite_block){0};
  bool any = false;
  for (uint32_t i = 0; i < block->count; i++) {
    struct ir_binding *x = &block->bindings[i];
    if (x->form == IR_IF) {
      gathers_in_block(g, x->as.arms.then);
      gathers_in_block(g, x->as.arms.otherwise);
    }
    const struct ir_binding *from = moved(g, x);
    if (from) {
      move_source(g, x, from);
    } else {
      rewrite_append(g->o, &g->out, x);
    }
    any |= from != NULL;
  }
  if (any) rewrite_finish(block, &g->out);
  g->out = before;
}

bool pass_gathers(struct opt *o) {
  struct gathers g = {.o = o, .fuse = {.o = o, .sizes = sizes_compute(o)}};
  struct calls calls = calls_make(o);
  for (uint32_t i = 0; i < o->program->function_count; i++) {
    struct ir_function *f = &o->program->functions[i];
    if (!f->typed || !calls.reachable[i] || (calls.effects[i] & EFFECT_TIMER)) continue;
    g.fuse.function = i;
    g.fuse.f = f;
    g.fuse.definitions = ir_definitions(o->scratch, f);
    g.uses = arena_alloc(o->scratch, f->var_count * sizeof *g.uses);
    g.read = arena_alloc(o->scratch, f->var_count * sizeof *g.read);
    rewrite_count_uses(f, g.uses);
    count_gathers(&g, f->body);
    gathers_in_block(&g, f->body);
  }
  return g.changed;
}
