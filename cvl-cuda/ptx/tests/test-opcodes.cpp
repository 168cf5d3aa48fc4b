/* test-opcodes.cpp - compares each form of opcode with its meaning in the manual of PTX. */
#include <math.h>

#include <set>
#include <sstream>

#include "cvl-cuda/ptx/tests/rig.hpp"

using namespace ravel::ptx;

/* Lines of opcode, operands and result: integers, floats as decimals, predicates as 0 and 1.
 * Results of floats are compared as bits. */
static const char cases[] = R"(
add.u16 0xffff 2 = 1
add.u32 0xffffffff 2 = 1
add.u64 0xffffffffffffffff 2 = 1
add.s16 0x7fff 1 = 0x8000
add.s32 0x7fffffff 1 = 0x80000000
add.s64 0x7fffffffffffffff 1 = 0x8000000000000000
sub.u16 0 1 = 0xffff
sub.u32 0 1 = 0xffffffff
sub.u64 0 1 = 0xffffffffffffffff
sub.s16 0x8000 1 = 0x7fff
sub.s32 5 7 = 0xfffffffe
sub.s64 5 7 = 0xfffffffffffffffe
mul.lo.u16 0x1234 0x100 = 0x3400
mul.lo.u32 0x12345678 0x100 = 0x34567800
mul.lo.u64 0x123456789abcdef0 0x10 = 0x23456789abcdef00
mul.lo.s16 -3 5 = 0xfff1
mul.lo.s32 -3 5 = 0xfffffff1
mul.lo.s64 -3 5 = 0xfffffffffffffff1
mul.hi.u16 0xffff 0xffff = 0xfffe
mul.hi.u32 0xffffffff 0xffffffff = 0xfffffffe
mul.hi.u64 0xffffffffffffffff 0xffffffffffffffff = 0xfffffffffffffffe
mul.hi.s16 -1 2 = 0xffff
mul.hi.s32 -1 2 = 0xffffffff
mul.hi.s32 0x40000000 4 = 1
mul.hi.s64 -1 2 = 0xffffffffffffffff
mul.hi.s64 0x4000000000000000 4 = 1
mul.wide.u16 0xffff 0xffff = 0xfffe0001
mul.wide.u32 0xffffffff 0xffffffff = 0xfffffffe00000001
mul.wide.s16 -2 3 = 0xfffffffa
mul.wide.s32 -2 3 = 0xfffffffffffffffa
mad.wide.u16 0xffff 2 1 = 0x1ffff
mad.wide.u32 0xffffffff 2 1 = 0x1ffffffff
mad.wide.s16 -2 3 1 = 0xfffffffb
mad.wide.s32 -2 3 1 = 0xfffffffffffffffb
mad.lo.u16 300 300 1 = 0x5f91
mad.lo.u32 0x10000 0x10001 7 = 0x10007
mad.lo.u64 0x100000000 0x100000001 7 = 0x100000007
mad.lo.s16 -3 5 1 = 0xfff2
mad.lo.s32 -3 5 1 = 0xfffffff2
mad.lo.s64 -3 5 1 = 0xfffffffffffffff2
mad.hi.u16 0xffff 0xffff 1 = 0xffff
mad.hi.u32 0xffffffff 0xffffffff 3 = 1
mad.hi.u64 0xffffffffffffffff 0xffffffffffffffff 3 = 1
mad.hi.s16 -1 2 3 = 2
mad.hi.s32 -1 2 3 = 2
mad.hi.s64 -1 2 3 = 2
div.u16 0xfffe 2 = 0x7fff
div.u32 0xfffffffe 2 = 0x7fffffff
div.u64 0xfffffffffffffffe 2 = 0x7fffffffffffffff
div.s16 -7 2 = 0xfffd
div.s32 -7 2 = 0xfffffffd
div.s32 0x80000000 -1 = 0x80000000
div.s32 5 0 = 0xffffffff
div.s64 -7 2 = 0xfffffffffffffffd
rem.u16 0xffff 16 = 15
rem.u32 0xffffffff 16 = 15
rem.u64 0xffffffffffffffff 16 = 15
rem.s16 -7 2 = 0xffff
rem.s32 -7 2 = 0xffffffff
rem.s32 0x80000000 -1 = 0
rem.s64 -7 2 = 0xffffffffffffffff
abs.s16 -5 = 5
abs.s32 -5 = 5
abs.s32 0x80000000 = 0x80000000
abs.s64 -5 = 5
neg.s16 5 = 0xfffb
neg.s32 5 = 0xfffffffb
neg.s64 5 = 0xfffffffffffffffb
min.u16 0xffff 1 = 1
min.u32 0xffffffff 1 = 1
min.u64 0xffffffffffffffff 1 = 1
min.s16 -1 1 = 0xffff
min.s32 -1 1 = 0xffffffff
min.s64 -1 1 = 0xffffffffffffffff
max.u16 0xffff 1 = 0xffff
max.u32 0xffffffff 1 = 0xffffffff
max.u64 0xffffffffffffffff 1 = 0xffffffffffffffff
max.s16 -1 1 = 1
max.s32 -1 1 = 1
max.s64 -1 1 = 1
and.b16 0xff0f 0x0ff1 = 0x0f01
and.b32 0xff00ff0f 0x0ff00ff1 = 0x0f000f01
and.b64 0xff00ff0f00000001 0x0ff00ff100000001 = 0x0f000f0100000001
or.b16 0xf000 0x000f = 0xf00f
or.b32 0xf0000000 0x0000000f = 0xf000000f
or.b64 0xf000000000000000 0xf = 0xf00000000000000f
xor.b16 0xffff 0x00ff = 0xff00
xor.b32 0xffffffff 0x0000ffff = 0xffff0000
xor.b64 0xffffffffffffffff 0xffffffff = 0xffffffff00000000
not.b16 0x00ff = 0xff00
not.b32 0x0000ffff = 0xffff0000
not.b64 0xffffffff = 0xffffffff00000000
cnot.b16 0 = 1
cnot.b32 7 = 0
cnot.b64 0 = 1
shl.b16 0x00ff 12 = 0xf000
shl.b16 1 16 = 0
shl.b32 1 31 = 0x80000000
shl.b32 1 32 = 0
shl.b64 1 63 = 0x8000000000000000
shl.b64 1 64 = 0
shr.b16 0x8000 15 = 1
shr.b32 0x80000000 31 = 1
shr.b64 0x8000000000000000 63 = 1
shr.u16 0x8000 16 = 0
shr.u32 0x80000000 4 = 0x08000000
shr.u64 0x8000000000000000 64 = 0
shr.s16 0x8000 15 = 0xffff
shr.s32 0x80000000 40 = 0xffffffff
shr.s32 0x40000000 40 = 0
shr.s64 0x8000000000000000 4 = 0xf800000000000000
prmt.b32 0x03020100 0x07060504 0x7520 = 0x07050200
prmt.b32 0x00008000 0 0x0009 = 0x000000ff
shf.l.wrap.b32 0x80000001 0x00000002 4 = 0x00000028
shf.l.wrap.b32 0x80000001 0x00000002 36 = 0x00000028
shf.r.wrap.b32 0x80000001 0x00000002 4 = 0x28000000
shf.l.clamp.b32 0x80000001 0x00000002 32 = 0x80000001
shf.r.clamp.b32 0x80000001 0x00000002 33 = 0x00000002
brev.b32 0x00000003 = 0xc0000000
brev.b64 0x3 = 0xc000000000000000
bmsk.clamp.b32 4 8 = 0x00000ff0
bmsk.clamp.b32 28 8 = 0xf0000000
bmsk.clamp.b32 32 8 = 0
popc.b32 0xf00000ff = 12
popc.b64 0xf0000000000000ff = 12
clz.b32 0 = 32
clz.b32 0x00010000 = 15
clz.b64 0 = 64
clz.b64 1 = 63
bfind.u32 0x00010000 = 16
bfind.u32 0 = 0xffffffff
bfind.u64 0x100000000 = 32
bfind.s32 -1 = 0xffffffff
bfind.s32 -5 = 2
bfind.s64 -5 = 2
bfi.b32 0xff 0 4 8 = 0x00000ff0
bfi.b32 0 0xffffffff 28 8 = 0x0fffffff
bfi.b64 0xff 0 60 8 = 0xf000000000000000
bfe.u32 0x0000abcd 4 8 = 0xbc
bfe.u32 0xabcd0000 24 16 = 0xab
bfe.u64 0x0000abcd00000000 36 8 = 0xbc
bfe.s32 0x0000abcd 4 8 = 0xffffffbc
bfe.s32 0xabcd0000 24 16 = 0xffffffab
bfe.s64 0x0000abcd00000000 36 8 = 0xffffffffffffffbc
lop3.b32 0xf0f0f0f0 0xcccccccc 0xaaaaaaaa 0x80 = 0x80808080
add.f32 1.5 2.25 = 3.75
add.f64 1e308 1e308 = inf
sub.f32 1.5 2.25 = -0.75
sub.f64 1.5 2.25 = -0.75
mul.f32 1.5 -2 = -3
mul.f64 1.5 -2 = -3
div.f32 1 3 = 0x3eaaaaab
div.f64 1 3 = 0x3fd5555555555555
fma.f32 16777217 1 0 = 16777216
fma.f64 0x3ff0000000000001 0x3ff0000000000001 -1 = 0x3cc0000000000000
min.f32 -0 0 = -0
min.f32 nan 3 = 3
min.f64 2 nan = 2
max.f32 -0 0 = 0
max.f64 nan 3 = 3
min.NaN.f32 -0 0 = -0
min.NaN.f32 2 nan = nan
max.NaN.f32 -0 0 = 0
max.NaN.f32 nan 3 = nan
abs.f32 -2.5 = 2.5
abs.f64 -0 = 0
neg.f32 2.5 = -2.5
neg.f64 0 = -0
rcp.f32 4 = 0.25
rcp.f64 -0 = -inf
sqrt.f32 2 = 0x3fb504f3
sqrt.f64 2 = 0x3ff6a09e667f3bcd
copysign.f32 -1 2 = -2
copysign.f64 -1 2 = -2
rsqrt.approx.f32 4 = 0.5
rsqrt.approx.f64 4 = 0.5
ex2.approx.f32 3 = 8
lg2.approx.f32 8 = 3
sin.approx.f32 0 = 0
cos.approx.f32 0 = 1
tanh.approx.f32 0 = 0
setp.eq.u16 0xffff 0xffff = 1
setp.eq.u32 1 2 = 0
setp.eq.u64 0x100000001 1 = 0
setp.eq.s16 -1 0xffff = 1
setp.eq.s32 -1 0xffffffff = 1
setp.eq.s64 -1 0xffffffff = 0
setp.eq.b16 5 5 = 1
setp.eq.b32 5 5 = 1
setp.eq.b64 5 6 = 0
setp.ne.u16 1 2 = 1
setp.ne.u32 1 2 = 1
setp.ne.u64 0x100000001 1 = 1
setp.ne.s16 1 1 = 0
setp.ne.s32 1 1 = 0
setp.ne.s64 1 1 = 0
setp.ne.b16 1 2 = 1
setp.ne.b32 1 1 = 0
setp.ne.b64 1 2 = 1
setp.lt.u16 0xffff 1 = 0
setp.lt.u32 0xffffffff 1 = 0
setp.lt.u64 0xffffffffffffffff 1 = 0
setp.lt.s16 -1 1 = 1
setp.lt.s32 -1 1 = 1
setp.lt.s64 -1 1 = 1
setp.le.u16 1 1 = 1
setp.le.u32 2 1 = 0
setp.le.u64 1 1 = 1
setp.le.s16 -1 -1 = 1
setp.le.s32 1 -1 = 0
setp.le.s64 -1 -1 = 1
setp.gt.u16 0xffff 1 = 1
setp.gt.u32 0xffffffff 1 = 1
setp.gt.u64 0xffffffffffffffff 1 = 1
setp.gt.s16 -1 1 = 0
setp.gt.s32 -1 1 = 0
setp.gt.s64 -1 1 = 0
setp.ge.u16 1 1 = 1
setp.ge.u32 0 1 = 0
setp.ge.u64 1 1 = 1
setp.ge.s16 -1 0 = 0
setp.ge.s32 0 -1 = 1
setp.ge.s64 -1 0 = 0
setp.lo.u16 1 2 = 1
setp.lo.u32 2 2 = 0
setp.lo.u64 1 2 = 1
setp.ls.u16 2 2 = 1
setp.ls.u32 3 2 = 0
setp.ls.u64 2 2 = 1
setp.hi.u16 3 2 = 1
setp.hi.u32 2 2 = 0
setp.hi.u64 3 2 = 1
setp.hs.u16 2 2 = 1
setp.hs.u32 1 2 = 0
setp.hs.u64 2 2 = 1
setp.eq.f32 nan nan = 0
setp.eq.f64 -0 0 = 1
setp.ne.f32 nan 1 = 0
setp.ne.f64 2 1 = 1
setp.lt.f32 1 nan = 0
setp.lt.f64 1 2 = 1
setp.le.f32 2 2 = 1
setp.le.f64 nan 2 = 0
setp.gt.f32 nan 2 = 0
setp.gt.f64 3 2 = 1
setp.ge.f32 2 2 = 1
setp.ge.f64 nan 2 = 0
setp.equ.f32 nan 2 = 1
setp.equ.f64 1 2 = 0
setp.neu.f32 nan nan = 1
setp.neu.f64 1 1 = 0
setp.ltu.f32 nan 1 = 1
setp.ltu.f64 2 1 = 0
setp.leu.f32 nan 1 = 1
setp.leu.f64 2 1 = 0
setp.gtu.f32 nan 1 = 1
setp.gtu.f64 1 2 = 0
setp.geu.f32 nan 1 = 1
setp.geu.f64 1 2 = 0
setp.num.f32 1 2 = 1
setp.num.f64 1 nan = 0
setp.nan.f32 1 2 = 0
setp.nan.f64 1 nan = 1
mov.b16 0x1234 = 0x1234
mov.u32 0x12345678 = 0x12345678
mov.f64 1.5 = 1.5
cvt.u32.u16 0xffff = 0xffff
cvt.s32.s16 0xffff = 0xffffffff
cvt.u16.u32 0x12345678 = 0x5678
cvt.s64.s32 -2 = 0xfffffffffffffffe
cvt.u64.u32 0xfffffffe = 0xfffffffe
cvt.s16.s8 0x80 = 0xff80
cvt.u16.u8 0x1ff = 0xff
cvt.rn.f32.s32 16777217 = 16777216
cvt.rn.f64.s64 -3 = -3
cvt.rn.f64.u64 0xffffffffffffffff = 18446744073709551616
cvt.rn.f32.f64 1.1 = 0x3f8ccccd
cvt.f64.f32 1.5 = 1.5
cvt.rmi.f64.f64 -1.5 = -2
cvt.rpi.f64.f64 -1.5 = -1
cvt.rzi.f32.f32 -1.5 = -1
cvt.rni.f64.f64 2.5 = 2
cvt.rzi.s32.f64 -1.9 = 0xffffffff
cvt.rzi.s32.f64 3e9 = 0x7fffffff
cvt.rzi.s32.f64 -3e9 = 0x80000000
cvt.rzi.s32.f32 nan = 0
cvt.rzi.s32.f64 nan = 0x80000000
cvt.rzi.s64.f64 nan = 0x8000000000000000
cvt.rzi.s64.f32 1e30 = 0x7fffffffffffffff
cvt.rzi.s64.f64 -1e30 = 0x8000000000000000
cvt.rzi.u32.f32 -1 = 0
cvt.rzi.u64.f64 1e30 = 0xffffffffffffffff
cvt.rni.s32.f32 2.5 = 2
cvt.rmi.s32.f32 -2.5 = 0xfffffffd
atom.add.u32 0xffffffff 2 = 1
atom.add.s32 -1 2 = 1
atom.add.u64 0xffffffffffffffff 2 = 1
atom.add.f32 1.5 2 = 3.5
atom.add.f64 1.5 2 = 3.5
atom.min.u32 0xffffffff 2 = 2
atom.min.s32 -1 2 = 0xffffffff
atom.min.u64 0xffffffffffffffff 2 = 2
atom.min.s64 -1 2 = 0xffffffffffffffff
atom.max.u32 0xffffffff 2 = 0xffffffff
atom.max.s32 -1 2 = 2
atom.max.u64 0xffffffffffffffff 2 = 0xffffffffffffffff
atom.max.s64 -1 2 = 2
atom.and.b32 0xff0f 0x0ff0 = 0x0f00
atom.and.b64 0xff0f 0x0ff0 = 0x0f00
atom.or.b32 0xf000 0x000f = 0xf00f
atom.or.b64 0xf000 0x000f = 0xf00f
atom.xor.b32 0xff 0x0f = 0xf0
atom.xor.b64 0xff 0x0f = 0xf0
atom.exch.b32 1 2 = 2
atom.exch.b64 1 2 = 2
atom.inc.u32 5 5 = 0
atom.inc.u32 4 5 = 5
atom.dec.u32 0 5 = 5
atom.dec.u32 6 5 = 5
atom.dec.u32 3 5 = 2
atom.cas.b32 1 1 7 = 7
atom.cas.b32 2 1 7 = 2
atom.cas.b64 1 1 7 = 7
)";

