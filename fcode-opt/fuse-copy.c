/* fuse-copy.c - copies cheap operations into the arms of an IF that use them.
 *
 * A superoperator does not extend beyond a block: a value computed before an IF and used in an
 * arm is written to memory, even if it is only a scalar spread, or the difference of two
 * vectors that the arm reads anyway. Such an operation is copied to the beginning of the arm,
 * where it can be fused with its uses. A copy pays if its work and the reads that only it needs
 * cost at most the read that it saves (fuse.h). It may save the write, too; that is not
 * counted.
 *
 * All decisions are made on the function before any copy: sizes are known of its variables
 * only.
 */
#include "fcode-opt/fuse.h"

#include <string.h>

struct copier {
  struct fuse *fuse;
  uint32_t *blocks; /* per variable: the block that defines it; parameters: 0 */
  uint32_t block_count;
  /* the block that gets copies: */
  struct ir_block *block;
  uint32_t number;
  uint32_t *read;   /* per variable: `number` if the block has an elementwise use of it ... */
  uint32_t *whole;  /* ... and if it has a use that needs it in memory */
  ir_var *copies;   /* per variable: its copy, if ... */
  uint32_t *copied; /* ... this is `number` */
  struct rewrite_block out;
};

/* Notes the definitions, as they are before any copy, and their blocks. */
static void copier_number_block(struct copier *c, const struct ir_block *block) {
  const uint32_t number = ++c->block_count;
  struct ir_binding *kept = arena_alloc(c->fuse->o->scratch, block->count * sizeof *kept);
  for (uint32_t i = 0; i < block->count; i++) {
    struct ir_binding *x = &kept[i];
    *x = block->bindings[i];
    for (uint32_t k = 0; k < x->result_count; k++) {
      c->fuse->definitions[x->results[k]] = x;
      c->blocks[x->results[k]] = number;
    }
    if (x->form != IR_IF) continue;
    copier_number_block(c, x->as.arms.then);
    copier_number_block(c, x->as.arms.otherwise);
  }
}

/* ---- what may be copied ---- */

/* Returns the access of the operands (fuse_form) if the operation can be fused; else NULL. */
static const char *fused_access(const struct copier *c, const struct ir_binding *x,
                                enum superop_role *role) {
  const struct opt *o = c->fuse->o;
  const char *access = fuse_form(o->scratch, o->program, x, role);
  if (!access) return NULL;
  const ir_var v = fuse_domain(o->program, x, *role);
  const bool scalar = sizes_known(c->fuse->sizes, c->fuse->function, v, SIZE_LEN) == 1;
  return scalar ? NULL : access;
}

/* Returns the producer of v in a block around, if it may be copied; or NULL. */
static const struct ir_binding *producer(const struct copier *c, ir_var v,
                                         const char **access) {
  const struct ir_binding *x = c->fuse->definitions[v];
  enum superop_role role;
  if (!x || c->blocks[v] == c->number) return NULL;
  *access = fused_access(c, x, &role);
  if (!*access || (role != ROLE_SPREAD && role != ROLE_INDEX && role != ROLE_MAP)) return NULL;
  return sizes_safe(c->fuse->sizes, c->fuse->function, x) ? x : NULL;
}

/* Returns whether v costs nothing more in the block: it is read or computed there already, or
 * free. */
static bool is_free_in_block(const struct copier *c, ir_var v) {
  const struct ir_binding *x = c->fuse->definitions[v];
  return c->read[v] == c->number || c->whole[v] == c->number || c->copied[v] == c->number ||
         (x && fuse_flat(c->fuse, x));
}

/* Returns the bytes per element of computing v in the block, or any number above `most` if it
 * is more than that. Every operation costs something, so the recursion is shallow. */
static double copy_cost(const struct copier *c, ir_var v, double most) {
  const char *access;
  const struct ir_binding *x = producer(c, v, &access);
  if (!x) return most + 1;
  double cost = fuse_work(c->fuse, x);
  for (uint32_t i = 0; i < x->operand_count && cost <= most; i++) {
    const ir_var w = x->operands[i];
    if (access[i] != 'd' || is_free_in_block(c, w)) continue;
    const double again = copy_cost(c, w, most - cost), read = fuse_bytes(c->fuse, w);
    enum superop_role role;
    const struct ir_binding *def = c->fuse->definitions[w];
    const bool fused = def && fused_access(c, def, &role) && fuse_is_producer((uint8_t)role);
    const double memory = fused ? 2 * read : read; /* it may have to be written, too */
    cost += again < memory ? again : memory;
  }
  return cost;
}

/* ---- copying ---- */

