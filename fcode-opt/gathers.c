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
 * them costs at most as much as v in memory (fuse-cost.c). Each element must be read about
 * once: by an INDEX over the gather's segments, or at as many positions as there are elements.
 * Reading several vectors at positions that are no INDEX costs more than reading one, so there
 * must be only one.
 *
 * An EXTRACT is a gather of one element for each segment, and a single element if there is one
 * segment. Then a value for each segment is had at its positions already.
 *
 * Maps that only this map needs move with it. Neither they nor the gather may fail. The driver
 * repeats the pass, with simplify and dead, while it changes anything: a gather from a gather
 * may read from a map then.
 */
#include "fcode-opt/fuse.h"
#include "ir/definitions.h"

enum { GATHER_VALUES, GATHER_INDEX, GATHER_SOURCE, GATHER_TARGET };
enum {
  GATHERS_MOST = 16,  /* from one map */
  EXTRACTS_MOST = 4,  /* of single elements instead of a vector: as many instructions or so */
  DEEPEST_CHAIN = 100 /* of maps that are moved at once */
};

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

/* An EXTRACT is a gather of one element for each segment. */
static bool is_gather(const struct ir_binding *x) {
  return x->form == IR_OP && (x->op == OPC_BPERMUTE || x->op == OPC_EXTRACT);
}

/* Whether there is one segment: then an EXTRACT takes a single element. */
static bool is_whole(const struct gathers *g, ir_var descriptor) {
  return sizes_known(g->fuse.sizes, g->fuse.function, descriptor, SIZE_COUNT) == 1;
}

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
  if (!from || from->form != IR_OP || (x->op == OPC_EXTRACT && from->op == OPC_DIST))
    return NULL;
  const bool gather = from->op == OPC_BPERMUTE && from->operands[GATHER_TARGET] == source;
  if (!is_map(from) && !gather && way_of(g, v, source) == WAY_GATHER) return NULL;
  return sizes_safe(g->fuse.sizes, g->fuse.function, from) ? from : NULL;
}

/* Whether each element of the source is read about once. An INDEX over the descriptor of the
 * gather has one run in each segment. One over another descriptor has runs that may overlap. */
static bool reads_once(const struct gathers *g, const struct ir_binding *x) {
  const ir_var index = x->operands[GATHER_INDEX];
  const struct sizes *sizes = g->fuse.sizes;
  const uint32_t function = g->fuse.function;
  return x->op == OPC_EXTRACT ||
         (is_defined_by(g, index, OPC_INDEX) &&
          gathers_definition(g, index)->operands[2] == x->operands[GATHER_TARGET]) ||
         sizes_assumed(sizes, function, index, SIZE_LEN) ==
             sizes_assumed(sizes, function, x->operands[GATHER_VALUES], SIZE_LEN);
}

/* ---- what they cost ---- */

/* What is computed at the positions of a gather instead of being gathered. */
struct chain {
  double work;      /* of its operations, in bytes (fuse-cost.c) */
  double read;      /* bytes of an element of each vector that is gathered */
  double written;   /* of these, those that were computed beside their use before */
  uint32_t vectors; /* that are gathered */
  ir_var last;      /* of these: what is read twice by one operation is gathered once */
};

/* Whether a vector is in memory, since it is not computed beside its use. */
static bool is_in_memory(const struct gathers *g, ir_var v) {
  const struct ir_binding *x = gathers_definition(g, v);
  enum superop_role role;
  return !x || x->form != IR_OP || !superop_access(x->op, &role) ||
         !fuse_is_producer((uint8_t)role);
}

/* Returns the map that computes an operand of a chain, if it is for this use only; or NULL. */
static const struct ir_binding *next_map(const struct gathers *g, ir_var v, unsigned depth) {
  const struct ir_binding *x = gathers_definition(g, v);
  const bool fine = depth < DEEPEST_CHAIN && x && x->form == IR_OP && is_map(x) &&
                    g->uses[v] == 1 && sizes_safe(g->fuse.sizes, g->fuse.function, x);
  return fine ? x : NULL;
}

/* Adds operand v of a chain, and what it follows from. */
static void chain_add(const struct gathers *g, ir_var v, ir_var source, unsigned depth,
                      struct chain *c) {
  if (way_of(g, v, source) != WAY_GATHER) return;
  const struct ir_binding *map = next_map(g, v, depth);
  if (map) {
    c->work += fuse_work(&g->fuse, map);
    for (uint32_t k = 0; k < map->operand_count; k++)
      chain_add(g, map->operands[k], source, depth + 1, c);
    return;
  }
  if (c->vectors > 0 && c->last == v) return;
  c->vectors++;
  c->last = v;
  c->read += fuse_bytes(&g->fuse, v);
  if (!is_in_memory(g, v)) c->written += fuse_bytes(&g->fuse, v);
}