struct test_case {
  std::string line, opcode;
  std::vector<std::string> operands;
  std::string expected;
};

static std::vector<test_case> all_cases() {
  std::vector<test_case> all;
  std::istringstream lines(cases);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    test_case c;
    c.line = line;
    words >> c.opcode;
    bool result = false;
    for (std::string w; words >> w;) {
      if (w == "=") {
        result = true;
      } else if (result) {
        c.expected = w;
      } else {
        c.operands.push_back(w);
      }
    }
    if (!c.opcode.empty()) all.push_back(c);
  }
  return all;
}

/* ---- values ---- */

static std::vector<type> types_of(const std::string &opcode) {
  std::vector<type> found;
  std::istringstream words(opcode);
  for (std::string p; std::getline(words, p, '.');) {
    if (type_named(p) != NO_TYPE) found.push_back(type_named(p));
  }
  return found;
}

/* Returns the bits of a number of some type. It is written as an integer, as bits in
 * hexadecimal, or as a decimal. */
static uint64_t bits(const std::string &text, type t) {
  if (!is_float(t) || text.compare(0, 2, "0x") == 0) {
    return text[0] == '-' ? (uint64_t)strtoll(text.c_str(), nullptr, 0)
                          : strtoull(text.c_str(), nullptr, 0);
  }
  const double x = strtod(text.c_str(), nullptr);
  const float single = (float)x;
  uint64_t b = 0;
  if (t == F32) {
    memcpy(&b, &single, sizeof single);
  } else {
    memcpy(&b, &x, sizeof x);
  }
  return b;
}

