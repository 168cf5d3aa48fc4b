#!/usr/bin/env python3
"""Random well-typed VCODE programs, run several ways that must agree to the last byte.

    nesl-tests/random_programs.py [--seconds S | --count N] [--seed TEXT] [--vinterp PATH]
                                  [--keep FOLDER] [--show]

Ways: let-form on one thread, on two, on the delaying back end, and the checked stack interpreter
(the oracle); optimised without and with fusion, on the delaying back end too, and through a file
that fcodeopt writes; with --native also with compiled superoperators. Compared: exit status,
standard output, the program's writes, and for a failure the source location and message (of
optimised runs without the enclosing calls, which may have been expanded). A program depends on the seed and its number alone: a failure
prints both, and --count 1 --first NUMBER --seed TEXT --show prints that program.

The generator tracks the kind of each stack item and a token for its length (a number if known, a
name if only the run determines it, as after PACK), so that nearly all operations agree in size; indices and divisors are sometimes wrong on purpose.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 300  # that a run may take: far more than it does on a busy machine
WAYS = [["--threads", "1"], ["--threads", "2"], ["--threads", "2", "--backend", "delayed"],
        ["--threads", "2", "--checked"]]
OPTIMISED = [["-O", "--no-fusion", "--threads", "1"], ["-O", "--threads", "1"],
             ["-O", "--threads", "2", "--backend", "delayed"]]
NATIVE = ["-O", "--native=wait", "--threads", "2"]
BINARY = {"INT": ["+", "-", "*", "AND", "OR", "XOR"], "FLOAT": ["+", "-", "*", "/"],
          "BOOL": ["AND", "OR", "XOR"]}
COMPARE = ["<", "<=", ">", ">=", "=", "!="]
COMBINE = {"INT": ["+", "*", "MAX", "MIN", "AND", "OR", "XOR"], "FLOAT": ["+", "*", "MAX", "MIN"],
           "BOOL": ["AND", "OR", "XOR"]}
UNARY = {"INT": [("I_TO_F", "FLOAT"), ("I_TO_B", "BOOL"), ("NOT INT", "INT")],
         "FLOAT": [(f, "FLOAT") for f in ("SQRT", "EXP", "SIN", "COS", "TAN", "LOG", "ASIN",
                                         "ACOS", "ATAN", "SINH", "COSH", "TANH")] +
                  [(f, "INT") for f in ("FLOOR", "CEIL", "TRUNC", "ROUND")],
         "BOOL": [("B_TO_I", "INT"), ("NOT BOOL", "BOOL")]}


# Superoperators that are one combination each, of a vector $0 under the descriptor $1, by functions
# that do not commute, and but for the first are not associative either: an order of the operands,
# or a tree, that is not that of the plain program gives another result.
COMBINATIONS = """fused OP{0}#0 ($0 : {K}, $1 : SEGDES, $2 : INT, $3 : {K}) =
  $4 = (CONST INT -1)
  $5 $6 = (COLUMN {K} @ $0)
  $7 $8 = (COLUMN INT @ $2)
  $9 = (> {K} @ $6 $5)
  $10 = (SELECT {K} @ $9 $6 $5)
  $11 = (SELECT INT @ $9 $8 $7)
  $12 = (COMBINE_REDUCE {K} @ $5 $10 $3 $1)
  $13 = (COMBINE_REDUCE INT @ $7 $11 $4 $1)
  -> $12 $13
fused OP{1}#0 ($0 : {K}, $1 : SEGDES, $2 : INT, $3 : {K}, $4 : SEGDES) =
  $5 = (CONST INT 3)
  $6 = (DIST INT @ $5 $4)
  $7 $8 = (COLUMN {K} @ $0)
  $9 $10 = (COLUMN INT @ $2)
  $11 = (- {K} @ $7 $8)
  $12 = (- INT @ (* INT @ $9 $6) $10)
  $13 = (COMBINE_SCAN {K} @ $7 $11 $3 $1)
  $14 = (COMBINE_SCAN INT @ $9 $12 $5 $1)
  -> $14 $13
