/* fused-scans.cpp - the kernels of a superoperator that scan what they compute
 * (fused-kernels/scans.hpp): one for segments of up to half a chunk, one for longer ones.
 */
#include "cvl-cuda/fused-run.hpp"
#include "cvl-cuda/scan-kernels.hpp"

namespace ravel {

bool execution::has_chunks() {
  return ravel::has_chunks(longest_segment(c, values[op.segments]));
}

bool execution::has_rows() {
  work w(c, site, {}, INT64_MAX);
  return !has_chunks() || w.view(values[op.segments]).equal < 0;
}

static launch fused_scans_launch_of(const char *name, const kernel_entry &entry, int64_t blocks,
                                    const arguments &a) {
  return {name,          blocks,  SCAN_THREADS,   entry.kernel,
          entry.on_host, nullptr, a.bytes.data(), (uint32_t)a.bytes.size()};
}

/* Launches the kernel for longer segments. */
template <class T>
static void launch_long(work &w, const kernel_entry &entry, arguments a, const segments &d,
                        int64_t longest) {
  using totals = published_totals<T, CHUNK_BITS>;
  publication p{};
  if (longest > CHUNK) p = w.publishes(totals::count(d.total));
  const chunks longer = chunks_of(d, CHUNK_BITS, LONG_BITS, true);
  a.add(longer);
  a.add(totals{(typename totals::total *)(void *)p.cells, d.total, p.mark});
  a.add(p.next);
  w.run(fused_scans_launch_of("scan-chunks", entry, longer.candidates, a));
}

/* Launches the kernel for all other segments. */
static void launch_usual(work &w, const kernel_entry &entry, arguments a, const segments &d,
                         int64_t longest) {
  a.add(up_to_row(longest));
  w.run(fused_scans_launch_of("scan", entry, tiles_of_pass(d.total), a));
}

void execution::launch_scan(const fused_kernel &plan, const kernel_entry *usual,
                            const kernel_entry *longer) {
  const cvl_value &dv = values[op.segments];
  work w(c, site, {}, INT64_MAX); /* on the device */
  const segments d = w.view(dv);
  const int64_t longest = longest_segment(c, dv);
  const superop_node &node = op.nodes[plan.scan];
  const cvl_elem elem =
      superop_elem((superop_kind)op.kinds[node.result], c.int_elem, c.float_elem);
  const ref<cvl_vector> out = w.make(elem, d.total);
  arguments a;
  a.add(d);
  add_operands(w, plan, a);
  a.add(w.bad());
  a.add(domain());
  with_type(elem, [&](auto t) {
    using T = decltype(t);
    a.add(w.data<T>(out));
    if (longer) launch_long<T>(w, *longer, a, d, longest);
  });
  if (usual) launch_usual(w, *usual, a, d, longest);
  w.give(&values[node.result], out);
}

} // namespace ravel