static uint64_t low(uint64_t x, unsigned bytes) {
  return bytes == 8 ? x : x & (((uint64_t)1 << 8 * bytes) - 1);
}

static type result_type(const std::string &opcode) {
  const std::vector<type> t = types_of(opcode);
  if (opcode.compare(0, 4, "cvt.") == 0) return t[0];
  if (opcode.compare(0, 4, "setp") == 0) return PRED;
  for (const char *counts : {"popc", "clz", "bfind"}) {
    if (opcode.compare(0, strlen(counts), counts) == 0) return U32;
  }
  if (opcode.find(".wide.") == std::string::npos) return t.back();
  return bytes_of(t.back()) == 2 ? U32 : U64;
}

static std::string opcodes_literal(const std::string &text, type t) {
  char b[40];
  const char *form = t == F32 ? "0f%08llx" : t == F64 ? "0d%016llx" : "0x%llx";
  snprintf(b, sizeof b, form, (unsigned long long)low(bits(text, t), bytes_of(t)));
  return b;
}

/* Returns the type of operand k. */
static type operand_type(const std::string &opcode, size_t k) {
  const type t = types_of(opcode).back();
  const bool counts = opcode.compare(0, 3, "bfe") == 0 || opcode.compare(0, 3, "bfi") == 0;
  if (k > 0 && (opcode.compare(0, 3, "shl") == 0 || opcode.compare(0, 3, "shr") == 0))
    return U32;
  if (counts && k > (opcode.compare(0, 3, "bfi") == 0 ? 1u : 0u)) return U32;
  if (k == 2 && opcode.find(".wide.") != std::string::npos) return result_type(opcode);
  return t;
}