fused OP{2}#0 ($0 : {K}, $1 : SEGDES) =
  $2 $3 = (COLUMN {K} @ $0)
  (COMBINE_SCAN_INCLUSIVE {K} @ $2 (- {K} @ $2 $3) $1)
fused OP{3}#0 ($0 : {K}, $1 : SEGDES, $2 : INT, $3 : {K}) =
  $4 $5 = (COLUMN {K} @ $0)
  (COMBINE_SCATTER {K} @ $4 (- {K} @ $4 $5) $2 $3 $1 $1)
"""
DEFINITIONS = "".join(COMBINATIONS.format(*range(4 * k, 4 * k + 4), K=kind)
                      for k, kind in enumerate(("INT", "FLOAT")))


class Unsuitable(Exception):
    """There is nothing on the stack for this action."""


class Generator:
    """Writes one program. Items are tuples: (kind, length), ("SEGDES", count, total) or
    ("PAIR", item, item)."""

    def __init__(self, rng):
        self.rng, self.names, self.functions = rng, 0, []
        self.lines, self.stack = [], []

    def emit(self, text):
        self.lines.append(text)

    def token(self):
        self.names += 1
        return f"n{self.names}"

    # -- constants --

    def literal(self, kind):
        if kind == "INT":
            return str(self.rng.choice([0, 1, 2, 3, 7, -1, -5, 100, 12345, 2147483647]))
        if kind == "FLOAT":
            return repr(self.rng.choice([0.0, 1.0, -1.5, 0.1, 3.25, -0.0, 1000.5, 2.0]))
        return self.rng.choice("TF")

    def constant(self, kind, length):
        if length == 1 and self.rng.random() < 0.7:
            self.emit(f"CONST {kind} {self.literal(kind)}")
        else:
            self.emit(f"CONST {kind} ({' '.join(self.literal(kind) for _ in range(length))})")
        self.stack.append((kind, length))

    def any_constant(self):
        kind = self.rng.choice(["INT", "INT", "FLOAT", "BOOL"])
        self.constant(kind, self.rng.choice([0, 1, 1, 1, 2, 3, 5, 9]))

    def descriptor(self):
        if self.rng.random() < 0.3:
            n = self.rng.choice([0, 1, 5, 33, 257, 5000])
            self.emit(f"CONST SEGDES {n}")
            self.stack.append(("SEGDES", 1, n))
            return
        lengths = [self.rng.choice([0, 0, 1, 1, 2, 3, 4, 40]) for _ in range(self.rng.randint(0, 6))]
        self.emit(f"CONST INT ({' '.join(map(str, lengths))})")
        self.emit("MAKE_SEGDES")
        self.stack.append(("SEGDES", len(lengths), sum(lengths)))

    # -- finding operands --

    def vectors(self, test=lambda item: True):
        return [i for i, item in enumerate(self.stack)
                if item[0] in ("INT", "FLOAT", "BOOL") and test(item)]

    def push(self, i, may_move=True):
        """Copies item i to the top; sometimes moves it instead."""
        depth = len(self.stack) - 1 - i
        if may_move and self.rng.random() < 0.15 and i >= self.base:
            self.emit(f"CPOP 1 {depth}")
            self.stack.append(self.stack.pop(i))
        else:
            self.emit(f"COPY 1 {depth}")
            self.stack.append(self.stack[i])

    def push_kind(self, kind, length):
        """A vector of this kind and length on top, found or made; False if it cannot be."""
        found = self.vectors(lambda item: item == (kind, length))
        if found and self.rng.random() < 0.8:
            self.push(self.rng.choice(found), may_move=False)
            return True
        if isinstance(length, int) and length <= 12:
            self.constant(kind, length)
            return True
        spread = [i for i, d in enumerate(self.stack)
                  if d[0] == "SEGDES" and d[2] == length and isinstance(d[1], int) and d[1] <= 12]
        if spread:
            i = self.rng.choice(spread)
            d = self.stack[i]
            self.constant(kind, d[1])
            self.emit(f"COPY 1 {len(self.stack) - 1 - i}")
            self.emit(f"DIST {kind}")
            self.stack.pop()
            self.stack.append((kind, length))
            return True
        if found:
            self.push(self.rng.choice(found), may_move=False)
            return True
        return False

    def segmented(self):
        """A vector and a descriptor that agree on top of the stack; returns both."""
        choices = [(i, j) for i in self.vectors() for j, d in enumerate(self.stack)
                   if d[0] == "SEGDES" and d[2] == self.stack[i][1]]
        if not choices:
            i = self.pick()
            kind, _ = self.stack[i]
            self.emit(f"COPY 1 {len(self.stack) - 1 - i}")
            self.stack.append(self.stack[i])
            self.emit("COPY 1 0")
            self.emit(f"LENGTH {kind}")
            self.emit("MAKE_SEGDES")
            self.stack.append(("SEGDES", 1, self.stack[-1][1]))
            return self.stack[-2], self.stack[-1]
        i, j = self.rng.choice(choices)
        v, d = self.stack[i], self.stack[j]
        self.emit(f"COPY 1 {len(self.stack) - 1 - i}")
        self.stack.append(v)
        self.emit(f"COPY 1 {len(self.stack) - 1 - j}")
        self.stack.append(d)
        return v, d

    def pick(self):
        found = self.vectors()
        if not found:
            raise Unsuitable
        return self.rng.choice(found)

    def result(self, operands, *items):
        del self.stack[len(self.stack) - operands:]
        self.stack.extend(items)

    # -- operations --

    def binary(self):
        i = self.pick()
        kind, length = self.stack[i]
        self.push(i)
        if not self.push_kind(kind, length):
            return
        if kind != "BOOL" and self.rng.random() < 0.3:
            self.emit(f"{self.rng.choice(COMPARE)} {kind}")
            self.result(2, ("BOOL", length))
        elif kind == "INT" and self.rng.random() < 0.15:
            self.emit(self.rng.choice(["/ INT", "%", "LSHIFT", "RSHIFT"]))
            self.result(2, ("INT", length))
        else:
            self.emit(f"{self.rng.choice(BINARY[kind])} {kind}")
            self.result(2, (kind, length))

    def unary(self):
        i = self.pick()
        kind, length = self.stack[i]
        self.push(i)
        word, out = self.rng.choice(UNARY[kind])
        self.emit(word)
        self.result(1, (out, length))

    def select(self):
        i = self.pick()
        kind, length = self.stack[i]
        if self.push_kind("BOOL", length) and self.push_kind(kind, length) and \
                self.push_kind(kind, length):
            self.emit(f"SELECT {kind}")
            self.result(3, (kind, length))

    def combine(self):
        (kind, length), (_, count, _) = self.segmented()
        op = self.rng.choice(COMBINE[kind])
        if self.rng.random() < 0.5:
            self.emit(f"{op}_SCAN {kind}")
            self.result(2, (kind, length))
        else:
            self.emit(f"{op}_REDUCE {kind}")
            self.result(2, (kind, count))

    def combination(self):
        """One of DEFINITIONS."""
        (kind, length), d = self.segmented()
        which = self.rng.randint(0, 2)
        if kind == "BOOL":
            return
        if which < 2 and not (self.push_kind("INT", length) and self.push_kind(kind, d[1])):
            return
        if which == 1:
            self.emit(f"COPY 1 3\nLENGTH {kind}\nMAKE_SEGDES")
        self.emit(f"FUSED {which + (4 if kind == 'FLOAT' else 0)}")
        if which == 0:
            self.result(4, (kind, d[1]), ("INT", d[1]))
        elif which == 1:
            self.result(4, ("INT", length), (kind, length))
        else:
            self.result(2, (kind, length))

    def combined_scatter(self):
        (kind, length), _ = self.indexed()
        if kind == "BOOL":
            return
        self.emit(f"COPY 1 2\nFUSED {7 if kind == 'FLOAT' else 3}")
        self.result(3, (kind, length))

    def rank(self):
        (kind, length), _ = self.segmented()
        if kind == "BOOL":
            return
        self.emit(f"{self.rng.choice(['RANK_UP', 'RANK_DOWN'])} {kind}")
        self.result(2, ("INT", length))

    def sort(self):
        (kind, length), d = self.segmented()
        if kind == "BOOL":
            return
        way = self.rng.choice(["UP", "DOWN"])
        if self.rng.random() < 0.5:
            self.emit(f"SORT_{way} {kind}")
        else:
            self.emit("COPY 2 0")
            self.emit(f"RANK_{way} {kind}")
            self.emit("CPOP 1 1")
            self.emit(f"PERMUTE {kind}")
        self.result(2, (kind, length))

    def pack(self):
        (kind, length), d = self.segmented()
        if not self.push_kind("BOOL", length):
            return
        self.emit("CPOP 1 1")
        self.emit(f"PACK {kind}")
        kept = self.token()
        self.result(3, (kind, kept), ("SEGDES", d[1], kept))

    def indexed(self):
        """v, d and an index vector for v on the stack: 0, 1, ... of each segment, reversed, all
        0 or (rarely) out of range. Returns v, d."""
        (kind, length), d = self.segmented()
        count = d[1]
        if not isinstance(count, int) or count > 12:
            raise Unsuitable
        stride = self.rng.choice([0, 0, 1, 1, -1]) if self.rng.random() < 0.97 else 2
        self.emit("COPY 1 0")
        self.emit("LENGTHS")
        ones = "1" if stride == -1 else "0"
        self.emit(f"CONST INT ({' '.join([ones] * count)})")
        self.emit("- INT" if stride == -1 else "* INT")
        self.emit(f"CONST INT ({' '.join([str(stride)] * count)})")
        self.emit("COPY 1 2")
        self.emit("INDEX")
        self.stack.append(("INT", length))
        return (kind, length), d

    def gather(self):
        (kind, length), _ = self.indexed()
        self.emit("CPOP 1 1")
        self.emit("COPY 1 0")
        self.emit(f"BPERMUTE {kind}")
        self.result(3, (kind, length))

    def scatter(self):
        """The permutations with flags or defaults."""
        (kind, length), d = self.indexed()
        op = self.rng.choice(["DPERMUTE", "FPERMUTE", "BFPERMUTE", "DFPERMUTE"])
        if op != "DPERMUTE":
            flags = " ".join(self.rng.choice("TF") for _ in range(d[1]))
            self.emit(f"CONST BOOL ({flags})")
            self.emit("COPY 1 2")
            self.emit("DIST BOOL")
        if op.startswith("D"):
            self.emit(f"COPY 1 {3 if op == 'DFPERMUTE' else 2}")
        self.emit(f"CPOP 1 {3 if op == 'DFPERMUTE' else 2}")
        self.emit("COPY 1 0")
        self.emit(f"{op} {kind}")
        self.result(3, (kind, length))

    def replace(self):
        """The first element of the only segment replaced; a fault if it is empty."""
        (kind, length), (_, count, total) = self.segmented()
        if count != 1 or total == 0:
            return
        self.emit("CONST INT 0")
        self.emit(f"CONST {kind} {self.literal(kind)}")
        self.emit("CPOP 1 2")
        self.emit(f"REPLACE {kind}")
        self.result(2, (kind, length))

    def expression(self):
        """An expression of elementwise operations under one descriptor, with distributed constants, shared
        results and divisors that may be zero, and a consumer of it."""
        (kind, length), d = self.segmented()
        self.emit("CPOP 1 1")  # the descriptor below the vector, while the expression is generated
        self.stack[-1], self.stack[-2] = self.stack[-2], self.stack[-1]
        for _ in range(self.rng.randint(1, 6)):
            self.expression_step(d)
        kind = self.stack[-1][0]
        if self.rng.random() < 0.3:
            self.emit("COPY 1 0")
            self.stack.append(self.stack[-1])
        above = 1 if self.stack[-2][0] == "SEGDES" else 2
        self.emit(f"COPY 1 {above}")
        self.stack.append(d)
        what = self.rng.random()
        if what < 0.35:
            self.emit(f"{self.rng.choice(COMBINE[kind])}_REDUCE {kind}")
            self.result(2, (kind, d[1]))
        elif what < 0.55:
            self.emit(f"{self.rng.choice(COMBINE[kind])}_SCAN {kind}")
            self.result(2, (kind, length))
        elif what < 0.8:
            self.emit(f"COPY 1 1\nLENGTH {kind}\nMAKE_SEGDES")
            self.emit(f"CONST BOOL {self.rng.choice('TF')}\nCPOP 1 1\nDIST BOOL\nCPOP 1 1")
            if kind == "INT" and self.rng.random() < 0.7:  # a flag that is computed
                self.emit("COPY 1 2\nI_TO_B\nCPOP 1 2\nXOR BOOL\nCPOP 1 1")
            self.emit(f"PACK {kind}")
            kept = self.token()
            self.result(2, (kind, kept), ("SEGDES", d[1], kept))
        else:
            self.emit("POP 1 0")
            self.stack.pop()

    def expression_step(self, d):
        """Changes the vector on top, whose length is the total of the descriptor below it."""
        kind, length = self.stack[-1]
        step = self.rng.random()
        if step < 0.35 and isinstance(d[1], int) and d[1] <= 12:
            self.constant(kind, d[1])
            self.emit(f"COPY 1 2\nDIST {kind}")
            self.stack.pop()
            op = self.rng.choice(BINARY[kind] + (["/", "/", "MOD"] if kind == "INT" else []))
            self.emit("%" if op == "MOD" else f"{op} {kind}")
        elif step < 0.55:
            self.emit(f"COPY 1 0\n{self.rng.choice(BINARY[kind])} {kind}")
        elif step < 0.7:
            word, out = self.rng.choice(UNARY[kind])
            self.emit(word)
            self.stack[-1] = (out, length)
        elif step < 0.8 and kind != "BOOL":
            self.emit(f"COPY 1 0\nCOPY 1 0\n+ {kind}\nCOPY 1 1\n{self.rng.choice(COMPARE)} {kind}"
                      f"\nCOPY 1 1\nCPOP 1 2\nSELECT {kind}")
        elif step < 0.9 and kind == "INT" and isinstance(d[1], int) and d[1] <= 12:
            # positions within the segments, a little beside them
            beside = self.rng.choice([0] * 9 + [1])
            self.emit(f"CONST INT ({' '.join([str(beside)] * d[1])})"
                      f"\nCONST INT ({' '.join(['1'] * d[1])})\nCOPY 1 3\nINDEX"
                      "\nCOPY 1 2\nCOPY 1 0\nBPERMUTE INT")
        else:
            found = self.vectors(lambda item: item == (kind, length))
            self.emit(f"COPY 1 {len(self.stack) - 1 - self.rng.choice(found)}"
                      f"\n{self.rng.choice(BINARY[kind])} {kind}")

    def last_elements(self):
        """One element of each segment, by an index that is computed; a fault where one is empty."""
        (kind, _), (_, count, total) = self.segmented()
        if not isinstance(count, int) or count > 12 or total == 0:
            return
        if count != 1 and self.rng.random() < 0.8:
            return
        self.emit(f"COPY 1 0\nLENGTHS\nCONST INT ({' '.join(['1'] * count)})\n- INT\nCPOP 1 1")
        self.emit(f"EXTRACT {kind}")
        self.result(2, (kind, count))

    def spread(self):
        found = [j for j, d in enumerate(self.stack)
                 if d[0] == "SEGDES" and isinstance(d[1], int) and d[1] <= 12]
        if not found:
            return
        j = self.rng.choice(found)
        _, count, total = self.stack[j]
        kind = self.rng.choice(["INT", "FLOAT", "BOOL"])
        if self.rng.random() < 0.5:
            self.constant(kind, count)
            self.emit(f"COPY 1 {len(self.stack) - 1 - j}")
            self.emit(f"DIST {kind}")
            self.result(1, (kind, total))
        else:
            self.constant("INT", count)
            self.constant("INT", count)
            self.emit(f"COPY 1 {len(self.stack) - 1 - j}")
            self.emit("INDEX")
            self.result(2, ("INT", total))

    def lengths(self):
        found = [j for j, d in enumerate(self.stack) if d[0] == "SEGDES"]
        if found:
            j = self.rng.choice(found)
            self.emit(f"COPY 1 {len(self.stack) - 1 - j}")
            self.emit("LENGTHS")
            self.stack.append(("INT", self.stack[j][1]))

    def extract(self):
        (kind, _), (_, count, total) = self.segmented()
        if not isinstance(count, int) or count > 12:
            return
        if (count != 1 or total == 0) and self.rng.random() < 0.9:
            return
        index = 1 if self.rng.random() < 0.05 else 0
        self.emit(f"CONST INT ({' '.join([str(index)] * count)})")
        self.emit("CPOP 1 1")
        self.emit(f"EXTRACT {kind}")
        self.result(2, (kind, count))

    def random_numbers(self):
        found = self.vectors(lambda item: item[0] == "INT")
        if not found:
            return
        i = self.rng.choice(found)
        length = self.stack[i][1]
        self.push(i)
        if not self.push_kind("INT", length):
            return
        self.emit("AND INT")
        self.emit("COPY 1 0")
        self.emit("LENGTH INT")
        self.emit("MAKE_SEGDES")
        self.emit("CONST INT 1023")
        self.emit("CPOP 1 1")
        self.emit("DIST INT")
        self.emit("AND INT")
        self.emit("COPY 1 0")
        self.emit("* INT")
        self.emit("COPY 1 0")
        self.emit("LENGTH INT")
        self.emit("MAKE_SEGDES")
        self.emit("CONST INT 1")
        self.emit("CPOP 1 1")
        self.emit("DIST INT")
        self.emit("+ INT")
        self.emit("RAND")
        self.result(2, ("INT", length))

    def pairing(self):
        if len(self.stack) - self.base >= 2 and self.rng.random() < 0.5:
            self.emit("PAIR")
            b, a = self.stack.pop(), self.stack.pop()
            self.stack.append(("PAIR", a, b))
        elif self.stack and len(self.stack) > self.base and self.stack[-1][0] == "PAIR":
            self.emit("UNPAIR")
            _, a, b = self.stack.pop()
            self.stack.extend([a, b])

    def shuffle(self):
        here = len(self.stack) - self.base
        if here < 1:
            return
        n = self.rng.randint(0, min(3, here))
        k = self.rng.randint(0, here - n)
        at = len(self.stack) - k - n
        block = self.stack[at:at + n]
        what = self.rng.choice(["COPY", "CPOP", "POP"] if here > 6 else ["COPY", "CPOP"])
        self.emit(f"{what} {n} {k}")
        if what != "COPY":
            del self.stack[at:at + n]
        if what != "POP":
            self.stack.extend(block)

    def write(self):
        i = self.pick()
        if self.rng.random() < 0.3:
            self.push(i)
            self.emit(f"WRITE {self.stack[-1][0]}")
            self.emit("POP 2 0")
            self.stack.pop()

    def call(self):
        """A new function on the items now on top, or one that only moves items."""
        here = len(self.stack) - self.base
        if here and self.rng.random() < 0.4:
            self.emit("CALL TWICE")
            self.stack.append(self.stack[-1])
            return
        if here >= 2 and self.rng.random() < 0.4:
            self.emit("CALL SWAP")
            self.stack[-1], self.stack[-2] = self.stack[-2], self.stack[-1]
            return
        if self.depth > 2 or len(self.functions) > 5:
            return
        taken = self.rng.randint(0, min(3, here))
        inner = self.nested(self.stack[len(self.stack) - taken:])
        inner.statements(self.rng.randint(2, 8))
        name = f"F{len(self.functions)}"
        self.adopt(inner)
        self.functions.append((name, inner.lines))
        self.emit(f"CALL {name}")
        del self.stack[len(self.stack) - taken:]
        self.stack.extend(inner.stack)

    def nested(self, stack):
        inner = Generator(self.rng)
        inner.stack, inner.base, inner.depth = list(stack), 0, self.depth + 1
        inner.names, inner.functions = self.names, self.functions
        return inner

    def adopt(self, inner):
        self.names = inner.names

    def loop(self):
        """A recursive function that changes an accumulator a few times."""
        i = self.pick()
        if len(self.functions) > 5:
            return
        kind, length = self.stack[i]
        name = f"LOOP{len(self.functions)}"
        step = ["COPY 1 0", f"{self.rng.choice(BINARY[kind])} {kind}"]
        if self.rng.random() < 0.3:
            step += ["COPY 1 0", f"{self.rng.choice(BINARY[kind])} {kind}"]
        self.functions.append((name, [
            "COPY 1 1", "CONST INT 0", "<= INT", "IF", "POP 1 1", "ELSE", *step,
            "CPOP 1 1", "CONST INT 1", "- INT", "CPOP 1 1", f"CALL {name}", "ENDIF"]))
        self.emit(f"CONST INT {self.rng.randint(0, 6)}")
        self.stack.append(("INT", 1))
        self.push(i)
        self.emit(f"CALL {name}")
        self.result(2, (kind, length))

    def branch(self):
        found = self.vectors(lambda item: item == ("BOOL", 1))
        if found:
            self.push(self.rng.choice(found))
        else:
            self.constant("BOOL", 1)
        self.stack.pop()
        self.emit("IF")
        kind = self.rng.choice(["INT", "FLOAT", "BOOL"])
        length = self.rng.choice([1, 1, 3])
        for arm in range(2):
            inner = self.nested(self.stack)
            inner.base = len(self.stack)
            inner.statements(self.rng.randint(0, 5))
            inner.push_kind(kind, length)
            extra = len(inner.stack) - 1 - len(self.stack)
            if extra:
                inner.emit(f"POP {extra} 1")
            self.adopt(inner)
            if arm == 1:
                self.emit("ELSE")
            if self.rng.random() < 0.05:
                inner.emit("EXIT")
            self.lines.extend(inner.lines)
        self.emit("ENDIF")
        self.stack.append((kind, length))

    def statements(self, count):
        actions = ([self.binary] * 6 + [self.unary] * 3 + [self.select] * 2 + [self.combine] * 4 +
                   [self.combination] * 3 + [self.combined_scatter] +
                   [self.expression] * 5 + [self.last_elements, self.rank, self.sort, self.pack, self.pack, self.gather, self.scatter,
                    self.scatter, self.replace, self.spread,
                    self.spread, self.lengths, self.extract, self.random_numbers, self.pairing,
                    self.shuffle, self.shuffle, self.write, self.call, self.loop, self.branch,
                    self.any_constant, self.any_constant, self.descriptor, self.descriptor])
        for _ in range(count):
            if len(self.lines) > 400:
                return
            with suppress(Unsuitable):
                self.rng.choice(actions)()

    def program(self):
        self.base, self.depth = 0, 0
        self.any_constant()
        self.descriptor()
        self.statements(self.rng.randint(5, 30))
        text = ["FUNC MAIN", *self.lines, "RET", "FUNC TWICE", "COPY 1 0", "RET",
                "FUNC SWAP", "CPOP 1 1", "RET"]
        for name, lines in self.functions:
            text += [f"FUNC {name}", *lines, "RET"]
        body = "\n".join(text) + "\n"
        return DEFINITIONS + body if "FUSED" in body else body


def make(seed, number):
    return Generator(random.Random(f"{seed}/{number}")).program()


def said(run, calls):
    """The outcome that has to agree: with `calls` everything; else standard error up to the first error
    only, without the position in an optimised file."""
    err = run.stderr.decode("latin-1")
    if not calls:
        lines = err.split("\n")
        for k, line in enumerate(lines):
            if ": error: " in line:
                lines[k:] = [re.sub(r" \(at [^()]*\)$", "", line)]
                break
        err = "\n".join(lines)
    return run.returncode, run.stdout, err


class Ways:
    """Runs programs all ways."""

    def __init__(self, vinterp, environment, ways):
        self.vinterp, self.environment, self.ways = vinterp, environment, ways
        self.fcodeopt = str(Path(vinterp).with_name("fcodeopt"))

    def run(self, *command):
        return subprocess.run(command, capture_output=True, timeout=SECONDS, check=False,
                              stdin=subprocess.DEVNULL, env=self.environment)

    def through_file(self, path, widths):
        """The run of what fcodeopt makes, or its own if it fails."""
        file = path.with_suffix(".fcode")
        run = self.run(self.fcodeopt, *widths, "--verify", str(path), "-o", str(file))
        if run.returncode == 0:
            run = self.run(self.vinterp, "--threads", "1", str(file))
        file.unlink(missing_ok=True)
        return run

    def results(self, path, widths):
        """Pairs of a way and its run."""
        for way in self.ways:
            yield way, self.run(self.vinterp, *widths, *way, str(path))
        yield ["fcodeopt"], self.through_file(path, widths)

    def differs(self, path, widths):
        """A description of the first disagreement, or None."""
        first = None
        try:
            for way, run in self.results(path, widths):
                if b", expected " in run.stderr or b" items on the stack" in run.stderr:
                    return f"an ill-typed program: {run.stderr[-300:]!r}"
                if run.returncode not in (0, 1):
                    return f"{way}: exit status {run.returncode}: {run.stderr[-300:]!r}"
                if first is None:
                    first = run
                calls = way[0] not in ("-O", "fcodeopt")
                got, want = said(run, calls), said(first, calls)
                if got != want:
                    return f"{way} against {self.ways[0]}: {got!r:.600} against {want!r:.600}"
        except subprocess.TimeoutExpired as late:
            return f"{late.cmd}: no end within {SECONDS} s"
        return None


def main():
    parser = argparse.ArgumentParser(description="random programs, run several ways")
    parser.add_argument("--vinterp", default=str(ROOT / "build" / "bin" / "vinterp-tests"))
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--count", type=int)
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--seed", default="ravel")
    parser.add_argument("--keep", help="folder to keep failing programs in")
    parser.add_argument("--native", action="store_true", help="also compile superoperators")
    parser.add_argument("--show", action="store_true", help="print the programs instead")
    options = parser.parse_args()
    if options.show:
        for number in range(options.first, options.first + (options.count or 1)):
            print(make(options.seed, number))
        return 0
    print(f"seed {options.seed}")
    started, wrong, done = time.time(), 0, 0
    with tempfile.TemporaryDirectory(prefix="ravel-") as scratch:
        ways = Ways(str(Path(options.vinterp).resolve()), {**os.environ, "XDG_CACHE_HOME": scratch},
                    WAYS + OPTIMISED + ([NATIVE] if options.native else []))

        def one(number):
            path = Path(scratch) / f"p{number}.vcode"
            path.write_text(make(options.seed, number))
            text = ways.differs(path, ["--classic"] if number % 2 else [])
            if text and options.keep:
                Path(options.keep).mkdir(parents=True, exist_ok=True)
                (Path(options.keep) / path.name).write_text(path.read_text())
            path.unlink()
            return number, text

        def more():
            number = options.first
            while (number - options.first < options.count if options.count is not None
                   else time.time() - started < options.seconds):
                yield number
                number += 1

        with ThreadPoolExecutor(2) as pool:
            numbers, batch = more(), True
            while batch:
                batch = [n for n, _ in zip(numbers, range(64))]
                for number, text in pool.map(one, batch):
                    done += 1
                    if text:
                        wrong += 1
                        print(f"FAILED program {number} (--seed {options.seed} --first {number}"
                              f" --count 1 --show): {text}", flush=True)
                if wrong >= 10:
                    break
    print(f"{done} programs in {time.time() - started:.0f} s")
    print(f"{done - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(1)