static struct chain chain_of(const struct gathers *g, const struct ir_binding *from,
                             ir_var source) {
  struct chain c = {.work = fuse_work(&g->fuse, from)};
  for (uint32_t k = 0; k < from->operand_count; k++) {
    if (is_map(from) || (from->op == OPC_BPERMUTE && k == GATHER_INDEX))
      chain_add(g, from->operands[k], source, 1, &c);
  }
  return c;
}

static const struct ir_binding *eligible(const struct gathers *g, const struct ir_binding *x) {
  if (!is_gather(x)) return NULL;
  const struct ir_binding *from = source_of(g, x);
  if (!from || !sizes_safe(g->fuse.sizes, g->fuse.function, x) || !reads_once(g, x))
    return NULL;
  const bool affine =
      x->op == OPC_EXTRACT || is_defined_by(g, x->operands[GATHER_INDEX], OPC_INDEX);
  return affine || chain_of(g, from, x->operands[GATHER_SOURCE]).vectors <= 1 ? from : NULL;
}

/* Whether computing it for each of n gathers costs at most as much as its result, which is
 * computed and written once, and read by each of them. Of single elements there should be few:
 * each is some instructions, and the vector may be short. */
static bool gathers_pay(const struct gathers *g, const struct ir_binding *from,
                        const struct ir_binding *x, uint32_t n) {
  const struct chain c = chain_of(g, from, x->operands[GATHER_SOURCE]);
  const bool single = x->op == OPC_EXTRACT && is_whole(g, x->operands[GATHER_SOURCE]);
  if (single && n * (c.vectors + 1) > EXTRACTS_MOST) return false;
  const double more = (single ? 0 : (n - 1) * (c.work + c.read)) + 2 * c.written;
  return more <= (n + 1) * fuse_bytes(&g->fuse, from->results[0]);
}

/* Returns what a gather reads from if it is computed at the gather's positions; or NULL. */
static const struct ir_binding *moved(const struct gathers *g, const struct ir_binding *x) {
  const struct ir_binding *from = eligible(g, x);
  if (!from) return NULL;
  const uint32_t n = g->uses[from->results[0]];
  const bool only = n == g->read[from->results[0]] && n <= GATHERS_MOST;
  return only && gathers_pay(g, from, x, n) ? from : NULL;
}

/* ---- what becomes of them ---- */

/* Appends an operation at the position of the gather; returns its result. */
static ir_var gathers_emit(struct gathers *g, enum opcode op, enum ir_kind_tag tag,
                           const ir_var *operands, uint32_t count) {
  return rewrite_op(g->o, g->fuse.f, &g->out, op, tag, operands, count, g->at);
}

static ir_var emit_int_op(struct gathers *g, enum opcode op, ir_var a, ir_var b) {
  return gathers_emit(g, op, IR_INT, (ir_var[]){a, b}, 2);
}

/* A descriptor of one segment over the domain of the gather. */
static ir_var flat_descriptor(struct gathers *g) {
  if (g->at->op == OPC_BPERMUTE && is_whole(g, g->at->operands[GATHER_TARGET]))
    return g->at->operands[GATHER_TARGET];
  if (g->flat == IR_NO_VAR) {
    const ir_var length =
        gathers_emit(g, OPC_LENGTH, IR_INT, &g->at->operands[GATHER_INDEX], 1);
    g->flat = gathers_emit(g, OPC_MAKE_SEGDES, IR_SEGDES, &length, 1);
  }
  return g->flat;
}

/* A value for each segment of the source at the positions of the gather. */
static ir_var of_segments(struct gathers *g, ir_var v) {
  if (g->at->op == OPC_EXTRACT) return v;
  return gathers_emit(g, OPC_DIST, g->fuse.f->vars[v]->tag,
                      (ir_var[]){v, g->at->operands[GATHER_TARGET]}, 2);
}

/* start + stride * index, of an INDEX again an INDEX. */
static ir_var progression(struct gathers *g, const struct ir_binding *index) {
  const ir_var start = index->operands[0], stride = index->operands[1];
  const ir_var at = g->at->operands[GATHER_INDEX];
  const struct ir_binding *by = gathers_definition(g, at);
  if (is_defined_by(g, at, OPC_INDEX) && g->at->op == OPC_BPERMUTE &&
      by->operands[2] == g->at->operands[GATHER_TARGET]) {
    const ir_var first = emit_int_op(g, OPC_MUL, stride, by->operands[0]);
    const ir_var begin = emit_int_op(g, OPC_ADD, start, first);
    const ir_var step = emit_int_op(g, OPC_MUL, stride, by->operands[1]);
    return gathers_emit(g, OPC_INDEX, IR_INT, (ir_var[]){begin, step, by->operands[2]}, 3);
  }
  const ir_var starts = of_segments(g, start), strides = of_segments(g, stride);
  return emit_int_op(g, OPC_ADD, starts, emit_int_op(g, OPC_MUL, strides, at));
}