static const char *result_register(type t) {
  return t == PRED ? "%p1" : bytes_of(t) == 8 ? "%q1" : bytes_of(t) == 4 ? "%r1" : "%h1";
}

/* ---- a case as a kernel ---- */

static std::string operands_text(const test_case &c, size_t from) {
  std::string text;
  for (size_t k = from; k < c.operands.size(); k++) {
    text += ", " + opcodes_literal(c.operands[k], operand_type(c.opcode, k));
  }
  return text;
}

static std::string body_of(const test_case &c) {
  const type t = result_type(c.opcode);
  const std::string r = result_register(t), bytes = std::to_string(8 * bytes_of(t));
  if (c.opcode.compare(0, 5, "atom.") == 0) {
    return "mov.b" + bytes + " " + r + ", " + opcodes_literal(c.operands[0], t) +
           ";\nst.global.b" + bytes + " [%base], " + r + ";\natom.global." +
           c.opcode.substr(5) + " " + r + ", [%base]" + operands_text(c, 1) + ";\nst.global.b" +
           bytes + " [%base+8], " + r + ";";
  }
  const std::string computed = c.opcode + " " + r + operands_text(c, 0) + ";\n";
  if (t == PRED) return computed + "selp.u32 %r1, 1, 0, %p1;\nst.global.u32 [%base], %r1;";
  return computed + "st.global.b" + bytes + " [%base], " + r + ";";
}

