#!/usr/bin/env python3
"""Tests the scopes that the TextMate grammars in editors/ assign.

    nesl-tests/grammars.py [FILE ...]     without files: tests;  else the scopes of each token

A small interpreter of grammars (match, begin/end, captures, include, line by line as editors do)
runs over the examples, the library and the tables; the scope of each token is checked."""

import json
import re
import sys
from pathlib import Path

from checks import Checks

ROOT = Path(__file__).resolve().parent.parent


class Grammar:
    def __init__(self, name):
        self.data = json.loads((ROOT / "editors" / f"{name}.tmLanguage.json").read_text())
        self.regexes = {}

    def regex(self, text):
        if text not in self.regexes:
            self.regexes[text] = re.compile(text)
        return self.regexes[text]

    def rules(self, patterns):
        """Rules, with includes expanded."""
        for rule in patterns:
            if "include" in rule:
                inner = self.data["repository"][rule["include"].removeprefix("#")]
                whole = "match" in inner or "begin" in inner
                yield from self.rules([inner] if whole else inner["patterns"])
            else:
                yield rule

    def tokens(self, text):
        """Tokens of a text: (line, text, scope); scope None where no rule matches."""
        open_rules = []  # of the begin/end pairs that are open, the innermost last
        for number, line in enumerate(text.split("\n"), 1):
            at = 0
            while at < len(line):
                token = self.step(open_rules, line, at)
                if token is None:
                    inside = open_rules[-1]["name"] if open_rules else None
                    if line[at:].strip():
                        yield number, line[at:], inside
                    break
                start, end, scopes = token
                if line[at:start].strip():
                    outer = scopes.pop("outer")
                    yield number, line[at:start], outer
                for low, high, scope in scopes["tokens"]:
                    if high > low:
                        yield number, line[low:high], scope
                at = end

    def step(self, open_rules, line, at):
        """The leftmost match of any rule, the first one of several."""
        inside = open_rules[-1] if open_rules else None
        patterns = inside.get("patterns", []) if inside else self.data["patterns"]
        best = None
        if inside:
            found = self.regex(inside["end"]).search(line, at)
            best = (found, inside, "end") if found else None
        for rule in self.rules(patterns):
            kind = "match" if "match" in rule else "begin"
            found = self.regex(rule[kind]).search(line, at)
            if found and found.end() > at and (best is None or found.start() < best[0].start()):
                best = (found, rule, kind)
        if best is None:
            return None
        found, rule, kind = best
        outer = inside["name"] if inside else None
        tokens = [(found.start(), found.end(), rule.get("name"))]
        if kind == "match" and "captures" in rule:
            tokens = [(*found.span(int(group)), capture["name"])
                      for group, capture in sorted(rule["captures"].items())]
        elif kind == "begin":
            open_rules.append(rule)
        elif kind == "end":
            open_rules.pop()
        return found.start(), found.end(), {"outer": outer, "tokens": tokens}


class Tests(Checks):
    def everything_has_a_scope(self, grammar, path):
        bad = [(line, text) for line, text, scope in grammar.tokens(path.read_text("latin-1"))
               if scope is None]
        self.check(not bad, f"{path}: nothing is said of {bad[:5]}")

    def scopes(self, grammar, text, wanted):
        """wanted: tokens and the beginning of their scopes, as a regular expression."""
        got = [(token.strip(), scope) for _, token, scope in grammar.tokens(text)]
        for token, scope in wanted.items():
            found = [s for p, s in got if p == token]
            self.check(found and all(re.match(scope, s or "") for s in found),
                       f"{text!r}: {token!r} should be {scope}, is {found}")


NESL_CASES = [
    ("x % a t `\nin \" % y", {"x": "variable", "a t `": "comment.block", "y": "variable"}),
    ("%= [1] % [2]", {"%=": "comment.block", "[1]": "comment.block.documentation",
                      "2": "constant.numeric"}),
    ("#!/usr/bin/env -S nesl run\nsum(v)", {"#!/usr/bin/env -S nesl run": "comment.line",
                                            "sum": "entity.name.function.call"}),
    ('"a \\" % b" ++ c', {"++": "keyword.operator", "c": "variable", '\\"': "constant.character"}),
    ("`% + `\" + `` + x", {"`%": "constant.character", '`"': "constant.character",
                           "``": "constant.character", "x": "variable"}),
    ("function Half(x) = if x then t else f;",
     {"function": "storage.type", "Half": "entity.name.function.definition", "if": "keyword.control",
      "then": "keyword.control", "else": "keyword.control", "t": "constant.language",
      "f": "constant.language", "x": "variable", "=": "keyword.operator", ";": "punctuation"}),
    ("datatype point(float, int) :: (a in any)",
     {"datatype": "storage.type", "point": "entity.name.function.definition", "float":
      "support.type", "int": "support.type", "any": "support.type.class", "::": "keyword.operator"}),
    ("any({x in v}) + float(n) + [] float", {"any": "entity.name.function.call", "v": "variable"}),
    ("v[0].t + g(x) . In * 2.e3", {"t": "variable.other.member", "In": "variable.other.member", ".": "punctuation.accessor",
                                   "g": "entity.name.function.call", "2.e3": "constant.numeric.float"}),
    ("body(mass := 2.)", {"mass": "variable", ":=": "keyword.operator", "2.": "constant.numeric.float"}),
    ("float(n)", {"float": "entity.name.function.call"}),
    ("007 + 1. + .5 + 1e3 + 1.5e-2", {
        "007": "constant.numeric.integer", "1.": "constant.numeric.float", ".5":
        "constant.numeric.float", "1e3": "constant.numeric.float",
        "1.5e-2": "constant.numeric.float"}),
    ("0xFF + 1_000 * 1_0.5; // 12", {"0xFF": "constant.numeric.integer.hexadecimal", "1_000": "constant.numeric.integer",
                                     "1_0.5": "constant.numeric.float", "// 12": "comment.line.double-slash"}),
    ("set print_length 3;", {"set": "keyword.other.command", "3": "constant.numeric"}),
    ("trace #v;", {"trace": "keyword.other.command", "v": "variable"}),
    ("loop (x, y) = (0, 1) while x < y do f(x)", {"loop": "keyword.control.loop", "while": "keyword.control.loop",
                                                 "do": "keyword.control.loop", "y": "variable"}),
    ("loop n : int = 0 while", {"loop": "keyword.control.loop", "n": "variable"}),
    ("loop(x) == while(y)", {"loop": "entity.name.function.call", "while": "entity.name.function.call"}),
    ("{* print(x) : x in infinite}", {"in": "keyword.control", "infinite": "variable"}),
]

