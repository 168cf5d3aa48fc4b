/* stencils.hpp - superoperators of stencils, as text and as plain loops, for tests.
 */
#ifndef RAVEL_CUDA_TESTS_STENCILS_HPP
#define RAVEL_CUDA_TESTS_STENCILS_HPP

#include <stdint.h>

#include <string>
#include <vector>

/* How reads outside of n elements are answered. REMAINDER is WRAP, written with two remainders.
 * NOTHING is an index that may be outside. */
enum boundary { WRAP, REMAINDER, CLAMP, MIRROR, SYMMETRIC, NOTHING };
static const std::vector<boundary> all_rules = {WRAP, REMAINDER, CLAMP, MIRROR, SYMMETRIC};

/* Returns the index of position i + o, computed by hand. A last clamp keeps indices inside a
 * vector that is shorter than the rule wants. */
inline int64_t index_of(boundary b, int64_t i, int64_t o, int64_t n) {
  int64_t p = i + o;
  if (b == NOTHING) return p;
  if (b == REMAINDER) return (p % n + n) % n;
  if (b == WRAP) p = p < 0 ? p + n : p >= n ? p - n : p;
  if (b == MIRROR && p < 0) p = -p;
  if (b == MIRROR && p >= n) p = 2 * n - 2 - p;
  if (b == SYMMETRIC && p < 0) p = -1 - p;
  if (b == SYMMETRIC && p >= n) p = 2 * n - 1 - p;
  return p < 0 ? 0 : p >= n ? n - 1 : p;
}

/* The text of a superoperator, definition by definition. */
struct definition {
  std::string params, body, outputs;
  int values = 0;

  std::string param(const char *kind) {
    const std::string name = "$" + std::to_string(values++);
    params += (params.empty() ? "" : ", ") + name + " : " + kind;
    return name;
  }
  std::string value(const std::string &expression) {
    const std::string name = "$" + std::to_string(values++);
    body += "  " + name + " = (" + expression + ")\n";
    return name;
  }
  std::string op(const std::string &name, const std::string &x, const std::string &y) {
    return value(name + " @ " + x + " " + y);
  }
  std::string either(const std::string &flag, const std::string &x, const std::string &y) {
    return value("SELECT INT @ " + flag + " " + x + " " + y);
  }
  std::string number(int64_t x, const std::string &d) {
    return value("DIST INT @ (CONST INT " + std::to_string(x) + ") " + d);
  }
  void output(const std::string &v) { outputs += " " + v; }
  std::string text() const {
    return "fused OP0#1 (" + params + ") =\n" + body + "  ->" + outputs + "\n";
  }
};

/* An axis of the domain under the descriptor d: the positions 0 .. n - 1 along it, and n. */
struct axis {
  std::string at, n, d;

  /* Returns text that computes index_of(b, at, o, n). */
  std::string index(definition &t, boundary b, int64_t o) const {
    const std::string zero = t.number(0, d), one = t.number(1, d);
    const std::string last = t.op("- INT", n, one), twice = t.op("+ INT", n, n);
    std::string p = o == 0 ? at : t.op("+ INT", at, t.number(o, d));
    if (b == NOTHING || o == 0) return p;
    if (b == REMAINDER) return t.op("%", t.op("+ INT", t.op("%", p, n), n), n);
    const std::string below = t.op("< INT", p, zero);
    if (b == WRAP && o < 0) p = t.either(below, t.op("+ INT", p, n), p);
    if (b == WRAP && o > 0) p = t.either(t.op(">= INT", p, n), t.op("- INT", p, n), p);
    if (b == MIRROR) p = t.either(below, t.op("- INT", zero, p), p);
    if (b == SYMMETRIC) p = t.either(below, t.op("- INT", t.number(-1, d), p), p);
    if (b == MIRROR || b == SYMMETRIC) {
      const std::string all =
          b == SYMMETRIC ? t.op("- INT", twice, one) : t.op("- INT", twice, t.number(2, d));
      p = t.either(t.op(">= INT", p, n), t.op("- INT", all, p), p);
    }
    p = t.either(t.op("> INT", p, zero), p, zero);
    return t.either(t.op("< INT", p, last), p, last);
  }
};

/* Returns a stencil in one dimension. Its parameters are d, n, and a source for each boundary.
 * Every neighbour is an output: for each source, all offsets from -radius to radius. With
 * `given` the positions are a parameter, too, behind n. */
inline definition stencil_text(const std::vector<boundary> &rules,
                               const std::vector<const char *> &kinds, int64_t radius,
                               bool given = false) {
  definition t;
  std::vector<std::string> sources;
  const std::string d = t.param("SEGDES"), count = t.param("INT");
  const std::string positions = given ? t.param("INT") : "";
  for (size_t s = 0; s < rules.size(); s++) sources.push_back(t.param(kinds[s]));
  const axis x = {given ? positions : t.value("INDEX @ (CONST INT 0) (CONST INT 1) " + d),
                  t.value("DIST INT @ " + count + " " + d), d};
  for (size_t s = 0; s < rules.size(); s++) {
    for (int64_t o = -radius; o <= radius; o++) {
      const std::string at = x.index(t, rules[s], o);
      t.output(t.value(std::string("BPERMUTE ") + kinds[s] + " @ " + sources[s] + " " + at +
                       " " + d + " " + d));
    }
  }
  return t;
}

/* Returns a stencil in two dimensions. Its parameters are d of all elements, a descriptor of
 * rows, the number of each row, the numbers of rows and of columns, and the sources. */
inline definition stencil2_text(const std::vector<boundary> &rules,
                                const std::vector<const char *> &kinds, int64_t radius) {
  definition t;
  std::vector<std::string> sources;
  const std::string d = t.param("SEGDES"), rows = t.param("SEGDES"), row = t.param("INT");
  const std::string height = t.param("INT"), width = t.param("INT");
  for (size_t s = 0; s < rules.size(); s++) sources.push_back(t.param(kinds[s]));
  const axis y = {t.value("DIST INT @ " + row + " " + rows),
                  t.value("DIST INT @ " + height + " " + d), d};
  const axis x = {t.value("INDEX @ (CONST INT 0) (CONST INT 1) " + rows),
                  t.value("DIST INT @ " + width + " " + d), d};
  for (size_t s = 0; s < rules.size(); s++) {
    for (int64_t o = -radius; o <= radius; o++) {
      const std::string start = t.op("* INT", y.index(t, rules[s], o), x.n);
      for (int64_t o2 = -radius; o2 <= radius; o2++) {
        const std::string at = t.op("+ INT", start, x.index(t, rules[s], o2));
        t.output(t.value(std::string("BPERMUTE ") + kinds[s] + " @ " + sources[s] + " " + at +
                         " " + d + " " + d));
      }
    }
  }
  return t;
}

#endif