Test(ptx_opcodes, each_form) {
  for (const test_case &c : all_cases()) {
    rig r(2);
    const std::string wrong = r.run(body_of(c));
    cr_assert(wrong.empty(), "%s: %s", c.line.c_str(), wrong.c_str());
    const type t = result_type(c.opcode);
    const unsigned size = t == PRED ? 4 : bytes_of(t);
    const uint64_t wanted = low(bits(c.expected, t), size), got = low(r.word(0), size);
    cr_assert(got == wanted, "%s: 0x%llx", c.line.c_str(), (unsigned long long)got);
    if (c.opcode.compare(0, 5, "atom.") != 0) continue;
    cr_assert(low(r.word(1), size) == low(bits(c.operands[0], t), size),
              "%s: the old value is lost", c.line.c_str());
  }
}

/* Every form has a case. */
Test(ptx_opcodes, all_forms) {
  std::set<std::string> tested;
  for (const test_case &c : all_cases()) tested.insert(c.opcode);
  for (const std::string &form : opcode_forms()) {
    cr_assert(tested.count(form), "%s has no test", form.c_str());
  }
}

/* ---- opcodes outside the table ---- */

static uint64_t result_of(const std::string &body, uint64_t word = 0) {
  rig r(8);
  const std::string wrong = r.run(body);
  cr_assert(wrong.empty(), "%s: %s", body.c_str(), wrong.c_str());
  return r.word(word);
}

