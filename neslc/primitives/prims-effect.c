/* prims-effect.c - primitives that print, read, stop, and draw. */
#include <string.h>

#include "neslc/flatten/emit.h"
#include "neslc/flatten/primitive.h"
#include "neslc/flatten/rep.h"
#include "neslc/primitives/prims.h"

enum { STREAM_OUT = 1 };

static const char error_text[] = "the program stopped itself by `error` {}";

bool flatten_text_of_error(const char *text, size_t length) {
  return length == sizeof error_text - 1 && memcmp(text, error_text, length) == 0;
}

/* The characters of all instances' strings, concatenated. */
static ir_var characters(struct flattener *f, const struct context *c, const struct rep *s) {
  return element_scalars(f, rep_plain(f, c, s));
}

static void emit_print(struct flattener *f, ir_var text) {
  ir_var status[2];
  emit_results(f, OPC_FWRITE, TW_CHAR, 2, (ir_var[]){text, emit_int(f, STREAM_OUT)}, 2, status);
}

static ir_var literal_text(struct flattener *f, const char *text) {
  struct vcode_constant *k = arena_alloc(f->arena, sizeof *k);
  size_t n = 0;
  while (text[n]) n++;
  int64_t *data = arena_alloc(f->arena, (n + 1) * sizeof *data);
  for (size_t i = 0; i < n; i++) data[i] = text[i];
  *k = (struct vcode_constant){.type = TW_INT, .vector = true, .length = n};
  k->as.ints = data;
  return emit_constant(f, k);
}

static const struct rep *rep_truth(struct flattener *f) {
  return rep_scalar(f, TW_BOOL, emit_bool(f, true), true);
}

/* Prints the text of the first instance, if there is one, and ends the program. */
static const struct rep *stop(struct flattener *f, const struct context *c,
                              const struct rep *text) {
  const ir_var any = EMIT(f, GT, INT, EMIT(f, LENGTHS, NONE, c->one), emit_int(f, 0));
  struct flat_block *b = block_begin(f);
  const struct rep *first = text;
  if (!context_serial(c)) first = rep_gather(f, text, emit_int(f, 0), c->one, f->serial.one);
  emit_print(f, literal_text(f, "ERROR: "));
  emit_print(f, characters(f, &f->serial, first));
  emit_print(f, literal_text(f, "\n"));
  emit_stop(f, error_text); /* reports the source location */
  struct ir_block *then = block_end_exit(f, b);
  b = block_begin(f);
  struct ir_block *otherwise = block_end(f, b, 0, NULL);
  flat_if(f, any, then, otherwise, 0, NULL);
  return rep_truth(f);
}

/* (flag, message) of a status block: message under flag. */
static const struct rep *emit_message(struct flattener *f, ir_var text) {
  const ir_var segdes = one_segment(f, EMIT(f, LENGTH, INT, text));
  return rep_sequence(f, segdes, f->serial.one, rep_scalar(f, TW_INT, text, false), true);
}

static const struct rep *status(struct flattener *f, ir_var text, ir_var good) {
  return rep_pair(f, rep_scalar(f, TW_BOOL, good, true), emit_message(f, text));
}

static const struct rep *with_status(struct flattener *f, const struct rep *value, ir_var text,
                                     ir_var good) {
  return rep_pair(f, value, status(f, text, good));
}

static const struct rep *write_to(struct flattener *f, enum type_word word, ir_var data,
                                  ir_var stream) {
  ir_var out[2];
  emit_results(f, OPC_FWRITE, word, 2, (ir_var[]){data, stream}, 2, out);
  return status(f, out[0], out[1]);
}

static const struct rep *read_from(struct flattener *f, enum type_word word, ir_var stream) {
  ir_var out[3];
  emit_results(f, OPC_FREAD, word, 1, &stream, 3, out);
  const ir_var segdes = one_segment(f, emit(f, OPC_LENGTH, word, 1, out));
  const struct rep *v =
      rep_sequence(f, segdes, f->serial.one, rep_scalar(f, word, out[0], false), true);
  return with_status(f, v, out[1], out[2]);
}

/* This mode of FOPEN opens the arguments of the program (vinterp/io/streams.h). */
enum { MODE_OF_ARGUMENTS = 41 };

static const struct rep *rep_argument_text(struct flattener *f) {
  ir_var opened[3], text[4], closed[2];
  emit_results(f, OPC_FOPEN, TW_NONE, 2,
               (ir_var[]){literal_text(f, ""), emit_int(f, MODE_OF_ARGUMENTS)}, 3, opened);
  emit_check(f, opened[2], check_text(CHECK_ARGUMENTS));
  emit_results(f, OPC_FREAD_CHAR, TW_NONE, 3,
               (ir_var[]){literal_text(f, ""), emit_int(f, -1), opened[0]}, 4, text);
  emit_results(f, OPC_FCLOSE, TW_NONE, 1, opened, 2, closed);
  return emit_message(f, text[0]);
}

