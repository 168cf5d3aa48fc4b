/* delayed-queue.h - internals of the delaying back end: values that may not exist yet, and the
 * queue of operations that will make them. Private to delayed*.c. */
#ifndef RAVEL_CVL_DELAYED_QUEUE_H
#define RAVEL_CVL_DELAYED_QUEUE_H

#include "cvl/call.h"
#include "cvl/delayed.h"
#include "cvl/superop.h"

enum { DELAYED_SLACK = 7 }; /* the most by which a deferred bound is too large */

struct task;

enum node_state {
  NODE_WAITING, /* its task has not run */
  NODE_READY,   /* inner holds the value */
  NODE_HARMLESS /* its task failed: zeros of the right size */
};

/* A vector or a descriptor of this back end. */
struct delayed_node {
  uint64_t references;
  struct delayed_node *next, **previous; /* all nodes of the context */
  enum node_state state;
  uint8_t elem;
  bool segdes;
  struct cvl_size size;   /* length or total */
  struct cvl_size count;  /* for a descriptor */
  struct cvl_value inner; /* if READY: owned by the node; CVL_NOTHING once given away */
  struct task *producer;  /* if WAITING */
};

/* A prepared superoperator. */
struct cvl_kernel {
  struct cvl_kernel *next; /* all kernels of the context */
  const struct superop *op;
  struct cvl_kernel *inner; /* NULL: nodes are executed one by one */
};

/* A requirement, an operation or a superoperator that has not run yet. */
struct task {
  struct task *next; /* in the queue, in order of issue */
  uint64_t site;
  bool requirement;
  struct cvl_size a, b; /* for a requirement */
  int64_t rule;
  struct cvl_kernel *kernel; /* for a superoperator, else NULL */
  /* for an operation; its operands are in `operand` below, not in the call */
  struct cvl_call call;
  unsigned operand_count, out_count;
  struct cvl_value *operand; /* each holds a reference */
  struct cvl_value *inner;   /* the operands for the wrapped back end, when it runs */
  struct cvl_value *result;  /* the results of the wrapped back end */
  struct delayed_node **out;
};

struct symbol {
  bool known;
  uint64_t size;
  struct task *producer; /* until it is known */
};

struct cvl_context {
  const struct cvl_backend *b; /* the wrapped back end */
  struct cvl_context *inner;
  enum cvl_elem int_elem, float_elem;
  struct cvl_stop stop;
  uint64_t random;
  uint64_t waits;
  struct cvl_error error;
  bool sizes_differ; /* a requirement failed: sizes may disagree from now on */
  struct delayed_node *nodes;
  struct cvl_kernel *kernels;
  struct task *queue, **end;
  unsigned queued;
  struct symbol *symbols; /* symbol s is symbols[s - 1] */
  uint64_t symbol_count, symbol_capacity;
};

/* Returns a random number below n. */
uint64_t delayed_random(struct cvl_context *, uint64_t n);
/* Records a fault, the lowest site first, and returns false. */
bool delayed_fault(struct cvl_context *, struct cvl_error);
/* Moves a fault of the wrapped back end into the slot. Returns whether there was one. It is a
 * fault of an operation with `sites` sites. */
bool delayed_take_inner_fault(struct cvl_context *, uint64_t site, uint64_t sites);

/* Returns the node of a vector or descriptor, or NULL. */
struct delayed_node *node_of(const struct cvl_value *);
/* Makes a node with one reference; NULL after recording a fault. */
struct delayed_node *node_new(struct cvl_context *, uint64_t site, bool segdes, enum cvl_elem);
void node_release(struct cvl_context *, struct delayed_node *);
struct cvl_value node_value(struct delayed_node *);

/* Return sizes of any value, as exact as they are known now. */
struct cvl_size delayed_length(struct cvl_context *, const struct cvl_value *);
struct cvl_size delayed_count(struct cvl_context *, const struct cvl_value *);
struct cvl_size size_now(const struct cvl_context *, struct cvl_size);
/* Makes a symbol for a size that the task will know; 0 after recording a fault. */
uint64_t symbol_new(struct cvl_context *, struct task *);

/* Returns a size in the sense of superop.h, for these operands; SIZE_UNKNOWN: that of the
 * domain. */
struct cvl_size delayed_superop_size(struct cvl_context *, const struct superop *,
                                     struct superop_size, const struct cvl_value *operands);

/* Makes a task with room for so many operands and results; NULL after recording a fault. */
struct task *task_new(struct cvl_context *, uint64_t site, unsigned operand_count,
                      unsigned out_count);
/* Makes a task that takes over its operands: the references of owned ones, and another one for
 * each borrowed one. NULL after releasing the owned ones. */
struct task *task_with(struct cvl_context *, uint64_t site, const struct cvl_value *operands,
                       unsigned operand_count, unsigned out_count);
/* Queues a task whose results all have nodes, and returns those. If the task is not complete,
 * it is freed, and the result is false. */
bool task_submit(struct cvl_context *, struct task *, bool complete, struct cvl_value *results);
void queue_add(struct cvl_context *, struct task *);
/* Runs a task, after all tasks that make its operands. */
void task_run(struct cvl_context *, struct task *);
/* Runs some tasks or none, at random. Never leaves many. */
void queue_stir(struct cvl_context *);
void queue_drain(struct cvl_context *);
/* Frees a task that has not run. */
void task_free(struct cvl_context *, struct task *);

/* ---- of the table of functions (delayed-superop.c) ---- */

struct cvl_kernel *delayed_prepare(struct cvl_context *, const struct superop *);
void delayed_prepared(struct cvl_context *);
void delayed_discard(struct cvl_context *, struct cvl_kernel *);
bool delayed_run(struct cvl_context *, uint64_t site, struct cvl_kernel *,
                 const struct cvl_value *operands, struct cvl_value *outs);

#endif