Test(ptx_opcodes, predicates) {
  const std::string begin = "setp.eq.s32 %p1, 1, 1;\nsetp.eq.s32 %p2, 1, 2;\n";
  const struct {
    const char *text;
    uint64_t r;
  } of[] = {{"and.pred %p3, %p1, %p2;", 0}, {"or.pred %p3, %p1, %p2;", 1},
            {"xor.pred %p3, %p1, %p1;", 0}, {"not.pred %p3, %p2;", 1},
            {"mov.pred %p3, %p1;", 1},      {"mov.pred %p3, 0;", 0},
            {"mov.pred %p3, -1;", 1}};
  for (const auto &o : of) {
    const uint64_t got = result_of(begin + o.text +
                                   "\nselp.b64 %q1, 1, 0, %p3;\n"
                                   "st.global.u64 [%base], %q1;");
    cr_assert(got == o.r, "%s", o.text);
  }
}

Test(ptx_opcodes, selection_by_width) {
  for (const char *of : {"b16 %h", "u16 %h", "b32 %r", "f32 %r", "b64 %q", "f64 %q"}) {
    const std::string type(of, 3), reg = std::string(of + 4);
    const std::string body = "setp.lt.s32 %p1, 1, 2;\nmov." + type + " " + reg + "2, " +
                             (type == "f32"   ? "0f00000007"
                              : type == "f64" ? "0d0000000000000007"
                                              : "7") +
                             ";\nmov." + type + " " + reg + "3, " + reg + "2;\nselp." + type +
                             " " + reg + "1, " + reg + "3, " + reg + "2, %p1;\nst.global." +
                             type + " [%base], " + reg + "1;";
    cr_assert(result_of(body) == 7, "%s", of);
  }
}

Test(ptx_opcodes, carries) {
  const std::string sum = "add.cc.u32 %r1, 0xffffffff, 1;\naddc.cc.u32 %r2, 0xffffffff, 0;\n"
                          "addc.u32 %r3, 5, 0;\nst.global.u32 [%base], %r3;";
  cr_assert(result_of(sum) == 6);
  const std::string wide =
      "add.cc.s64 %q1, -1, 1;\naddc.cc.s64 %q2, 3, 4;\naddc.s64 %q3, 0, 0;\n"
      "st.global.u64 [%base], %q2;";
  cr_assert(result_of(wide) == 8);
  const std::string difference = "sub.cc.u32 %r1, 0, 1;\nsubc.cc.u32 %r2, 0, 0;\n"
                                 "subc.u32 %r3, 9, 0;\nst.global.u32 [%base], %r3;";
  cr_assert(result_of(difference) == 8);
}

Test(ptx_opcodes, packing) {
  cr_assert(result_of("mov.b64 %q1, {0x11223344, 0x55667788};\nst.global.b64 [%base], %q1;") ==
            0x5566778811223344);
  cr_assert(result_of("mov.b64 {%r1, %r2}, 0x5566778811223344;\nst.global.b32 [%base], %r2;") ==
            0x55667788);
  cr_assert(result_of("mov.b32 {%h1, %h2}, 0xaaaabbbb;\nst.global.b16 [%base], %h2;") ==
            0xaaaa);
  cr_assert(result_of("mov.b32 %r1, {0xbbbb, 0xaaaa};\nst.global.b32 [%base], %r1;") ==
            0xaaaabbbb);
}

