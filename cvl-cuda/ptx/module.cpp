/* module.cpp - makes the code of a kernel from its text: see instruction.hpp. */
#include <stdio.h>
#include <string.h>

#include <algorithm>

#include "cvl-cuda/ptx/instruction.hpp"

namespace ravel {
namespace ptx {
namespace {

uint64_t rounded(uint64_t n, uint64_t align) {
  return (n + align - 1) / align * align;
}

const struct {
  const char *name;
  special of;
} special_names[] = {
    {"%tid.x", THREAD},
    {"%ntid.x", THREADS},
    {"%ctaid.x", BLOCK},
    {"%nctaid.x", BLOCKS},
    {"%laneid", LANE},
    {"%lanemask_lt", LANES_BELOW},
    {"%lanemask_le", LANES_UP_TO},
    {"%lanemask_gt", LANES_ABOVE},
    {"%lanemask_ge", LANES_FROM},
    {"%lanemask_eq", LANE_BIT},
    {"%tid.y", THREAD_Y},
    {"%tid.z", THREAD_Z},
    {"%ctaid.y", BLOCK_Y},
    {"%ctaid.z", BLOCK_Z},
    {"%ntid.y", THREADS_Y},
    {"%ntid.z", THREADS_Z},
    {"%nctaid.y", BLOCKS_Y},
    {"%nctaid.z", BLOCKS_Z},
    {"%warpid", WARP_NUMBER},
    {"%nwarpid", WARPS},
    {"%smid", PROCESSOR},
    {"%clock", CLOCK},
};

/* Reads the body of one kernel. */
struct assembler final : operand_source {
  kernel &k;
  const module &m;
  std::vector<std::map<std::string, slot>> scopes{1};
  std::map<std::string, uint32_t> labels;
  std::map<uint32_t, std::string> branches; /* by instruction: its label */
  std::map<std::string, uint64_t> symbols;  /* offsets in the spaces of block and parameters */
  std::map<std::string, space> spaces;
  std::map<std::pair<uint64_t, unsigned>, slot> constants;
  std::map<special, slot> specials;
  const statement *now = nullptr;

  assembler(kernel &to, const module &from) : k(to), m(from) {}

  [[noreturn]] void refuse(const std::string &what) {
    throw error("PTX, line " + std::to_string(now ? now->line : 0) + " of " + k.name + ": " +
                what + (now ? ": `" + now->text + "'" : ""));
  }

  /* ---- registers ---- */

  slot new_register(unsigned bytes_a_lane) {
    slot s;
    s.at = k.register_bytes;
    s.stride = (uint8_t)bytes_a_lane;
    k.register_bytes += bytes_a_lane ? bytes_a_lane * WARP : 8; /* a predicate is padded */
    return s;
  }
  slot new_register(type t) { return new_register(t == PRED ? 0 : std::max(2u, bytes_of(t))); }
  const slot *find(const std::string &name) const {
    for (size_t i = scopes.size(); i-- > 0;) {
      const auto found = scopes[i].find(name);
      if (found != scopes[i].end()) return &found->second;
    }
    return nullptr;
  }
  slot number(uint64_t value, type t) {
    const unsigned bytes = t == PRED ? 0 : std::max(2u, bytes_of(t));
    slot &s = constants[{value, bytes}];
    if (s.at == NO_REGISTER) {
      s = new_register(bytes);
      k.constants.push_back({s, value});
    }
    return s;
  }
  slot special_named(const std::string &name) {
    for (const auto &known : special_names) {
      if (name != known.name) continue;
      slot &s = specials[known.of];
      if (s.at == NO_REGISTER) {
        s = new_register(4);
        k.specials.push_back({s, known.of});
      }
      return s;
    }
    refuse("unknown register " + name);
  }
  bool symbol(const std::string &name, uint64_t &value) const {
    const auto found = symbols.find(name);
    uint64_t bytes = 0;
    value = found != symbols.end() ? found->second : m.address_of(name, &bytes);
    return found != symbols.end() || value != 0;
  }

  /* ---- operand_source ---- */

  slot value(const operand_text &o, type t) override {
    if (o.kind == operand_text::NUMBER) return number(o.number, t);
    if (o.kind != operand_text::NAME) refuse("expected a register or a number");
    if (const slot *s = find(o.name)) return *s;
    if (o.name[0] == '%') return special_named(o.name);
    uint64_t address = 0;
    if (!symbol(o.name, address)) refuse("unknown name " + o.name);
    return number(address + (uint64_t)o.offset, t);
  }
  slot result(const operand_text &o) override {
    if (o.kind == operand_text::NOTHING) return slot();
    const slot *s = o.kind == operand_text::NAME ? find(o.name) : nullptr;
    if (s == nullptr) refuse("expected a register");
    return *s;
  }
  void address(const operand_text &o, space where, instruction &i) override {
    if (o.kind != operand_text::ADDRESS) refuse("expected an address");
    i.offset = o.offset;
    i.a = slot();
    if (o.name.empty()) return;
    if (const slot *s = find(o.name)) {
      i.a = *s;
      return;
    }
    uint64_t base = 0;
    const auto declared = spaces.find(o.name);
    if (!symbol(o.name, base)) refuse("unknown name " + o.name);
    const space lies = declared == spaces.end() ? GLOBAL : declared->second;
    if (lies != where && !(lies == GLOBAL && where == GENERIC)) {
      refuse(o.name + " is in another state space");
    }
    i.offset += (int64_t)base;
  }
  void label(const operand_text &o, instruction &) override {
    branches[(uint32_t)k.code.size()] = o.name;
  }