VCODE_CASES = [
    ("{ COPY 1 0 } FUNC MAIN{x}", {"FUNC": "storage.type", "MAIN": "entity.name.function"}),
    ("{@ prog.nesl:1:2 f }\n+_REDUCE INT", {"+_REDUCE": "keyword.operator.scan", "INT": "support.type"}),
    ("CONST FLOAT (1.0 -2.5e3)", {"CONST": "keyword.other.stack", "FLOAT": "support.type",
                                  "1.0": "constant.numeric.float", "-2.5e3": "constant.numeric.float"}),
    ('CONST CHAR "IF { T"', {'"': "string", "IF { T": "string"}),
    ("CONST BOOL (T F)", {"T": "constant.language", "F": "constant.language"}),
    ("CALL +_F-1 - INT -1", {"CALL": "keyword.control", "+_F-1": "entity.name.function.call",
                             "-": "keyword.operator.elementwise", "-1": "constant.numeric"}),
    ("POP 1 0 ENDIF(", {"POP": "keyword.other.stack", "ENDIF": "keyword.control"}),
]


def nesl_tests(tests):
    grammar = Grammar("nesl")
    for text, wanted in NESL_CASES:
        tests.scopes(grammar, text, wanted)
    for path in [*ROOT.glob("examples/*.nesl"), *ROOT.glob("neslc/library/*.nesl"),
                 *ROOT.glob("nesl-tests/nesl/library*.nesl")]:
        tests.everything_has_a_scope(grammar, path)
    table = (ROOT / "neslc" / "front" / "lexemes.def").read_text()
    words = re.findall(r'^WORD *\(\w+, *"(\w+)"', table, re.MULTILINE)
    # A mark with a hint of what was meant has no use in programs.
    marks = re.findall(r'^(?:PAIR_)?MARK *\(\w+, *"([^"]+)", .*NULL\)$', table, re.MULTILINE)
    tests.check(len(words) > 10 and len(marks) > 30, "lexemes.def is not read")
    for word in words:
        kind = "storage" if word in ("function", "datatype") else "keyword"
        tests.scopes(grammar, f"a {word} b", {word: kind})
        tests.scopes(grammar, f"a {word}x b", {word + "x": "variable"})
    for mark in marks:
        got = [token for _, token, scope in grammar.tokens(f"a {mark} b") if scope and
               scope.startswith(("keyword.operator", "punctuation"))]
        tests.check(got == [mark], f"the mark {mark} is {got}")


def vcode_tests(tests):
    grammar = Grammar("vcode")
    for text, wanted in VCODE_CASES:
        tests.scopes(grammar, text, wanted)
    for path in ROOT.glob("examples/*.vcode"):
        text = path.read_text()
        tests.everything_has_a_scope(grammar, path)
        names = [p for _, p, s in grammar.tokens(text) if s == "variable.other.vcode"]
        tests.check(not names, f"{path}: these are no opcodes: {names}")
    table = (ROOT / "tables" / "opcodes.def").read_text()
    opcodes = re.findall(r'^OPCODE\(\w+, *"([^"]+)", *(\w+)', table, re.MULTILINE)
    tests.check(len(opcodes) > 80, "opcodes.def is not read")
    for opcode, of_class in opcodes:
        # What no other rule knows is taken for elementwise.
        kind = ("storage" if opcode == "FUNC" else "keyword.operator.elementwise"
                if of_class in ("ELEMENTWISE", "RANDOM") else
                "keyword.(?!operator.elementwise)")
        tests.scopes(grammar, f"T {opcode} INT", {opcode: kind})


def main():
    if len(sys.argv) > 1:
        for name in sys.argv[1:]:
            grammar = Grammar("nesl" if name.endswith(".nesl") else "vcode")
            for line, token, scope in grammar.tokens(Path(name).read_text("latin-1")):
                print(f"{line}: {token!r} {scope}")
        return 0
    tests = Tests()
    for path in (ROOT / "editors").glob("*.json"):
        json.loads(path.read_text())
    manifest = json.loads((ROOT / "editors" / "package.json").read_text())["contributes"]
    for file in [g["path"] for g in manifest["grammars"]] + [
            language["configuration"] for language in manifest["languages"]]:
        tests.check((ROOT / "editors" / file).exists(), f"package.json names {file}")
    nesl_tests(tests)
    vcode_tests(tests)
    return tests.status()


if __name__ == "__main__":
    sys.exit(main())