static bool pays(const struct copier *c, ir_var v) {
  if (c->whole[v] == c->number || fuse_flat(c->fuse, c->fuse->definitions[v])) return false;
  const double read = fuse_bytes(c->fuse, v);
  return copy_cost(c, v, read) <= read;
}

static ir_var copy_producer(struct copier *c, ir_var v) {
  if (c->copied[v] == c->number) return c->copies[v];
  struct fuse *fuse = c->fuse;
  const char *access;
  const struct ir_binding *x = producer(c, v, &access);
  struct ir_binding y =
      rewrite_binding(fuse->o, x->op, x->type, x->operand_count, 1, x->pos, x->origin);
  y.as = x->as;
  for (uint32_t i = 0; i < x->operand_count; i++) {
    const ir_var w = x->operands[i];
    const bool again = access[i] == 'd' && fuse->definitions[w] && c->blocks[w] != c->number &&
                       (c->copied[w] == c->number || pays(c, w));
    y.operands[i] = again ? copy_producer(c, w) : w;
  }
  y.results[0] = c->copies[v] = rewrite_var(fuse->o, fuse->f, fuse->f->vars[v]);
  c->copied[v] = c->number;
  rewrite_append(fuse->o, &c->out, &y);
  return y.results[0];
}

/* Replaces operand k by its copy, in a new array: the old one belongs to `definitions`. */
static void replace_operand(struct copier *c, struct ir_binding *x, uint32_t k) {
  ir_var *operands = arena_alloc(c->fuse->o->arena, x->operand_count * sizeof *operands);
  memcpy(operands, x->operands, x->operand_count * sizeof *operands);
  operands[k] = copy_producer(c, x->operands[k]);
  x->operands = operands;
}

/* Notes the uses in the block itself, not in the blocks within it. */
static void note_reads(struct copier *c) {
  for (uint32_t i = 0; i < c->block->count; i++) {
    const struct ir_binding *x = &c->block->bindings[i];
    enum superop_role role;
    const char *access = fused_access(c, x, &role);
    for (uint32_t k = 0; k < x->operand_count; k++)
      (access && access[k] == 'd' ? c->read : c->whole)[x->operands[k]] = c->number;
  }
  for (uint32_t k = 0; k < c->block->result_count; k++)
    c->whole[c->block->results[k]] = c->number;
}

static bool copy_into(struct copier *c, struct ir_block *block, bool arm) {
  const uint32_t number = ++c->block_count;
  c->block = block;
  c->number = number;
  c->out = (struct rewrite_block){0};
  if (arm) note_reads(c);
  for (uint32_t i = 0; i < block->count && arm; i++) {
    struct ir_binding *x = &block->bindings[i];
    enum superop_role role;
    const char *access = fused_access(c, x, &role);
    for (uint32_t k = 0; k < x->operand_count && access; k++) {
      const ir_var v = x->operands[k];
      if (access[k] != 'd' || !c->fuse->definitions[v] || c->blocks[v] == number) continue;
      if (c->copied[v] == number || pays(c, v)) replace_operand(c, x, k);
    }
  }
  bool changed = c->out.count > 0;
  const struct rewrite_block copies = c->out;
  for (uint32_t i = 0; i < block->count; i++) {
    const struct ir_binding *x = &block->bindings[i];
    if (x->form != IR_IF) continue;
    if (copy_into(c, x->as.arms.then, true)) changed = true;
    if (copy_into(c, x->as.arms.otherwise, true)) changed = true;
  }
  if (copies.count > 0) {
    c->out = copies;
    for (uint32_t i = 0; i < block->count; i++)
      rewrite_append(c->fuse->o, &c->out, &block->bindings[i]);
    rewrite_finish(block, &c->out);
  }
  return changed;
}

bool fuse_copy(struct fuse *fuse) {
  struct arena *scratch = fuse->o->scratch;
  const size_t n = fuse->f->var_count;
  struct copier c = {.fuse = fuse};
  fuse->definitions = arena_alloc(scratch, n * sizeof *fuse->definitions);
  c.blocks = arena_alloc(scratch, n * sizeof *c.blocks);
  c.read = arena_alloc(scratch, n * sizeof *c.read);
  c.whole = arena_alloc(scratch, n * sizeof *c.whole);
  c.copied = arena_alloc(scratch, n * sizeof *c.copied);
  c.copies = arena_alloc(scratch, n * sizeof *c.copies);
  copier_number_block(&c, fuse->f->body);
  c.block_count = 0; /* copy_into numbers the blocks in the same order */
  return copy_into(&c, fuse->f->body, false);
}
