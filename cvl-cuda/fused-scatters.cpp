/* fused-scatters.cpp - the kernels of a superoperator that scatter what they compute
 * (fused-kernels/scatters.hpp).
 */
#include "cvl-cuda/fused-run.hpp"

namespace ravel {

/* The layout of the struct in fused-kernels/scatters.hpp, whose text is otherwise for generated
 * kernels only. */
struct scattering {
  ptr<uint32_t> claims;
  int64_t last;
  uint32_t keeps;
};

static const superop_node &first_of(const superop &op, const fused_kernel &plan) {
  return op.nodes[plan.scatter];
}

/* Returns the number of elements of the results. */
int64_t execution::scattered_length(const fused_kernel &plan) {
  const superop_node &node = first_of(op, plan);
  const int8_t d = permute_operands((opcode)node.op).destination;
  return total_of(c, values[node.operands[d]]);
}

/* Claims have 32 bits, and one value means none. */
bool execution::may_claim() {
  return domain() < UINT32_MAX;
}

/* Returns whether nobody else reads a parameter, so that it may be overwritten. One object may
 * be several parameters. */
bool execution::is_only_use(uint32_t v) const {
  if (!values[v].owned || op.uses[v] != 1) return false;
  for (uint32_t p = 0; p < op.param_count; p++) {
    const bool same = p != v && values[p].form == CVL_VECTOR && values[v].form == CVL_VECTOR &&
                      values[p].as.vector == values[v].as.vector;
    if (same && op.uses[p] > 0) return false;
  }
  return true;
}

/* Makes the result of one scatter of a group, in the memory of its defaults if possible. */
ref<cvl_vector> execution::make_scattered(work &w, uint32_t k, int64_t n, bool &keeps) {
  const superop_node &node = op.nodes[k];
  const int8_t defaults = permute_operands((opcode)node.op).defaults;
  keeps = false;
  if (defaults != NO_OPERAND && is_only_use(node.operands[defaults])) {
    const ref<cvl_vector> there = w.take_over(values[node.operands[defaults]]);
    keeps = (bool)there;
    if (there) return there;
  }
  const cvl_elem elem =
      superop_elem((superop_kind)op.kinds[node.result], c.int_elem, c.float_elem);
  const ref<cvl_vector> made = w.make(elem, n);
  if (node.op == OPC_PERMUTE) w.set(made, 0);
  return made;
}

void execution::add_moved(work &w, const fused_kernel &plan, arguments &a, scattering &s,
                          std::vector<scattered> &results) {
  const int64_t n = scattered_length(plan);
  for (uint32_t i = 0; i < plan.member_count; i++) {
    const fused_member &m = plan.members[i];
    if (m.kind != MEMBER_MOVED) continue;
    bool keeps;
    const ref<cvl_vector> r = make_scattered(w, m.number, n, keeps);
    if (keeps) s.keeps |= 1u << results.size();
    results.push_back({m.number, r});
  }
  a.add(s);
  for (const scattered &r : results)
    with_type(r.vector->elem, [&](auto t) { a.add(w.data<decltype(t)>(r.vector)); });
}

/* Launches one kernel of a group; `claims` stay for the next one. */
void execution::launch_scatter(const fused_kernel &plan, const kernel_entry &entry,
                               ref<cvl_vector> &claims) {
  work w(c, site, {}, INT64_MAX); /* on the device */
  const bool fetches = !plan.claims && first_of(op, plan).op != OPC_PERMUTE;
  const int64_t n = fetches ? scattered_length(plan) : domain();
  if (!claims) {
    claims = w.make(CVL_I32, scattered_length(plan));
    w.set(claims, 0xff);
  }
  arguments a;
  std::vector<scattered> results;
  add_operands(w, plan, a);
  scattering s{w.data<uint32_t>(claims), domain() - 1, 0};
  add_moved(w, plan, a, s, results);
  a.add(w.bad());
  a.add(n);
  w.run({"scatter", n, 0, entry.kernel, entry.on_host, nullptr, a.bytes.data(),
         (uint32_t)a.bytes.size(), (int32_t)fused_kernel_unroll(&plan)});
  for (const scattered &r : results) w.give(&values[op.nodes[r.node].result], r.vector);
}

} // namespace ravel
