/* async.cpp - see async.hpp. */
#include "cvl-cuda/ptx/async.hpp"

#include <algorithm>

namespace ravel {
namespace ptx {
namespace {

enum : uint32_t { COPIED_AT_ONCE = 16, MOST_ARRIVALS = (1 << 20) - 1 };
enum : int32_t { MOST_BYTES = (1 << 20) - 1 }; /* of a phase, either way */

/* ---- barriers ---- */

/* The word of a barrier, taken apart. */
struct barrier {
  uint32_t pending, expected; /* arrivals: of this phase, of each one */
  int32_t bytes;              /* that are missing, or came before they were expected */
  bool odd;                   /* the phase */

  explicit barrier(uint64_t word)
      : pending(word & MOST_ARRIVALS), expected(word >> 20 & MOST_ARRIVALS),
        bytes((int32_t)(word >> 40 & 0x3fffff) - MOST_BYTES), odd(word >> 63) {}
  uint64_t word() const {
    return pending | (uint64_t)expected << 20 | (uint64_t)(bytes + MOST_BYTES) << 40 |
           (uint64_t)odd << 63;
  }
  void end_phase() {
    if (pending > 0 || bytes != 0) return;
    pending = expected;
    odd = !odd;
  }
};

/* What an instruction does to a barrier. */
struct change {
  uint32_t arrivals = 0, dropped = 0;
  int64_t expected_bytes = 0;
};

/* Gives the word before. */
uint64_t change_barrier(const instruction &i, executor &x, unsigned k, uint64_t address,
                        const change &c) {
  uint8_t *at = x.reach(i, k, address, sizeof(uint64_t), CHANGE);
  uint64_t old;
  memcpy(&old, at, sizeof old);
  barrier b(old);
  if (b.expected == 0) x.refuse(i, k, "there is no mbarrier: it was not made, or ended");
  if (c.arrivals > b.pending) {
    x.refuse(i, k,
             std::to_string(c.arrivals) + " arrivals at an mbarrier, whose phase waits for " +
                 std::to_string(b.pending));
  }
  const int64_t bytes = b.bytes + c.expected_bytes;
  if (bytes > MOST_BYTES || bytes < -MOST_BYTES) {
    x.refuse(i, k,
             "an mbarrier waits for at most 1048575 bytes, not for " + std::to_string(bytes));
  }
  b.bytes = (int32_t)bytes;
  b.expected -= c.dropped;
  b.pending -= c.arrivals;
  b.end_phase();
  const uint64_t word = b.word();
  memcpy(at, &word, sizeof word);
  return old;
}

void init_barrier(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    const uint32_t count = (uint32_t)x.at(i.b, k);
    if (count == 0 || count > MOST_ARRIVALS)
      x.refuse(i, k, "an mbarrier for " + std::to_string(count) + " arrivals");
    barrier b(0);
    b.pending = b.expected = count;
    b.bytes = 0;
    const uint64_t word = b.word();
    memcpy(x.reach(i, k, x.address_of(i, k), sizeof word, WRITE), &word, sizeof word);
  });
}

void end_barrier(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    const uint64_t none = 0;
    memcpy(x.reach(i, k, x.address_of(i, k), sizeof none, WRITE), &none, sizeof none);
  });
}

enum arriving { ARRIVES, ARRIVES_AND_EXPECTS, LEAVES, EXPECTS, COMPLETES };
template <arriving HOW> change change_of(uint32_t operand) {
  change c;
  if (HOW == ARRIVES || HOW == LEAVES) c.arrivals = operand;
  if (HOW == ARRIVES_AND_EXPECTS) c.arrivals = 1;
  if (HOW == LEAVES) c.dropped = operand;
  if (HOW == ARRIVES_AND_EXPECTS || HOW == EXPECTS) c.expected_bytes = operand;
  if (HOW == COMPLETES) c.expected_bytes = -(int64_t)operand;
  return c;
}
/* The state that it gives is the whole word. */
template <arriving HOW> void arrive(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    const change c = change_of<HOW>((uint32_t)x.at(i.b, k));
    const uint64_t old = change_barrier(i, x, k, x.address_of(i, k), c);
    if (i.d.at != NO_REGISTER) write_wide(x.registers, i.d, k, old);
  });
}

/* Whether the phase of a state, or of a parity, is over. */
template <bool PARITY> void test_barrier(const instruction &i, executor &x, lanes l) {
  lanes over = 0;
  for_lanes(l, [&](unsigned k) {
    const uint64_t address = x.address_of(i, k), of = x.at(i.b, k);
    x.look_at_barrier(address);
    uint64_t word;
    memcpy(&word, x.reach(i, k, address, sizeof word, READ), sizeof word);
    const barrier b(word);
    if (b.expected == 0) x.refuse(i, k, "there is no mbarrier: it was not made, or ended");
    over |= (lanes)(b.odd != (PARITY ? (of & 1) != 0 : barrier(of).odd)) << k;
  });
  lanes &p = x.predicate(i.d);
  p = (p & ~l) | over;
}

