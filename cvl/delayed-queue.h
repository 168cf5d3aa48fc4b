/* delayed-queue.h - inside of the delaying back end: values that may not exist yet, the queue
 * of operations that will make them. Private to delayed*.c. */
#ifndef RAVEL_CVL_DELAYED_QUEUE_H
#define RAVEL_CVL_DELAYED_QUEUE_H

#include "cvl/call.h"
#include "cvl/delayed.h"

struct task;

enum node_state {
  NODE_WAITING, /* its task has not run */
  NODE_READY,   /* inner holds the value */
  NODE_HARMLESS /* its task failed: zeros of the right size */
};

/* What struct cvl_vector and struct cvl_segdes are here. */
struct node {
  uint64_t references;
  struct node *next, **previous; /* all nodes of the context */
  enum node_state state;
  uint8_t elem;
  bool segdes;
  struct cvl_size size;   /* length or total */
  struct cvl_size count;  /* of a descriptor */
  struct cvl_value inner; /* READY: owned by the node; CVL_NOTHING once given away */
  struct task *maker;     /* WAITING */
};

struct task {
  struct task *next; /* in the queue, in order of issue */
  uint64_t site;
  bool requirement;
  struct cvl_size a, b; /* of a requirement */
  int64_t rule;
  struct cvl_call call; /* of an operation: operands hold a reference each */
  struct node *out[CALL_RESULTS];
};

struct symbol {
  bool known;
  uint64_t size;
  struct task *maker; /* until it is known */
};

struct cvl_context {
  const struct cvl_backend *b; /* the wrapped one */
  struct cvl_context *inner;
  enum cvl_elem int_elem, float_elem;
  uint64_t random;
  uint64_t waits;
  struct cvl_error error;
  bool sizes_differ; /* a requirement failed: sizes may disagree from now on */
  struct node *nodes;
  struct task *queue, **end;
  unsigned queued;
  struct symbol *symbols; /* symbol s is symbols[s - 1] */
  uint64_t symbol_count, symbol_capacity;
};

/* A random number below n. */
uint64_t delayed_random(struct cvl_context *, uint64_t n);
/* Records a fault, the lowest site first; false. */
bool delayed_fault(struct cvl_context *, struct cvl_error);
/* Moves what the wrapped back end has found into the slot; true if it had found something. */
bool delayed_take_inner_fault(struct cvl_context *, uint64_t site);

/* The node of a vector or descriptor, or NULL. */
struct node *node_of(const struct cvl_value *);
/* A node with one reference; NULL after recording a fault. */
struct node *node_new(struct cvl_context *, uint64_t site, bool segdes, enum cvl_elem);
void node_release(struct cvl_context *, struct node *);
struct cvl_value node_value(struct node *);

/* Sizes of any value, as exact as they are known now. */
struct cvl_size delayed_length(struct cvl_context *, const struct cvl_value *);
struct cvl_size delayed_count(struct cvl_context *, const struct cvl_value *);
struct cvl_size size_now(const struct cvl_context *, struct cvl_size);
/* A new symbol for a size that task will know, 0 after recording a fault. */
uint64_t symbol_new(struct cvl_context *, struct task *);

void queue_add(struct cvl_context *, struct task *);
/* Runs a task, and first all that make its operands. */
void task_run(struct cvl_context *, struct task *);
/* Runs some tasks or none, as chance has it; never leaves many. */
void queue_stir(struct cvl_context *);
void queue_drain(struct cvl_context *);
/* Forgets a task that has not run. */
void task_free(struct cvl_context *, struct task *);

#endif