/* Lengths are written and read as a descriptor. */
static const struct rep *write_lengths(struct flattener *f, ir_var lengths, ir_var stream) {
  return write_to(f, TW_SEGDES, EMIT(f, MAKE_SEGDES, NONE, lengths), stream);
}

static const struct rep *emit_read_lengths(struct flattener *f, ir_var stream) {
  ir_var out[3];
  emit_results(f, OPC_FREAD, TW_SEGDES, 1, &stream, 3, out);
  const ir_var lengths = EMIT(f, LENGTHS, NONE, out[0]);
  const ir_var segdes = one_segment(f, EMIT(f, LENGTH, INT, lengths));
  const struct rep *v =
      rep_sequence(f, segdes, f->serial.one, rep_scalar(f, TW_INT, lengths, false), true);
  return with_status(f, v, out[1], out[2]);
}

static const struct rep *emit_read_string(struct flattener *f, const struct rep *x) {
  const ir_var delimiters = characters(f, &f->serial, x->left);
  ir_var out[4];
  emit_results(f, OPC_FREAD_CHAR, TW_NONE, 3,
               (ir_var[]){delimiters, x->right->left->v, x->right->right->v}, 4, out);
  const struct rep *pair =
      rep_pair(f, emit_message(f, out[0]), rep_scalar(f, TW_INT, out[1], true));
  return with_status(f, pair, out[2], out[3]);
}

static const struct rep *emit_spawn(struct flattener *f, const struct rep *x) {
  const ir_var command = characters(f, &f->serial, x->left);
  const struct rep *in = x->right->left, *out = x->right->right->left,
                   *err = x->right->right->right;
  ir_var v[5];
  emit_results(f, OPC_SPAWN, TW_NONE, 4, (ir_var[]){command, in->v, out->v, err->v}, 5, v);
  /* Left on the stack, deepest first: err, out, in. */
  const struct rep *streams = rep_pair(
      f, rep_scalar(f, TW_INT, v[2], true),
      rep_pair(f, rep_scalar(f, TW_INT, v[1], true), rep_scalar(f, TW_INT, v[0], true)));
  return with_status(f, streams, v[3], v[4]);
}

/* A stream is a datatype of one INT. */
const struct rep *prim_effect(struct flattener *f, struct context *c, enum primitive p,
                              const struct rep *x, struct type *type, struct type *result) {
  switch (p) {
  case PRIM_SIGNATURE: return emit_message(f, literal_text(f, value_signature(f->arena, type)));
  case PRIM_PRINT_STRING: emit_print(f, characters(f, c, x)); return rep_truth(f);
  case PRIM_ERROR: return stop(f, c, x);
  case PRIM_RAND_SEED:
    return rep_scalar(f, TW_BOOL, emit(f, OPC_SRAND, TW_INT, 1, &x->v), true);
  case PRIM_OPEN_FILE: {
    ir_var out[3];
    emit_results(f, OPC_FOPEN, TW_NONE, 2, (ir_var[]){characters(f, c, x->left), x->right->v},
                 3, out);
    return with_status(f, rep_scalar(f, TW_INT, out[0], true), out[1], out[2]);
  }
  case PRIM_ARGUMENT_TEXT: return rep_argument_text(f);
  case PRIM_CLOSE_FILE: {
    ir_var out[2];
    emit_results(f, OPC_FCLOSE, TW_NONE, 1, &x->v, 2, out);
    return status(f, out[0], out[1]);
  }
  case PRIM_READ_STRING: return emit_read_string(f, x);
  case PRIM_WRITE_STRING: return write_to(f, TW_CHAR, characters(f, c, x->left), x->right->v);
  case PRIM_WRITE_INTS: return write_to(f, TW_INT, characters(f, c, x->left), x->right->v);
  case PRIM_WRITE_BOOLS: return write_to(f, TW_BOOL, characters(f, c, x->left), x->right->v);
  case PRIM_WRITE_LENGTHS: return write_lengths(f, characters(f, c, x->left), x->right->v);
  case PRIM_WRITE_FLOATS:
    f->exact_floats = true;
    return write_to(f, TW_FLOAT, characters(f, c, x->left), x->right->v);
  case PRIM_READ_INTS: return read_from(f, TW_INT, x->v);
  case PRIM_READ_BOOLS: return read_from(f, TW_BOOL, x->v);
  case PRIM_READ_LENGTHS: return emit_read_lengths(f, x->v);
  case PRIM_READ_FLOATS: return read_from(f, TW_FLOAT, x->v);
  case PRIM_SPAWN: return emit_spawn(f, x);
  default: unsupported(f, "a primitive with effects"); return rep_empty(f, result);
  }
}