Test(ptx_opcodes, loads_extend) {
  const std::string begin = "st.global.u64 [%base], 0xfedcba9876543281;\n";
  const struct {
    const char *text;
    uint64_t r;
  } of[] = {{"ld.global.u8 %h1, [%base];\ncvt.u64.u16 %q1, %h1;", 0x81},
            {"ld.global.s8 %h1, [%base];\ncvt.u64.u16 %q1, %h1;", 0xff81},
            {"ld.global.s8 %r1, [%base];\ncvt.u64.u32 %q1, %r1;", 0xffffff81},
            {"ld.global.s16 %r1, [%base];\ncvt.u64.u32 %q1, %r1;", 0x3281},
            {"ld.global.s16 %r1, [%base+6];\ncvt.u64.u32 %q1, %r1;", 0xfffffedc},
            {"ld.global.s32 %q1, [%base+4];", 0xfffffffffedcba98},
            {"ld.global.u32 %q1, [%base+4];", 0xfedcba98},
            {"ld.volatile.global.u64 %q1, [%base];", 0xfedcba9876543281},
            {"ld.global.nc.u64 %q1, [%base];", 0xfedcba9876543281},
            {"ld.global.v2.u32 {%r1, %r2}, [%base];\ncvt.u64.u32 %q1, %r2;", 0xfedcba98},
            {"ld.global.v4.u16 {%h1, %h2, %h3, %h4}, [%base];\ncvt.u64.u16 %q1, %h3;", 0xba98}};
  for (const auto &o : of) {
    const uint64_t got = result_of(begin + o.text + "\nst.global.u64 [%base+8], %q1;", 1);
    cr_assert(got == o.r, "%s: 0x%llx", o.text, (unsigned long long)got);
  }
}

Test(ptx_opcodes, stores) {
  cr_assert(result_of("st.global.u8 [%base+1], 0x1ff;") == 0xff00);
  cr_assert(result_of("st.global.v2.u32 [%base], {1, 2};") == 0x200000001);
  cr_assert(result_of("mov.u64 %q1, 5;\nst.volatile.global.u8 [%base], %q1;") == 5);
}

Test(ptx_opcodes, spaces) {
  cr_assert(result_of(".shared .align 8 .b8 s[64];\nmov.u32 %r1, s;\n"
                      "st.shared.u64 [%r1+8], 77;\nld.shared.u64 %q1, [s+8];\n"
                      "atom.shared.add.u64 %q2, [s+8], 3;\nld.shared.u64 %q3, [%r1+8];\n"
                      "add.s64 %q1, %q1, %q3;\nst.global.u64 [%base], %q1;") == 77 + 80);
  cr_assert(result_of(".local .align 8 .b8 l[16];\nmov.u64 %q1, l;\nst.local.u64 [%q1+8], 9;\n"
                      "ld.local.u64 %q2, [l+8];\nst.global.u64 [%base], %q2;") == 9);
  cr_assert(result_of("cvta.to.global.u64 %q1, %base;\nred.global.add.u64 [%q1], 4;") == 4);
}

Test(ptx_opcodes, generic_addresses) {
  cr_assert(result_of("st.u64 [%base], 3;\nld.relaxed.gpu.u64 %q1, [%base];\n"
                      "st.relaxed.gpu.u64 [%base+8], %q1;",
                      1) == 3);
  cr_assert(
      result_of(".shared .align 8 .b8 s[16];\nmov.u64 %q1, s;\ncvta.shared.u64 %q2, %q1;\n"
                "st.u64 [%q2+8], 5;\nld.u64 %q3, [%q2+8];\ncvta.to.shared.u64 %q4, %q2;\n"
                "ld.shared.u64 %q5, [%q4+8];\nadd.s64 %q3, %q3, %q5;\n"
                "st.global.u64 [%base], %q3;") == 10);
}

/* Returns every lane's result of an exchange. Lanes hold 100 + lane in %r1; the result is
 * %r2. */
static std::vector<uint64_t> lanes_of(const std::string &text, uint32_t threads = WARP) {
  rig r(64);
  const std::string wrong = r.run("mov.u32 %r15, %tid.x;\nadd.s32 %r1, %r15, 100;\n" + text +
                                      "\nmul.wide.u32 %q1, %r15, 8;\nadd.s64 %q2, %base, %q1;\n"
                                      "st.global.u32 [%q2], %r2;",
                                  threads);
  cr_assert(wrong.empty(), "%s", wrong.c_str());
  std::vector<uint64_t> all;
  for (uint32_t k = 0; k < threads; k++) all.push_back(r.word(k));
  return all;
}

