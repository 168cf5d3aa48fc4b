/* fused-tree.cpp - see fused-tree.hpp.
 *
 * A level of a reduction takes the totals of the level below, and gives those of whole blocks
 * to the next level. A segment ends on the level where it fits one block. A scan goes up in the
 * same manner, and then down from the prefixes of the highest level.
 */
#include "cvl-cuda/fused-tree.hpp"
#include "cvl-cuda/tree.hpp"

namespace ravel {

cvl_elem tree::elem(uint32_t column) const {
  const uint8_t kind = op.kinds[op.nodes[at.first + column].result];
  return superop_elem((superop_kind)kind, w.c.int_elem, w.c.float_elem);
}

column_memory tree::scratch(int64_t n) {
  column_memory m;
  for (uint32_t i = 0; i < at.count; i++) {
    with_type(elem(i), [&](auto t) { m.push_back(address(w.scratch<decltype(t)>(n))); });
  }
  return m;
}

std::vector<ref<cvl_vector>> tree::make(int64_t n) {
  std::vector<ref<cvl_vector>> made;
  for (uint32_t i = 0; i < at.count; i++) made.push_back(w.make(elem(i), n));
  return made;
}

column_memory tree::memory_of(const std::vector<ref<cvl_vector>> &vectors) {
  column_memory m;
  for (uint32_t i = 0; i < at.count; i++) {
    with_type(elem(i), [&](auto t) { m.push_back(address(w.data<decltype(t)>(vectors[i]))); });
  }
  return m;
}

/* ---- arguments ---- */

/* Adds operands; if there are none, their arguments have no meaning. */
void tree::add_values(arguments &a, const cvl_value *values) {
  for (uint32_t i = 0; i < at.count; i++) {
    with_type(elem(i), [&](auto t) {
      using T = decltype(t);
      a.add(values ? w.read<T>(values[i]) : operand<T>{});
    });
  }
}

void tree::add_entries(arguments &a, const column_memory &m) {
  for (uint32_t i = 0; i < at.count; i++) {
    with_type(elem(i), [&](auto t) {
      using T = decltype(t);
      a.add(in_memory<T>(pointer_to<const T>(m[i])));
    });
  }
}

void tree::add_pointers(arguments &a, const column_memory &m) {
  for (uint32_t i = 0; i < at.count; i++) a.add(m.empty() ? nullptr : m[i]);
}

void tree::launch_level(const kernel_entry &entry, const arguments &a, int bits) {
  w.run({"combination", entries(bits + FUSED_TREE_BITS), WARP, entry.kernel, entry.on_host,
         nullptr, a.bytes.data(), (uint32_t)a.bytes.size()});
}

/* ---- levels ---- */

/* Adds the entries of `from`, or those of the columns if `from` is empty. */
void tree::add_source(arguments &a, int bits, const cvl_value *columns,
                      const cvl_value *identities, const column_memory &from) {
  a.add(d);
  if (from.empty())
    add_values(a, columns);
  else
    add_entries(a, from);
  add_values(a, bits == 0 ? identities : nullptr);
}

/* Runs one level up. Without `out` it gives totals only. */
void tree::level_up(int bits, const cvl_value *columns, const cvl_value *identities,
                    const column_memory &from, const column_memory &above,
                    const column_memory &roots, const column_memory &out) {
  arguments a;
  add_source(a, bits, columns, identities, from);
  add_pointers(a, above);
  add_pointers(a, roots);
  add_pointers(a, out);
  a.add((int64_t)bits);
  a.add((int64_t)!out.empty());
  launch_level(*up, a, bits);
}

void tree::level_down(int bits, const cvl_value *columns, const cvl_value *identities,
                      const column_memory &from, const column_memory &above,
                      const column_memory &out) {
  arguments a;
  add_source(a, bits, columns, identities, from);
  add_pointers(a, above);
  add_pointers(a, out);
  a.add((int64_t)bits);
  a.add((int64_t)(bits == 0 && identities));
  launch_level(*down, a, bits);
}

/* ---- whole reductions and scans ---- */

void tree::finish_reduction(const column_memory &totals, const column_memory &roots,
                            const column_memory &out) {
  column_memory from = totals;
  for (int bits = FUSED_TREE_BITS; has_level(bits); bits += FUSED_TREE_BITS) {
    const column_memory above = scratch(entries(bits + FUSED_TREE_BITS));
    level_up(bits, nullptr, nullptr, from, above, roots, out);
    from = above;
  }
}

void tree::reduce(const cvl_value *columns, const cvl_value *identities,
                  const column_memory &out) {
  const column_memory above = totals(), waiting = roots();
  level_up(0, columns, identities, {}, above, waiting, out);
  finish_reduction(above, waiting, out);
}

void tree::reduce(const column_memory &elements, const column_memory &out) {
  const column_memory above = totals(), waiting = roots();
  level_up(0, nullptr, nullptr, elements, above, waiting, out);
  finish_reduction(above, waiting, out);
}

void tree::scan(const cvl_value *columns, const cvl_value *identities, column_memory total,
                const column_memory &out) {
  std::vector<column_memory> levels = {{}};
  int bits = 0;
  for (; has_level(bits + FUSED_TREE_BITS); bits += FUSED_TREE_BITS) {
    const bool is_there = bits == 0 && !total.empty();
    if (!is_there) {
      total = scratch(entries(bits + FUSED_TREE_BITS));
      level_up(bits, columns, nullptr, levels.back(), total, {}, {});
    }
    levels.push_back(total);
  }
  column_memory prefixes;
  for (; bits >= 0; bits -= FUSED_TREE_BITS) {
    const column_memory to = bits == 0 ? out : scratch(entries(bits));
    level_down(bits, columns, identities, levels.back(), prefixes, to);
    prefixes = to;
    levels.pop_back();
  }
}

} // namespace ravel