  /* ---- declarations ---- */

  void lay_out(const variable_text &v, space where, uint32_t &bytes) {
    bytes = (uint32_t)rounded(bytes, v.align);
    symbols[v.name] = bytes;
    spaces[v.name] = where;
    bytes += (uint32_t)(v.count * bytes_of(v.of));
  }
  void declare_parameters(const kernel_text &text) {
    for (const variable_text &v : text.parameters) {
      lay_out(v, PARAM, k.parameter_bytes);
      const uint32_t bytes = (uint32_t)(v.count * bytes_of(v.of));
      k.parameters.push_back({k.parameter_bytes - bytes, bytes});
    }
  }
  /* Declares shared memory first, since memory that a launch adds (`extern`, without a size)
   * lies behind the rest. The module's own shared memory is given to the kernels that name
   * it. */
  void declare_shared(const std::vector<statement> &body, const kernel_text &text) {
    for (const statement &s : body) {
      now = &s;
      if (s.kind != statement::DIRECTIVE || s.text.compare(0, 7, ".shared") != 0) continue;
      lay_out(read_variable(s.text.substr(7), s.line), SHARED, k.shared_bytes);
    }
    const std::string all = m.text.text.substr(text.begin, text.end - text.begin);
    for (const bool external : {false, true}) {
      for (const variable_text &v : m.text.shared) {
        if ((v.count == 0) != external || all.find(v.name) == std::string::npos) continue;
        lay_out(v, SHARED, k.shared_bytes);
        k.extern_shared = k.extern_shared || external;
      }
    }
  }
  /* Declares registers: `.reg .b32 %r<10>` or `.reg .pred p, q`. */
  void declare_registers(const std::string &text) {
    const size_t space = text.find_first_of(" \t");
    const type t = type_named(text.substr(1, space - 1));
    if (t == NO_TYPE) refuse("unknown type");
    for (size_t at = space; at < text.size();) {
      const size_t comma = std::min(text.find(',', at), text.size());
      declare_register(text.substr(at, comma - at), t);
      at = comma + 1;
    }
  }
  void declare_register(const std::string &text, type t) {
    const size_t begin = text.find_first_not_of(" \t\n"), open = text.find('<');
    const size_t end = text.find_last_not_of(" \t\n") + 1;
    if (open == std::string::npos) {
      scopes.back()[text.substr(begin, end - begin)] = new_register(t);
      return;
    }
    const std::string stem = text.substr(begin, open - begin);
    const unsigned long count = strtoul(text.c_str() + open + 1, nullptr, 10);
    for (unsigned long n = 0; n < count; n++) {
      scopes.back()[stem + std::to_string(n)] = new_register(t);
    }
  }
  void directive(const std::string &text) {
    const size_t space = std::min(text.find_first_of(" \t"), text.size());
    const std::string what = text.substr(0, space);
    const size_t begin = std::min(text.find_first_not_of(" \t", space), text.size());
    const std::string rest = text.substr(begin);
    if (what == ".reg") {
      declare_registers(rest);
    } else if (what == ".local") {
      lay_out(read_variable(rest, now->line), LOCAL, k.local_bytes);
    } else if (what != ".pragma" && what != ".shared") {
      refuse("unknown directive");
    }
  }

  /* ---- instructions ---- */