void count_pending(const instruction &i, executor &x, lanes l) {
  for_lanes(
      l, [&](unsigned k) { write_wide(x.registers, i.d, k, barrier(x.at(i.a, k)).pending); });
}

/* Name, handler, operands in front of and behind the address, and the default order. */
struct barrier_row {
  const char *name;
  handler run;
  uint8_t before, least_behind, most_behind;
  order_of order;
};
const barrier_row barrier_rows[] = {
    {"mbarrier.init", init_barrier, 0, 1, 1, WEAK},
    {"mbarrier.inval", end_barrier, 0, 0, 0, WEAK},
    {"mbarrier.expect_tx", arrive<EXPECTS>, 0, 1, 1, RELAXED},
    {"mbarrier.complete_tx", arrive<COMPLETES>, 0, 1, 1, RELAXED},
    {"mbarrier.arrive", arrive<ARRIVES>, 1, 0, 1, RELEASE},
    {"mbarrier.arrive.expect_tx", arrive<ARRIVES_AND_EXPECTS>, 1, 1, 1, RELEASE},
    {"mbarrier.arrive_drop", arrive<LEAVES>, 1, 0, 1, RELEASE},
    {"mbarrier.test_wait", test_barrier<false>, 1, 1, 1, ACQUIRE},
    {"mbarrier.test_wait.parity", test_barrier<true>, 1, 1, 1, ACQUIRE},
    {"mbarrier.try_wait", test_barrier<false>, 1, 1, 2, ACQUIRE},
    {"mbarrier.try_wait.parity", test_barrier<true>, 1, 1, 2, ACQUIRE},
};

/* The name without order, scope and space, which are the block's. */
std::string barrier_name(const form &f) {
  std::string name = f.base();
  for (size_t k = 1; k < f.s.opcode.size(); k++) {
    const std::string &m = f.s.opcode[k];
    const bool said = m == "shared" || m == "shared::cta" || m == "cta" || m == "release" ||
                      m == "acquire" || m == "relaxed" || type_named(m) != NO_TYPE;
    if (!said) name += "." + m;
  }
  return name;
}

void encode_barrier_row(const barrier_row &r, const form &f, operand_source &o,
                        instruction &i) {
  f.want(r.before + 1u + r.least_behind, r.before + 1u + r.most_behind);
  const bool tests = r.order == ACQUIRE;
  i.run = r.run;
  i.where = SHARED;
  i.within = BLOCK_SCOPE;
  i.order = f.has("relaxed") ? RELAXED : r.order;
  i.counted = ATOMIC;
  i.of = B64;
  i.bytes = 8;
  if (tests) i.copies = AWAITS_COPIES;
  if (r.before) i.d = o.result(f.operand(0));
  o.address(f.operand(r.before), SHARED, i);
  const bool state = tests && !f.has("parity");
  const operand_text one{operand_text::NUMBER, "", 0, 1, NO_TYPE, {}};
  const bool given = f.s.operands.size() > r.before + 1u;
  if (given || r.most_behind)
    i.b = o.value(given ? f.operand(r.before + 1u) : one, state ? B64 : B32);
}

/* ---- copies ---- */

/* The addresses of an instruction: of what is written, of what is read, of the barrier. */
void encode_addresses(const form &f, operand_source &o, instruction &i) {
  instruction other;
  o.address(f.operand(1), GLOBAL, other);
  i.b = other.a;
  i.offset_b = other.offset;
  if (i.counted == BULK_COPY) {
    o.address(f.operand(3), SHARED, other);
    i.e = other.a;
    i.offset_c = other.offset;
  }
  o.address(f.operand(0), SHARED, i);
}

async_copy copy_of(const instruction &i, executor &x, unsigned k) {
  async_copy c{};
  c.by = &i;
  c.lane = k;
  c.to = (uint32_t)(x.at(i.a, k) + (uint64_t)i.offset);
  c.from = x.at(i.b, k) + (uint64_t)i.offset_b;
  return c;
}

void copy_lanes(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    async_copy c = copy_of(i, x, k);
    c.bytes = i.c.at == NO_REGISTER ? i.bytes : (uint32_t)x.at(i.c, k);
    if (c.bytes > i.bytes) {
      x.refuse(i, k,
               std::to_string(c.bytes) + " bytes of a copy of " + std::to_string(i.bytes));
    }
    c.zeros = i.bytes - c.bytes;
    x.start(c);
  });
}

