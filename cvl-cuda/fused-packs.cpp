/* fused-packs.cpp - the PACKs inside a superoperator's kernel (fused-kernels/packs.hpp): memory
 * for the packed elements, and the results, whose lengths are deferred.
 */
#include "cvl-cuda/fused-run.hpp"
#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/tree.hpp"
#include "fused-kernels/published.hpp"

#include "fused-kernels/packs.hpp"

namespace ravel {

/* The host treats every `packing`, whatever its tile, as this one. */
using any_packing = packing<packing_bits(1)>;

/* Returns the number of cells in which blocks publish for one list. */
static int64_t published_cells(int64_t n, unsigned tile) {
  int bits = 0;
  while (1u << bits < tile) bits++;
  return published_count(n, bits, published_levels(bits));
}

static uint32_t count_lists(const fused_kernel &plan) {
  uint32_t lists = 0;
  for (uint32_t i = 0; i < plan.member_count; i++)
    lists += plan.members[i].kind == MEMBER_PACKING;
  return lists;
}

/* Adds the counter of tiles; it stays null as long as there is one tile. */
void execution::add_tiles(work &w, const fused_kernel &plan, arguments &a, packs &p) {
  const int64_t n = domain();
  const unsigned tile = fused_kernel_tile(&plan);
  if (n > tile) {
    p.cells = published_cells(n, tile);
    p.published = w.publishes(count_lists(plan) * p.cells);
  }
  a.add(p.published.next);
}

/* Adds a list. Its length is deferred, and so is the total of its descriptor. */
void execution::add_list(work &w, const fused_member &m, arguments &a, packs &p) {
  const int64_t n = domain();
  const cvl_value &d = values[op.segments];
  packed_list l{m.number, packed_segments(w, d, n), {}};
  any_packing x{};
  if (p.cells > 0) {
    char *const mine = p.published.cells + (int64_t)p.lists.size() * p.cells * PUBLISHED_BYTES;
    x.totals = {(decltype(x.totals.totals))(void *)mine, n, p.published.mark};
  }
  if (l.d->count > 1) x.offsets = w.offsets(l.d);
  l.kept = w.later(n, &x.total);
  l.kept->counts_elements = true;
  l.d->size = l.kept;
  if (l.d->count > 1) has_total(*l.d.get(), l.kept);
  x.clear = n <= c.small ? n : 0;
  a.add(x);
  p.lists.push_back(l);
}

const packed_list &packs::of(uint32_t flags) const {
  size_t i = 0;
  while (lists[i].flags != flags) i++;
  return lists[i];
}

void execution::add_kept(work &w, const fused_member &m, arguments &a, packs &p) {
  const cvl_elem elem = (cvl_elem)m.elem;
  const ref<cvl_vector> r = w.make(elem, domain());
  r->size = p.of(op.nodes[m.number].operands[1]).kept;
  with_type(elem, [&](auto t) { a.add(w.data<decltype(t)>(r)); });
  p.results.push_back({m.number, r});
}

void execution::give_packed(work &w, const packs &p) {
  for (const packed_result &x : p.results) {
    const superop_node &node = op.nodes[x.node];
    w.give(&values[node.result], x.kept);
    w.give(&values[node.result + 1], p.of(node.operands[1]).d);
  }
}

/* Launches a kernel that packs. Results have memory for all elements. If that is short, this
 * returns false: the operations run one by one, and PACK counts first. */
bool execution::launch_packs(const fused_kernel &plan, const kernel_entry &entry) {
  if (domain() == 0) return false;
  try {
    launch_kernel(plan, entry);
  } catch (const failure &f) {
    if (f.error.kind != CVL_E_MEMORY) throw;
    return false;
  }
  return true;
}

} // namespace ravel