/* Appends a gather like the one that moves, by another index and from another vector. */
static ir_var emit_gather(struct gathers *g, ir_var v, ir_var index, ir_var source) {
  const bool extract = g->at->op == OPC_EXTRACT;
  const ir_var operands[4] = {v, index, source,
                              extract ? IR_NO_VAR : g->at->operands[GATHER_TARGET]};
  return gathers_emit(g, (enum opcode)g->at->op, g->fuse.f->vars[v]->tag, operands,
                      g->at->operand_count);
}

static ir_var operand_at(struct gathers *g, ir_var v, unsigned depth);

/* Appends a map at the positions of the gather, and what it follows from. */
static ir_var moved_map(struct gathers *g, const struct ir_binding *map, unsigned depth) {
  struct ir_binding y =
      rewrite_binding(g->o, map->op, map->type, map->operand_count, 1, map->pos, map->origin);
  y.as = map->as;
  for (uint32_t k = 0; k < map->operand_count; k++)
    y.operands[k] = operand_at(g, map->operands[k], depth + 1);
  y.results[0] = rewrite_var(g->o, g->fuse.f, g->fuse.f->vars[map->results[0]]);
  rewrite_append(g->o, &g->out, &y);
  return y.results[0];
}

/* An operand at the positions of the gather. */
static ir_var operand_at(struct gathers *g, ir_var v, unsigned depth) {
  const ir_var *of = g->at->operands;
  const struct ir_binding *x = gathers_definition(g, v);
  const enum ir_kind_tag tag = g->fuse.f->vars[v]->tag;
  switch (way_of(g, v, of[GATHER_SOURCE])) {
  case WAY_CONSTANT: {
    if (g->at->op == OPC_EXTRACT && is_whole(g, of[GATHER_SOURCE])) return x->operands[0];
    const ir_var over = flat_descriptor(g);
    return gathers_emit(g, OPC_DIST, tag, (ir_var[]){x->operands[0], over}, 2);
  }
  case WAY_SEGMENT: return of_segments(g, x->operands[0]);
  case WAY_PROGRESSION: return progression(g, x);
  case WAY_GATHER: break;
  }
  const struct ir_binding *map = next_map(g, v, depth);
  if (map) return moved_map(g, map, depth);
  return emit_gather(g, v, of[GATHER_INDEX], of[GATHER_SOURCE]);
}

/* Appends the gather by the index that the gather reads. */
static void move_gather(struct gathers *g, const struct ir_binding *from) {
  const ir_var index = operand_at(g, from->operands[GATHER_INDEX], 1);
  emit_gather(g, from->operands[GATHER_VALUES], index, from->operands[GATHER_SOURCE]);
}

/* Appends what a gather reads from, at the positions of the gather, with its result. */
static void move_source(struct gathers *g, const struct ir_binding *x,
                        const struct ir_binding *from) {
  g->at = x;
  g->flat = IR_NO_VAR;
  if (is_map(from)) {
    moved_map(g, from, 0);
  } else if (from->op == OPC_BPERMUTE) {
    move_gather(g, from);
  } else {
    operand_at(g, from->results[0], 0);
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

/* Whether a gather reads what an operation computes beside its use. */
static bool has_candidates(const struct gathers *g, const struct ir_block *block) {
  for (struct ir_walk w = ir_walk(g->o->scratch, block); ir_next_binding(&w);) {
    if (is_gather(w.x) && !is_in_memory(g, w.x->operands[GATHER_VALUES])) return true;
  }
  return false;
}

static void gathers_in_function(struct gathers *g, struct ir_function *f) {
  struct opt *o = g->o;
  if (!g->fuse.sizes) g->fuse.sizes = sizes_compute(o); /* takes longer than all else here */
  g->read = arena_alloc(o->scratch, f->var_count * sizeof *g->read);
  g->uses = ir_count_uses(o->scratch, f);
  for (struct ir_walk w = ir_walk(o->scratch, f->body); ir_next_binding(&w);) {
    if (eligible(g, w.x)) g->read[w.x->operands[GATHER_VALUES]]++;
  }
  gathers_in_block(g, f->body);
}

bool pass_gathers(struct opt *o) {
  struct gathers g = {.o = o, .fuse = {.o = o}};
  struct calls calls = calls_make(o);
  for (uint32_t i = 0; i < o->program->function_count; i++) {
    struct ir_function *f = &o->program->functions[i];
    if (!f->typed || !calls.reachable[i] || (calls.effects[i] & EFFECT_TIMER)) continue;
    g.fuse.function = i;
    g.fuse.f = f;
    g.fuse.definitions = ir_definitions(o->scratch, f);
    if (has_candidates(&g, f->body)) gathers_in_function(&g, f);
  }
  return g.changed;
}
