/* permute.cu - the six forms of PERMUTE. Launches on a device:
 *
 *   BPERMUTE, BFPERMUTE             one; of tuples one for up to 16 vectors in a row
 *   PERMUTE                         one; two for many elements, which then cost few bytes; of
 *                                   tuples no more for up to 16 vectors in a row; more for
 *                                   many that go all over the result (buckets.hpp)
 *   DPERMUTE, FPERMUTE, DFPERMUTE   two: of several sources the highest must win, so they
 *                                   claim their positions first; then each position fetches
 *                                   from the winner
 *   before these                    memory is set: no claims, no elements. All of a window in
 *                                   one launch (queue.hpp)
 *   a scatter by an index again     one, of tuples one for up to 16 vectors in a row
 *   PERMUTE ... of few elements     one: the same bodies in one block
 *
 * The claims of a scatter are its inverse, and are kept with the index vector. Later scatters
 * by that index become gathers, which need not look for segments and cannot be at fault. After
 * a PERMUTE of many elements the index vector only notes that it has no duplicates.
 */
#include "cvl-cuda/buckets.hpp"
#include "cvl-cuda/moves.hpp"
#include "cvl-cuda/ops.hpp"

namespace ravel {

static_assert((int)LATE_FAULT == (int)CVL_E_DUPLICATE, "the prelude knows it by number");

/* ---- claims that are kept ---- */

/* Identifies a descriptor without a reference to it, which might make a cycle. */
struct descriptor_mark {
  int64_t count = 1, total = 0, equal = 0;
  uint64_t symbol = 0; /* of a total that was deferred then */
  ref<block> offsets;

  explicit descriptor_mark(const cvl_value &d) {
    if (d.form != CVL_SEGDES) {
      total = equal = (int64_t)d.as.one_segment;
      return;
    }
    const cvl_segdes &s = *d.as.segdes;
    count = s.count;
    total = s.total;
    equal = s.equal;
    if (s.size) symbol = s.size->symbol;
    if (equal < 0) offsets = s.device_offsets;
  }
  bool operator==(const descriptor_mark &x) const {
    return count == x.count && total == x.total && equal == x.equal && symbol == x.symbol &&
           offsets.get() == x.offsets.get();
  }
};

/* The claims of the sources under `s` to the positions under `d`. Null: the sources are a
 * permutation of the positions. There is no fault in them unless one was reported since.
 * `last`: see claim_of. */
struct scatter_plan {
  ref<cvl_vector> claims;
  int64_t last;
  descriptor_mark s, d;
  uint64_t faults_taken;
};

/* ---- one operation ---- */

/* From as many elements as the tuning value says, PERMUTE takes one launch more. It then moves
 * 3 bytes for an element beside the vectors, not 3C + E; this is an estimate. Up to
 * NARROW_CLAIMS sources have claims of 32 bits, where all ones is no claim. */
enum : int64_t { NARROW_CLAIMS = UINT32_MAX };

struct permutation {
  context &c;
  const cvl_permute &a;
  work w;
  const bool gathers, exclusive;                /* exclusive: there are no duplicates */
  const ref<deferred> result_size, source_size; /* if deferred: then bounds are */
  int64_t n, sources;                           /* elements of the result; of the index */
  bool all_over = false;                        /* adjacent sources go far apart */
  ref<cvl_vector> result;

  permutation(context &ctx, uint64_t at_site, cvl_op op, const cvl_permute &args)
      : c(ctx), a(args),
        w(ctx, at_site, {&a.values, &a.index, &a.flags, &a.defaults, &a.s, &a.d}, 0,
          operand_lengths::BOUNDED),
        gathers(op == OP_BPERMUTE || op == OP_BFPERMUTE), exclusive(op == OP_PERMUTE),
        result_size(deferred_total(args.d)),
        source_size(gathers ? nullptr : deferred_total(args.s)),
        n(result_size ? result_size->bound : total_of(ctx, args.d)),
        sources(gathers       ? n
                : source_size ? source_size->bound
                              : total_of(ctx, args.s)) {
    w.over(result_size);
  }

  /* Returns the deferred total of a descriptor with no more sources than narrow claims allow,
   * else null. */
  ref<deferred> deferred_total(const cvl_value &d) {
    const ref<deferred> size = d.form == CVL_SEGDES ? d.as.segdes->size : nullptr;
    return stays_deferred(c, size) && size->bound < NARROW_CLAIMS ? size : nullptr;
  }