Test(ptx_opcodes, shuffles) {
  const auto up = lanes_of("shfl.sync.up.b32 %r2, %r1, 2, 0, -1;");
  cr_assert(up[0] == 100 && up[1] == 101 && up[2] == 100 && up[31] == 129);
  const auto down = lanes_of("shfl.sync.down.b32 %r2, %r1, 2, 31, -1;");
  cr_assert(down[0] == 102 && down[29] == 131 && down[30] == 130 && down[31] == 131);
  const auto butterfly = lanes_of("shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;");
  cr_assert(butterfly[0] == 101 && butterfly[1] == 100 && butterfly[31] == 130);
  const auto index = lanes_of("shfl.sync.idx.b32 %r2, %r1, 5, 31, -1;");
  cr_assert(index[0] == 105 && index[31] == 105);
  /* There are segments of 8 lanes: the segment mask is 24, the clamp 7. */
  const auto segments = lanes_of("shfl.sync.idx.b32 %r2, %r1, 5, 0x1807, -1;");
  cr_assert(segments[0] == 105 && segments[8] == 113 && segments[31] == 129);
  const auto inside =
      lanes_of("shfl.sync.up.b32 %r3|%p1, %r1, 2, 0, -1;\nselp.u32 %r2, 1, 0, %p1;");
  cr_assert(inside[0] == 0 && inside[1] == 0 && inside[2] == 1 && inside[31] == 1);
}

Test(ptx_opcodes, votes) {
  const std::string third = "and.b32 %r3, %r15, 3;\nsetp.eq.s32 %p1, %r3, 3;\n";
  cr_assert(lanes_of(third + "vote.sync.ballot.b32 %r2, %p1, -1;")[4] == 0x88888888);
  cr_assert(lanes_of(third + "vote.ballot.sync.b32 %r2, %p1, -1;")[4] == 0x88888888);
  const struct {
    const char *mode;
    uint64_t r;
  } of[] = {{"any", 1}, {"all", 0}, {"uni", 0}};
  for (const auto &o : of) {
    const auto got = lanes_of(third + "vote.sync." + o.mode +
                              ".pred %p2, %p1, -1;\nselp.u32 %r2, 1, 0, %p2;");
    cr_assert(got[0] == o.r && got[31] == o.r, "%s", o.mode);
  }
}

Test(ptx_opcodes, special_registers) {
  const struct {
    const char *name;
    uint64_t at_5;
  } of[] = {{"%tid.x", 37},
            {"%ntid.x", 40},
            {"%laneid", 5},
            {"%lanemask_lt", 31},
            {"%lanemask_le", 63},
            {"%lanemask_eq", 32},
            {"%lanemask_gt", 0xffffffc0},
            {"%lanemask_ge", 0xffffffe0},
            {"%warpid", 1},
            {"%nctaid.x", 1},
            {"%ctaid.x", 0},
            {"%nwarpid", 2},
            {"%tid.y", 0},
            {"%ntid.z", 1}};
  for (const auto &o : of) {
    cr_assert(lanes_of(std::string("mov.u32 %r2, ") + o.name + ";", 40)[37] == o.at_5, "%s",
              o.name);
  }
}

Test(ptx_opcodes, votes_of_blocks) {
  const std::string third = "setp.eq.s32 %p1, %r15, 3;\n";
  const struct {
    const char *mode;
    uint64_t r;
  } of[] = {{"or", 1}, {"and", 0}};
  for (const auto &o : of) {
    const auto got = lanes_of(
        third + "bar.red." + o.mode + ".pred %p2, 0, %p1;\nselp.u32 %r2, 1, 0, %p2;", 40);
    cr_assert(got[0] == o.r && got[39] == o.r, "%s", o.mode);
  }
  cr_assert(lanes_of("setp.lt.s32 %p1, %r15, 35;\nbar.red.popc.u32 %r2, 0, %p1;", 40)[39] ==
            35);
}

/* ---- text that is not understood ---- */

Test(ptx_opcodes, unknown_ones_are_named) {
  const struct {
    const char *text, *wanted;
  } of[] = {{"wmma.load.a.sync.aligned.row.m16n16k16.f16 %r1, [%base], 16;", "wmma.load"},
            {"cp.async.wait_all;", "cp.async.wait_all"},
            {"add.rz.f32 %r1, 0f00000000, 0f00000000;", "add.rz.f32"},
            {"add.s32 %r1, 1;", "wrong number of operands"},
            {"add.s32 %r1, %nothing, 1;", "%nothing"},
            {"bra nowhere;", "nowhere"},
            {"ld.generic.u32 %r1, [%base];", "ld.generic.u32"},
            {"bar.sync 1;", "barrier 0"},
            {".surprise .b32 x;", ".surprise"},
            {"setp.lt.and.s32 %p1, 1, 2, %p2;", "setp.lt.and"},
            {"@%r1 bra nowhere;", "predicate"}};
  for (const auto &o : of) {
    rig r(1);
    const std::string wrong = r.run(o.text);
    cr_assert(wrong.find(o.wanted) != std::string::npos, "%s: %s", o.text, wrong.c_str());
    cr_assert(wrong.find("PTX, line") != std::string::npos, "%s", wrong.c_str());
  }
}
