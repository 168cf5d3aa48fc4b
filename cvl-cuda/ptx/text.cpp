/* text.cpp - see text.hpp. The grammar is in the chapter "Syntax" of the PTX ISA. */
#include "cvl-cuda/ptx/text.hpp"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

namespace ravel {
namespace ptx {
namespace {

[[noreturn]] void refuse(uint32_t line, const std::string &what, const std::string &text) {
  throw error("PTX, line " + std::to_string(line) + ": " + what + ": " + text.substr(0, 200));
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

std::string trimmed(const std::string &s) {
  size_t begin = 0, end = s.size();
  while (begin < end && is_space(s[begin])) begin++;
  while (end > begin && is_space(s[end - 1])) end--;
  return s.substr(begin, end - begin);
}

/* Replaces comments by blanks, so that line numbers stay as they are. */
void blank_comments(std::string &t) {
  for (size_t i = 0; i + 1 < t.size(); i++) {
    if (t[i] != '/' || (t[i + 1] != '/' && t[i + 1] != '*')) continue;
    const bool whole_line = t[i + 1] == '/';
    size_t end = whole_line ? t.find('\n', i) : t.find("*/", i + 2);
    end = end == std::string::npos ? t.size() : whole_line ? end : end + 2;
    for (; i < end; i++) {
      if (t[i] != '\n') t[i] = ' ';
    }
  }
}

/* ---- words of a line ---- */

/* A text, and how far it has been read. */
struct cursor {
  const std::string &text;
  size_t at, end;
  uint32_t line;

  cursor(const std::string &t, size_t from, size_t to, uint32_t first_line)
      : text(t), at(from), end(to), line(first_line) {}

  bool skip_spaces() {
    for (; at < end && is_space(text[at]); at++) line += text[at] == '\n';
    return at < end;
  }
  char next() { return skip_spaces() ? text[at] : '\0'; }
  bool take(char c) {
    if (next() != c) return false;
    at++;
    return true;
  }
  void want(char c) {
    if (!take(c)) refuse(line, std::string("expected `") + c + "'", rest());
  }
  std::string rest() { return trimmed(text.substr(at, std::min<size_t>(end - at, 60))); }
  std::string word() {
    skip_spaces();
    const size_t begin = at;
    while (at < end && is_word(text[at])) at++;
    return text.substr(begin, at - begin);
  }
  /* Returns the text up to a character, and reads past it. */
  std::string until(char c) {
    const size_t begin = at;
    while (at < end && text[at] != c) line += text[at++] == '\n';
    if (at == end) refuse(line, std::string("expected `") + c + "'", "the end");
    return text.substr(begin, at++ - begin);
  }
};

bool is_number(const std::string &w) {
  return !w.empty() && isdigit((unsigned char)w[0]);
}

/* Reads digits as in C, perhaps with a U behind them, or the bits of a float: 0f3F800000,
 * 0d... */
operand_text number(cursor &r, bool negative) {
  const std::string w = r.word();
  operand_text o;
  o.kind = operand_text::NUMBER;
  char *end = nullptr;
  const bool bits = w.size() > 2 && w[0] == '0' && strchr("fFdD", w[1]) != nullptr;
  if (bits) o.number_type = tolower(w[1]) == 'f' ? F32 : F64;
  o.number = strtoull(w.c_str() + (bits ? 2 : 0), &end, bits ? 16 : 0);
  if (*end == 'U') end++;
  if (!is_number(w) || *end != '\0') refuse(r.line, "no number", w);
  if (negative && bits) o.number ^= o.number_type == F32 ? 1ull << 31 : 1ull << 63;
  if (negative && !bits) o.number = 0 - o.number;
  return o;
}

/* Reads a name with a constant behind it. */
operand_text name(cursor &r) {
  operand_text o;
  o.kind = operand_text::NAME;
  o.name = r.word();
  if (o.name.empty()) refuse(r.line, "expected an operand", r.rest());
  if (o.name == "_") o.kind = operand_text::NOTHING;
  const char sign = r.next();
  if (sign == '+' || sign == '-') {
    r.at++;
    const bool twice = r.take('-'); /* name+-8 */
    o.offset = (int64_t)number(r, (sign == '-') != twice).number;
  }
  return o;
}

operand_text operand(cursor &r) {
  operand_text o;
  if (r.take('{')) {
    o.kind = operand_text::VECTOR;
    do o.elements.push_back(operand(r));
    while (r.take(','));
    r.want('}');
    return o;
  }
  if (r.take('[')) {
    o = isdigit((unsigned char)r.next()) ? number(r, false) : name(r);
    if (o.kind == operand_text::NUMBER) o.offset = (int64_t)o.number;
    o.kind = operand_text::ADDRESS;
    r.want(']');
    return o;
  }
  if (r.take('-')) return number(r, true);
  if (isdigit((unsigned char)r.next())) return number(r, false);
  o = name(r);
  if (r.take('|')) o.elements.push_back(name(r));
  return o;
}

/* ---- statements ---- */

std::vector<std::string> words_of(const std::string &opcode) {
  std::vector<std::string> words;
  size_t begin = 0;
  for (size_t dot; (dot = opcode.find('.', begin)) != std::string::npos; begin = dot + 1) {
    words.push_back(opcode.substr(begin, dot - begin));
  }
  words.push_back(opcode.substr(begin));
  /* Words do not contain hints such as L1::no_allocate. */
  return words;
}

void read_opcode(cursor &r, statement &s) {
  std::string opcode = r.word();
  while (r.at + 1 < r.end && r.text.compare(r.at, 2, "::") == 0) {
    r.at += 2;
    opcode += "::" + r.word();
  }
  s.opcode = words_of(opcode);
}

void read_guard(cursor &r, statement &s) {
  if (!r.take('@')) return;
  s.negated = r.take('!');
  s.guard = r.word();
}

/* Returns the text that was read, on one line. */
std::string shown(const cursor &r, size_t begin) {
  std::string s = trimmed(r.text.substr(begin, r.at - begin));
  std::replace_if(s.begin(), s.end(), is_space, ' ');
  return s;
}

statement read_instruction(cursor &r) {
  statement s{statement::INSTRUCTION, "", r.line, "", false, {}, {}};
  const size_t begin = r.at;
  read_guard(r, s);
  read_opcode(r, s);
  while (r.next() != ';') {
    s.operands.push_back(operand(r));
    if (!r.take(',')) break;
  }
  s.text = shown(r, begin);
  r.want(';');
  return s;
}

statement read_directive(cursor &r) {
  statement s{statement::DIRECTIVE, "", r.line, "", false, {}, {}};
  s.text = trimmed(r.until(';'));
  return s;
}

/* .loc and .file are lines without a semicolon. */
bool skip_line_directive(cursor &r) {
  for (const char *word : {".loc ", ".loc\t", ".file "}) {
    if (r.text.compare(r.at, strlen(word), word) != 0) continue;
    while (r.at < r.end && r.text[r.at] != '\n') r.at++;
    return true;
  }
  return false;
}

bool at_label(const cursor &r) {
  size_t i = r.at;
  while (i < r.end && is_word(r.text[i])) i++;
  return i > r.at && i < r.end && r.text[i] == ':' && (i + 1 == r.end || r.text[i + 1] != ':');
}

statement read_statement(cursor &r) {
  if (r.take('{')) return {statement::OPEN, "{", r.line, "", false, {}, {}};
  if (r.take('}')) return {statement::CLOSE, "}", r.line, "", false, {}, {}};
  if (at_label(r)) {
    statement s{statement::LABEL, r.word(), r.line, "", false, {}, {}};
    r.want(':');
    return s;
  }
  return r.text[r.at] == '.' ? read_directive(r) : read_instruction(r);
}

} // namespace

std::vector<statement> read_body(const module_text &m, const kernel_text &k) {
  std::vector<statement> body;
  cursor r(m.text, k.begin, k.end, k.line);
  while (r.skip_spaces()) {
    if (!skip_line_directive(r)) body.push_back(read_statement(r));
  }
  return body;
}

/* ---- declarations ---- */

static void read_values(cursor &r, variable_text &v) {
  if (!r.take('=')) return;
  const bool many = r.take('{');
  do {
    const std::string sign = r.take('-') ? "-" : "";
    v.values.push_back(sign + trimmed(r.word()));
  } while (many && r.take(','));
  if (many) r.want('}');
}

variable_text read_variable(const std::string &text, uint32_t line) {
  variable_text v;
  cursor r(text, 0, text.size(), line);
  std::string w = r.word();
  if (w == ".align") {
    v.align = number(r, false).number;
    w = r.word();
  }
  v.of = w.empty() ? NO_TYPE : type_named(w.substr(1));
  if (v.of == NO_TYPE) refuse(line, "expected a type", text);
  v.align = std::max<uint64_t>(v.align, bytes_of(v.of));
  v.name = r.word();
  if (r.take('[')) {
    v.count = r.next() == ']' ? 0 : number(r, false).number;
    r.want(']');
  }
  read_values(r, v);
  return v;
}

/* ---- modules ---- */

namespace {

void read_parameters(cursor &r, kernel_text &k) {
  if (!r.take('(')) return;
  if (r.take(')')) return;
  do {
    if (r.word() != ".param") refuse(r.line, "expected .param", r.rest());
    const size_t begin = r.at;
    while (r.at < r.end && r.text[r.at] != ',' && r.text[r.at] != ')') {
      r.line += r.text[r.at++] == '\n';
    }
    std::string text = trimmed(r.text.substr(begin, r.at - begin));
    /* The type that a parameter points to says nothing about the parameter. */
    const size_t pointer = text.find(".ptr");
    if (pointer != std::string::npos) {
      const size_t last = text.find_last_of(" \t");
      text = text.substr(0, pointer) + text.substr(last);
    }
    k.parameters.push_back(read_variable(text, r.line));
  } while (r.take(','));
  r.want(')');
}

/* Reads .maxntid 256, 1, 1. Other limits mean nothing to an interpreter. */
void read_limits(cursor &r, kernel_text &k) {
  while (r.next() == '.') {
    const std::string limit = r.word();
    uint64_t product = 1;
    do {
      if (!isdigit((unsigned char)r.next())) break;
      product *= number(r, false).number;
    } while (r.take(','));
    if (limit == ".maxntid") k.most_threads = (uint32_t)product;
  }
}

void skip_body(cursor &r, kernel_text &k) {
  r.want('{');
  k.begin = r.at;
  k.line = r.line;
  for (int depth = 1; depth > 0; r.at++) {
    if (r.at == r.end) refuse(r.line, "a kernel without an end", k.name);
    const char c = r.text[r.at];
    r.line += c == '\n';
    depth += c == '{';
    depth -= c == '}';
  }
  k.end = r.at - 1;
}

kernel_text read_kernel(cursor &r) {
  kernel_text k;
  k.name = r.word();
  read_parameters(r, k);
  read_limits(r, k);
  skip_body(r, k);
  return k;
}

void skip_line(cursor &r) {
  while (r.at < r.end && r.text[r.at] != '\n') r.at++;
}

/* Returns the number of a name like sm_90a. */
int target_of(const std::string &name) {
  const size_t digits = name.find_first_of("0123456789");
  return digits == std::string::npos ? 0 : atoi(name.c_str() + digits);
}

void read_item(cursor &r, module_text &m) {
  const std::string w = r.word();
  if (w == ".version" || w == ".address_size" || w == ".file") {
    skip_line(r);
  } else if (w == ".target") {
    m.target = target_of(r.word());
    skip_line(r);
  } else if (w == ".visible" || w == ".weak" || w == ".extern") {
    /* only says who else may use what follows */
  } else if (w == ".entry") {
    m.kernels.push_back(read_kernel(r));
  } else if (w == ".global" || w == ".const") {
    m.globals.push_back(read_variable(trimmed(r.until(';')), r.line));
  } else if (w == ".shared") {
    m.shared.push_back(read_variable(trimmed(r.until(';')), r.line));
  } else {
    refuse(r.line, "unknown directive", w.empty() ? r.rest() : w);
  }
}

} // namespace

module_text read_module(std::string text) {
  module_text m;
  m.text = std::move(text);
  blank_comments(m.text);
  cursor r(m.text, 0, m.text.size(), 1);
  while (r.skip_spaces()) read_item(r, m);
  return m;
}

} // namespace ptx
} // namespace ravel
