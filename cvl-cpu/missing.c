/* missing.c - stands in for the operations whose files are not in this build: they fail as an
 * ordinary fault. CMakeLists.txt leaves it out once all files are there. */
#include "cvl-cpu/cpu.h"

static bool missing(struct cvl_context *c, uint64_t site) {
  return fault(c, (struct cvl_error){
                      .kind = CVL_E_DEVICE, .site = site, .text = "not in this build"});
}

#ifdef RAVEL_MISSING_REDUCE
bool cpu_reduce(struct cvl_context *c, uint64_t site, enum cvl_op op, const struct cvl_value *v,
                const struct cvl_value *d, struct cvl_value *out) {
  (void)op, (void)v, (void)d, (void)out;
  return missing(c, site);
}
#endif
#ifdef RAVEL_MISSING_SCAN
bool cpu_scan(struct cvl_context *c, uint64_t site, enum cvl_op op, const struct cvl_value *v,
              const struct cvl_value *d, struct cvl_vector *reuse, struct cvl_value *out) {
  (void)op, (void)v, (void)d, (void)reuse, (void)out;
  return missing(c, site);
}
#endif
#ifdef RAVEL_MISSING_RANK
bool cpu_rank(struct cvl_context *c, uint64_t site, enum cvl_op op, const struct cvl_value *v,
              const struct cvl_value *d, struct cvl_value *out) {
  (void)op, (void)v, (void)d, (void)out;
  return missing(c, site);
}
#endif