void copy_bulk(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    async_copy c = copy_of(i, x, k);
    c.bytes = (uint32_t)x.at(i.c, k);
    c.barrier = (uint32_t)(x.at(i.e, k) + (uint64_t)i.offset_c);
    if (c.bytes % COPIED_AT_ONCE || c.to % COPIED_AT_ONCE || c.from % COPIED_AT_ONCE) {
      x.refuse(i, k,
               "a bulk copy of " + std::to_string(c.bytes) +
                   " bytes: addresses and length must be multiples of 16");
    }
    x.start(c);
  });
}

void end_groups(const instruction &, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) { x.end_group(k); });
}
void await_groups(const instruction &i, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) { x.await_groups(k, (uint32_t)x.at(i.a, k)); });
}
void await_all(const instruction &, executor &x, lanes l) {
  for_lanes(l, [&](unsigned k) {
    x.end_group(k);
    x.await_groups(k, 0);
  });
}

/* cp.async.ca.shared.global [to], [from], size, bytes that are copied; the rest are zeros. */
void encode_small_copy(const form &f, operand_source &o, instruction &i) {
  f.want(3, 4);
  f.only_modifiers({"async", "ca", "cg", "shared", "shared::cta", "global", "L2::64B",
                    "L2::128B", "L2::256B"});
  const operand_text &size = f.operand(2);
  const uint64_t bytes = size.kind == operand_text::NUMBER ? size.number : 0;
  if ((bytes != 4 && bytes != 8 && bytes != 16) || (f.has("cg") && bytes != 16)) f.refuse();
  i.counted = GLOBAL_LOAD;
  encode_addresses(f, o, i);
  i.bytes = (uint8_t)bytes;
  if (f.s.operands.size() > 3) i.c = o.value(f.operand(3), U32);
  i.run = copy_lanes;
  i.copies = STARTS_COPY;
}

void encode_bulk_copy(const form &f, operand_source &o, instruction &i) {
  f.want(4);
  f.only_modifiers({"async", "bulk", "shared::cluster", "shared::cta", "global",
                    "mbarrier::complete_tx::bytes"});
  if (!f.has("global") || !f.has("mbarrier::complete_tx::bytes")) f.refuse();
  i.counted = BULK_COPY;
  encode_addresses(f, o, i);
  i.c = o.value(f.operand(2), U32);
  i.run = copy_bulk;
  i.copies = STARTS_COPY;
}

void encode_waits(const form &f, operand_source &o, instruction &i) {
  const bool some = f.has("wait_group");
  f.want(some ? 1 : 0);
  f.only_modifiers({"async", "commit_group", "wait_group", "wait_all"});
  i.counted = CONTROL;
  i.copies = f.has("commit_group") ? NO_COPY : AWAITS_COPIES;
  i.run = f.has("commit_group") ? end_groups : some ? await_groups : await_all;
  if (some) i.a = o.value(f.operand(0), U32);
}

} // namespace

void encode_mbarrier(const form &f, operand_source &o, instruction &i) {
  const std::string name = barrier_name(f);
  if (f.last() != B64) f.refuse();
  for (const barrier_row &r : barrier_rows) {
    if (name == r.name) return encode_barrier_row(r, f, o, i);
  }
  if (name != "mbarrier.pending_count") f.refuse();
  f.want(2);
  i.d = o.result(f.operand(0));
  i.a = o.value(f.operand(1), B64);
  i.run = count_pending;
}

void encode_copy(const form &f, operand_source &o, instruction &i) {
  if (!f.has("async")) f.refuse();
  if (f.has("bulk")) return encode_bulk_copy(f, o, i);
  if (f.has("commit_group") || f.has("wait_group") || f.has("wait_all"))
    return encode_waits(f, o, i);
  encode_small_copy(f, o, i);
}

std::vector<const char *> async_forms() {
  std::vector<const char *> forms = {
      "mbarrier.pending_count", "cp.async.ca",         "cp.async.cg",      "cp.async.bulk",
      "cp.async.commit_group",  "cp.async.wait_group", "cp.async.wait_all"};
  for (const barrier_row &r : barrier_rows) forms.push_back(r.name);
  return forms;
}

/* ---- a copy is made ---- */

void make_copy(const async_copy &c, executor &x) {
  instruction from = *c.by, to = *c.by;
  from.where = GLOBAL;
  to.where = SHARED;
  const uint32_t whole = c.bytes + c.zeros;
  const uint32_t step = c.zeros ? 1 : std::min<uint32_t>(whole, COPIED_AT_ONCE);
  for (uint32_t at = 0; at < whole; at += step) {
    uint8_t bytes[COPIED_AT_ONCE] = {0};
    if (at < c.bytes) memcpy(bytes, x.reach(from, c.lane, c.from + at, step, READ), step);
    memcpy(x.reach(to, c.lane, c.to + at, step, WRITE), bytes, step);
  }
  if (!c.bulk()) return;
  to.order = RELEASE;
  to.within = BLOCK_SCOPE;
  change_barrier(to, x, c.lane, c.barrier, change_of<COMPLETES>(c.bytes));
}

} // namespace ptx
} // namespace ravel