  void instruct(const statement &s) {
    instruction i;
    i.statement = (uint32_t)k.text.size();
    if (!s.guard.empty()) {
      const slot *guard = find(s.guard);
      if (guard == nullptr || guard->stride != 0) refuse("the guard is no predicate");
      i.guard = *guard;
      i.negated = s.negated;
    }
    encode(s, *this, i);
    k.text.push_back(s.text);
    k.lines.push_back(s.line);
    k.code.push_back(i);
  }
  void read(const statement &s) {
    now = &s;
    switch (s.kind) {
    case statement::OPEN: scopes.emplace_back(); break;
    case statement::CLOSE: scopes.pop_back(); break;
    case statement::LABEL: labels[s.text] = (uint32_t)k.code.size(); break;
    case statement::DIRECTIVE: directive(s.text); break;
    case statement::INSTRUCTION: try { instruct(s);
      } catch (const error &e) {
        if (strncmp(e.what(), "PTX", 3) == 0) throw;
        refuse(e.what());
      }
    }
  }
  void resolve_branches() {
    for (const auto &b : branches) {
      const auto found = labels.find(b.second);
      if (found == labels.end()) refuse("unknown label " + b.second);
      k.code[b.first].target = found->second;
    }
  }
  /* A kernel that runs off its end returns. */
  void end_with_exit() {
    instruction i;
    i.control_of = EXIT;
    i.counted = CONTROL;
    i.statement = (uint32_t)k.text.size();
    k.text.push_back("(the end of the kernel)");
    k.lines.push_back(now ? now->line : 0);
    k.code.push_back(i);
  }
};

} // namespace

/* ---- modules ---- */

static std::vector<uint8_t> initial_bytes(const variable_text &v) {
  const unsigned size = bytes_of(v.of);
  std::vector<uint8_t> bytes(v.count * size, 0);
  if (v.values.size() > v.count) {
    throw error("PTX: " + v.name + " has more values than elements");
  }
  for (size_t i = 0; i < v.values.size(); i++) {
    char *end = nullptr;
    const uint64_t value = strtoull(v.values[i].c_str(), &end, 0);
    if (end == v.values[i].c_str()) {
      throw error("PTX: the initial value of " + v.name + " is not understood: " + v.values[i]);
    }
    memcpy(bytes.data() + i * size, &value, size);
  }
  return bytes;
}

module::module(std::string source,
               global_memory &memory) :text(read_module(std::move(source))) {
  for (const variable_text &v : text.globals) {
    const std::vector<uint8_t> initial = initial_bytes(v);
    variables_[v.name] = {memory.variable(initial.size(), v.align, initial.data()),
                          initial.size()};
  }
  for (const kernel_text &k : text.kernels) texts_[k.name] = &k;
}

/* Returns how many characters from s[i] on depend on where the kernel is, not on what it does:
 * its own name, which its parameters have, or its number in the module, which its labels have
 * ($L__BB2_5). */
static size_t length_of_place(const kernel &k, const std::string &s, size_t i) {
  static const std::string label = "$L__BB";
  if (s.compare(i, k.name.size(), k.name) == 0) return k.name.size();
  if (s.compare(i, label.size(), label) != 0) return 0;
  return std::min(s.find('_', i + label.size()), s.size()) - i;
}

/* Returns FNV-1a, of 32 bits. It does not depend on where the kernel is. */
static uint32_t module_digest_of(const kernel &k) {
  uint32_t digest = 2166136261u;
  for (const std::string &statement : k.text) {
    /* The final zero byte counts, too. */
    for (size_t i = 0; i <= statement.size(); i++) {
      while (const size_t n = length_of_place(k, statement, i)) i += n;
      digest = (digest ^ (uint8_t)statement.c_str()[i]) * 16777619u;
    }
  }
  return digest;
}

static std::string label_of(const kernel &k) {
  if (k.name.compare(0, 2, "_Z") == 0) return k.name;
  char digits[9];
  snprintf(digits, sizeof digits, "%08x", module_digest_of(k));
  return k.name + "#" + digits;
}

static void module_narrow(kernel &k, instruction &i) {
  if (i.control_of != WARP_SYNC) {
    throw error("RAVEL_PTX: narrow: `" + k.text[i.statement] + "' has no mask");
  }
  i.narrowed = true;
}

static void module_drop(kernel &k, instruction &i) {
  const bool votes = i.control_of == BLOCK_BARRIER && i.run != nullptr;
  if ((i.counted != BARRIER && i.counted != FENCE) || votes) {
    throw error("RAVEL_PTX: drop: `" + k.text[i.statement] + "' is no barrier or fence");
  }
  i.control_of = PLAIN;
  i.run = [](const instruction &, executor &, lanes) {};
}

static void mutate(kernel &k, const mutation &m) {
  if (m.index >= k.code.size()) {
    throw error("RAVEL_PTX: " + k.name + " has no instruction " + std::to_string(m.index));
  }
  (m.narrows ? module_narrow : module_drop)(k, k.code[m.index]);
}

kernel *module::find(const std::string &name) {
  const auto made = kernels_.find(name);
  if (made != kernels_.end()) return made->second.get();
  const auto known = texts_.find(name);
  if (known == texts_.end()) return nullptr;
  std::unique_ptr<kernel> k(new kernel);
  k->name = name;
  k->from = this;
  k->most_threads = known->second->most_threads;
  assembler a(*k, *this);
  a.declare_parameters(*known->second);
  const std::vector<statement> body = read_body(text, *known->second);
  a.declare_shared(body, *known->second);
  for (const statement &s : body) a.read(s);
  a.resolve_branches();
  a.end_with_exit();
  k->label = label_of(*k);
  if (mutated.kernel == k->name || mutated.kernel == k->label) mutate(*k, mutated);
  return (kernels_[name] = std::move(k)).get();
}

std::vector<std::string> module::names() const {
  std::vector<std::string> names;
  for (const auto &t : texts_) names.push_back(t.first);
  return names;
}

uint64_t module::address_of(const std::string &name, uint64_t *bytes) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return 0;
  *bytes = found->second.bytes;
  return found->second.address;
}

} // namespace ptx
} // namespace ravel