  template <class I> void run();
  bool has_buckets() const;
  template <class I> ref<deferred> sample();
  template <class I, index_form FORM> addresses<I, FORM> find_addresses();
  moved describe();
  template <class T> void describe_as(moved *);
  bool may_take_over() const;
  bool few() const {
    return !w.on_host && !result_size && !source_size && n <= FEW_MOVED && sources <= FEW_MOVED;
  }
  void give(cvl_value *out) { w.give(out, result); }

private:
  template <class I> void gather();
  template <class I, class C> void scatter();
  template <class I, class C> void scatter_exclusively();
  template <class I, class C> void permute_many();
  template <class I> void permute_again();
  template <class I>
  void move_many(const addresses<I, IN_SEGMENTS> &, ptr<uint8_t> marks, const moved &);
  template <class I, class V>
  bool move_by_buckets(const addresses<I, IN_SEGMENTS> &, ptr<uint8_t> marks, const moved &);
  template <class V> bool make_buckets(buckets<V> *, ptr<uint8_t> *room);
  template <class C>
  fetch_claimed_body<C> delivery(ptr<const C> claims, int64_t last, const moved &);
  template <class C> void deliver(const fetch_claimed_body<C> &);
  template <class I, class C> bool deliver_again();
  template <class C> ref<cvl_vector> make_claims();
  void keep(const ref<cvl_vector> &claims, int64_t last);
};

template <class I, index_form FORM> addresses<I, FORM> permutation::find_addresses() {
  addresses<I, FORM> x{};
  x.near = w.view(gathers ? a.d : a.s, true);
  x.far = w.view(gathers ? a.s : a.d);
  x.index = w.read<I>(a.index);
  if (a.flags.form == CVL_NOTHING) {
    x.flags.kind = ALL_EQUAL;
    x.flags.first = 1;
  } else {
    x.flags = w.read<uint8_t>(a.flags);
  }
  x.bad = w.bad();
  return x;
}

/* Returns whether the result can be written over the defaults while the other operands are
 * read. */
bool permutation::may_take_over() const {
  for (const cvl_value *v : {&a.values, &a.index, &a.flags}) {
    if (v->form == CVL_VECTOR && v->as.vector == a.defaults.as.vector) return false;
  }
  return true;
}

template <class T> void permutation::describe_as(moved *m) {
  m->width = sizeof(T);
  m->from = retyped<uint64_t>(w.read<T>(a.values));
  m->rest = ZERO;
  if (a.defaults.form == CVL_VECTOR && may_take_over()) {
    result = w.take_over(a.defaults);
    if (result) m->rest = KEEP;
  }
  if (!result) {
    if (a.defaults.form != CVL_NOTHING) {
      m->rest = DEFAULT;
      m->defaults = retyped<uint64_t>(w.read<T>(a.defaults));
    }
    result = w.make_each((cvl_elem)a.values.elem, n);
  }
  m->to = retyped<uint64_t>(w.data<T>(result));
}

/* Describes the vector to be moved. It also makes the result. */
moved permutation::describe() {
  moved m{};
  switch (elem_info((cvl_elem)a.values.elem)->bytes) {
  case 1: describe_as<uint8_t>(&m); break;
  case 4: describe_as<uint32_t>(&m); break;
  default: describe_as<uint64_t>(&m); break;
  }
  return m;
}

/* ---- gathers ---- */

template <class I> void permutation::gather() {
  using body_type = gather_body<I, WITH_FLAGS>;
  body_type body{};
  body.from = find_addresses<I, WITH_FLAGS>();
  body.vectors.count = 1;
  body.vectors.list[0] = describe();
  w.run_joined(w.for_each(launch_together("gather", n, body)), join_moves<body_type>);
}

/* ---- scatters ---- */

template <class C>
fetch_claimed_body<C> permutation::delivery(ptr<const C> claims, int64_t last, const moved &m) {
  fetch_claimed_body<C> body{};
  body.claims = claims;
  body.last = last;
  body.vectors.count = 1;
  body.vectors.list[0] = m;
  return body;
}

template <class C> void permutation::deliver(const fetch_claimed_body<C> &body) {
  const launch l = w.for_each(launch_together("deliver", n, body));
  if (body.vectors.list[0].rest == KEEP) { /* it writes what earlier commands may read */
    w.run(l);
  } else {
    w.run_joined(l, join_moves<fetch_claimed_body<C>>);
  }
}

/* Scatters by the claims of an earlier scatter, or as that one did, if the index vector has a
 * plan. */
template <class I, class C> bool permutation::deliver_again() {
  if (w.on_host || a.index.form != CVL_VECTOR || a.flags.form != CVL_NOTHING) return false;
  const scatter_plan *p = a.index.as.vector->scatter.get();
  if (p == nullptr || p->faults_taken != c.faults_taken || (p->last < 0) != exclusive ||
      !(p->s == descriptor_mark(a.s)) || !(p->d == descriptor_mark(a.d)))
    return false;
  if (!p->claims) {
    permute_again<I>();
    return true;
  }
  cvl_value claims{};
  claims.form = CVL_VECTOR;
  claims.elem = (uint8_t)p->claims->elem;
  claims.as.vector = p->claims.get();
  deliver(delivery<C>(w.elements<C>(claims), p->last, describe()));
  return true;
}

template <class C> ref<cvl_vector> permutation::make_claims() {
  return w.make(sizeof(C) == 4 ? CVL_I32 : CVL_I64, n);
}

/* Keeps the claims that kernels will make with the index vector, if that stays. */
void permutation::keep(const ref<cvl_vector> &claims, int64_t last) {
  const cvl_value &v = a.index;
  const bool stays = v.form == CVL_VECTOR && !(v.owned && v.as.vector->refs == 1);
  if (!stays || w.on_host || a.flags.form != CVL_NOTHING) return;
  v.as.vector->scatter.reset(new scatter_plan{claims, last, descriptor_mark(a.s),
                                              descriptor_mark(a.d), c.faults_taken});
}

template <class I, class C> void permutation::scatter() {
  const addresses<I, WITH_FLAGS> to = find_addresses<I, WITH_FLAGS>();
  const int64_t last = sources > 0 ? sources - 1 : 0;
  const ref<cvl_vector> claims = make_claims<C>();
  const ptr<C> at = w.data<C>(claims);
  const unclaim_body<C> unclaim{at};
  const claim_body<I, C> claim{to, at, last};
  const fetch_claimed_body<C> fetch = delivery<C>(at, last, describe());
  if (few()) {
    w.run(launch_blocks("scatter few", 1, one_block_of(unclaim, n, claim, sources, fetch, n)));
  } else {
    w.set(claims, UNCLAIMED_BYTE);
    w.over(source_size);
    w.run(w.for_each(launch_together("claim", sources, claim)));
    w.over(result_size);
    w.is_written(claims);
    deliver(fetch);
  }
  keep(claims, last);
}

/* ---- PERMUTE ---- */

template <class I, class C> void permutation::scatter_exclusively() {
  const addresses<I, IN_SEGMENTS> to = find_addresses<I, IN_SEGMENTS>();
  const moved m = describe();
  const ref<cvl_vector> claims = make_claims<C>();
  const prepare_body<C> prepare{w.data<C>(claims), m};
  const claim_and_move_body<I, C> move{{to, w.data<C>(claims)}, m};
  if (few()) {
    w.run(launch_blocks("permute few", 1, one_block_of(prepare, n, move, n)));
  } else {
    w.set(claims, UNCLAIMED_BYTE);
    w.set(result, 0);
    w.run(w.for_each(launch_together("permute", n, move)));
  }
  keep(claims, -1);
}

/* Makes buckets. If memory for them is short, it returns false, and sources are moved one by
 * one. */
template <class V> bool permutation::make_buckets(buckets<V> *b, ptr<uint8_t> *room) {
  try {
    b->values = pointer_to<V>((void *)(uintptr_t)address(w.elements<V>(a.values)));
    b->to = w.scratch<uint32_t>(n);
    b->sorted_to = w.scratch<uint32_t>(n);
    b->sorted = w.scratch<V>(n);
    *room = w.scratch<uint8_t>(buckets<V>::room(w, n));
    return true;
  } catch (const failure &f) {
    if (f.error.kind != CVL_E_MEMORY) throw;
    return false;
  }
}

template <class I, class V>
bool permutation::move_by_buckets(const addresses<I, IN_SEGMENTS> &to, ptr<uint8_t> marks,
                                  const moved &m) {
  buckets<V> b{n, n, nullptr, nullptr, nullptr, nullptr};
  ptr<uint8_t> room = nullptr;
  if (!make_buckets(&b, &room)) return false;
  w.run(launch_together("permute: positions", n, positions_body<I>{to, b.to, n}));
  b.sort_by_highest(w, room, buckets<V>::room(w, n));
  deliver_buckets<V>(w, "permute many", b, retyped<V>(m.to), marks);
  return true;
}

template <class I>
static mark_and_move_body<I> marking(const addresses<I, IN_SEGMENTS> &to, ptr<uint8_t> marks,
                                     const moved &m) {
  mark_and_move_body<I> body{};
  body.to = to;
  body.marks = marks;
  body.vectors.count = 1;
  body.vectors.list[0] = m;
  return body;
}

/* Lets sources mark their positions, and moves them there. */
template <class I>
void permutation::move_many(const addresses<I, IN_SEGMENTS> &to, ptr<uint8_t> marks,
                            const moved &m) {
  if (all_over && m.width == 4 && move_by_buckets<I, uint32_t>(to, marks, m)) return;
  if (all_over && m.width == 8 && move_by_buckets<I, uint64_t>(to, marks, m)) return;
  w.run(launch_together("permute many", n, marking<I>(to, marks, m)));
}

template <class I, class C> void permutation::permute_many() {
  using check = check_marks_body<I, C>;
  const addresses<I, IN_SEGMENTS> to = find_addresses<I, IN_SEGMENTS>();
  const moved m = describe();
  const int64_t words = check::words(n);
  const ref<cvl_vector> memory = w.make(CVL_I64, words + check::COUNTERS);
  const ptr<uint64_t> marks = w.data<uint64_t>(memory);
  const ptr<C> claims = w.scratch<C>(n); /* used only if there is a fault */
  w.set(memory, 0);
  move_many<I>(to, retyped<uint8_t>(marks), m);
  w.run(launch_blocks("check marks", check::blocks(n),
                      check{marks, marks + words, {to, claims}, m, n}));
  if (!all_over) keep(nullptr, -1);
}

/* Moves by an index vector that is a permutation, unless a fault is found: then no source goes
 * to some positions. */
template <class I> void permutation::permute_again() {
  using body = mark_and_move_body<I>;
  const addresses<I, IN_SEGMENTS> to = find_addresses<I, IN_SEGMENTS>();
  const moved m = describe();
  w.set(result, 0);
  w.run_joined(launch_together("permute many", n, marking<I>(to, nullptr, m)),
               join_moves<body>);
}

/* Returns whether sorting by buckets may be worth while. */
bool permutation::has_buckets() const {
  return exclusive && !w.on_host && !result_size && a.values.elem != CVL_BOOL &&
         n >= (int64_t)c.tuning.value[TUNE_CUDA_PERMUTE_BUCKETS] && n >= SAMPLED &&
         n < NARROW_CLAIMS && !(a.index.form == CVL_VECTOR && a.index.as.vector->scatter.get());
}

/* Counts how many of SAMPLED sources go far from the one before. */
template <class I> ref<deferred> permutation::sample() {
  ptr<int64_t> far;
  const ref<deferred> count = w.greatest_later(SAMPLED, &far);
  const sample_body<I> body{find_addresses<I, IN_SEGMENTS>(), n, far};
  w.run(launch_blocks_on_device("permute: sample", 1, body));
  return count;
}

/* Returns whether sources go all over the result. This is decided by a sample taken at this
 * site: the one of last time, or the first time one taken now, which is waited for. */
template <class I>
static bool goes_all_over(context &c, uint64_t site, cvl_op op, const cvl_permute &a) {
  ref<deferred> now;
  if (op != OP_PERMUTE) return false;
  {
    permutation p(c, site, op, a);
    if (!p.has_buckets()) return false;
    now = p.sample<I>();
  }
  ref<deferred> &last = c.samples[site];
  const bool has_last = last && is_known(c, *last.get());
  const ref<deferred> count = has_last ? last : now;
  last = now;
  return settle(c, *count.get()) > SAMPLED / 4;
}

/* ---- the operation ---- */

template <class I> void permutation::run() {
  const bool narrow = sources < NARROW_CLAIMS;
  if (gathers) {
    gather<I>();
  } else if (narrow ? deliver_again<I, uint32_t>() : deliver_again<I, uint64_t>()) {
    return;
  } else if (!exclusive) {
    narrow ? scatter<I, uint32_t>() : scatter<I, uint64_t>();
  } else if (result_size ||
             (n < (int64_t)c.tuning.value[TUNE_CUDA_PERMUTE_MARKS] && !all_over)) {
    scatter_exclusively<I, uint32_t>();
  } else {
    narrow ? permute_many<I, uint32_t>() : permute_many<I, uint64_t>();
  }
}

void permute(context &c, uint64_t site, cvl_op op, const cvl_permute &a, cvl_value *out) {
  const bool wide = c.int_elem == CVL_I64;
  const bool all_over =
      wide ? goes_all_over<int64_t>(c, site, op, a) : goes_all_over<int32_t>(c, site, op, a);
  permutation p(c, site, op, a);
  p.all_over = all_over;
  if (!wide) {
    p.run<int32_t>();
  } else {
    p.run<int64_t>();
  }
  p.give(out);
}

} // namespace ravel
