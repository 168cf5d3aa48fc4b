/* scatters.hpp - scatters inside the kernels of a superoperator: index, flags and values are
 * computed where they are used, and never in memory. Scatters by the same index and flags are
 * one *group*, which finds positions once.
 *
 *   PERMUTE    one kernel: a source claims its position, and writes its values there if no
 * other has the others two: sources claim, the highest wins; then each position gets the values
 * of its source, computed once more, or what it is to have without one
 *
 * F, the generated struct, has
 *
 *     NODE, unroll            of the group's first scatter, whose faults are reported; for how
 * many positions a thread loads at a time at(i)                   the results at source i that
 * the kernel needs, faults reported index(results), on(results), near(), far()    an index, its
 * flag; descriptors move(results, to)       writes values to position `to` rest(i) writes what
 * position i has without a source scatter, bad
 *
 * The text of a superoperator's kernel contains it, behind prelude.hpp and the faults' numbers.
 */
#ifndef RAVEL_SCATTERS_HPP
#define RAVEL_SCATTERS_HPP

namespace ravel {

/* Claims of positions, all ones at first: which source, the lowest wins. `last`: where the
 * highest source has to win, it claims with last - i; -1 without sources. `keeps`: a bit for
 * each scatter of the group whose results have the memory of the defaults. */
struct scattering {
  ptr<uint32_t> claims;
  int64_t last;
  uint32_t keeps;
};

enum : uint32_t { NO_CLAIM = 0xffffffffu };

/* Where a source goes; or nowhere, since its flag is F; or that its index is at fault. */
enum : int64_t { NOWHERE = -1, AT_FAULT = -2 };
template <class F> HD int64_t address_of(const F &f, int64_t i, const typename F::results &r) {
  const int64_t s = f.near().of(i), x = (int64_t)f.index(r);
  const bool inside = (uint64_t)x < (uint64_t)f.far().length(s);
  return !f.on(r) ? (int64_t)NOWHERE : inside ? f.far().start(s) + x : (int64_t)AT_FAULT;
}

/* Reports source i, whose index is in r. */
template <class F>
HD void report_source(const F &f, int kind, int64_t i, const typename F::results &r) {
  const int64_t s = f.near().of(i);
  f.bad.report(kind, i, (int64_t)f.index(r), f.far().length(s), s, F::NODE);
}

/* The kernels, in halves: what loads, and what stores. The struct F is their first member. */
template <class F> struct sources_of {
  F f;
  struct results {
    typename F::results r;
    int64_t to;
  };
  enum { unroll = F::unroll };

  HD results at(int64_t i) const {
    const typename F::results r = f.at(i);
    return {r, address_of(f, i, r)};
  }
};

template <class F> struct permuting : sources_of<F> {
  using results = typename sources_of<F>::results;

  HD void put(int64_t i, const results &x) const {
    const F &f = this->f;
    if (x.to == AT_FAULT) report_source(f, OUTSIDE, i, x.r);
    if (x.to < 0) return;
    const uint32_t other = atomic_min(f.scatter.claims + x.to, (uint32_t)i);
    if (other == (uint32_t)NO_CLAIM) {
      f.move(x.r, x.to);
      return;
    }
    /* The later one of the two is at fault. The lowest report is the lowest duplicate, in
     * whatever order threads run: of the two lowest sources of a position, the one that comes
     * last finds the claim of the other. */
    const int64_t later = i > (int64_t)other ? i : (int64_t)other;
    report_source(f, LATE_FAULT, later, f.at(later));
  }
  HD void operator()(int64_t i) const { put(i, this->at(i)); }
};

template <class F> struct claiming : sources_of<F> {
  using results = typename sources_of<F>::results;

  HD void put(int64_t i, const results &x) const {
    const F &f = this->f;
    if (x.to == AT_FAULT) report_source(f, OUTSIDE, i, x.r);
    if (x.to >= 0) atomic_min(f.scatter.claims + x.to, (uint32_t)(f.scatter.last - i));
  }
  HD void operator()(int64_t i) const { put(i, this->at(i)); }
};

/* The first source instead of none, since loads behind a test wait for those before it. */
template <class F> struct fetching {
  F f;
  struct results {
    typename F::results r;
    uint32_t claim;
  };
  enum { unroll = F::unroll };

  HD results at(int64_t i) const {
    if (f.scatter.last < 0) return {{}, NO_CLAIM}; /* there is no source */
    const uint32_t claim = f.scatter.claims[i];
    const bool none = claim == (uint32_t)NO_CLAIM;
    return {f.at(none ? 0 : f.scatter.last - (int64_t)claim), claim};
  }
  HD void put(int64_t i, const results &x) const {
    if (x.claim == (uint32_t)NO_CLAIM) {
      f.rest(i);
    } else {
      f.move(x.r, i);
    }
  }
  HD void operator()(int64_t i) const { put(i, at(i)); }
};

} // namespace ravel
#endif
