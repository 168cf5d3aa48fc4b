"""classic.py - finds what an interpreter of the 1990s refuses in a program, or crashes on.

VCODE as the specification defines it (sections 2, 3 and 11) with the limits of the reference
interpreter (10.1, 18) and without what Ravel adds: `refusals` reports the reasons for which such an interpreter would
fail. It is independent of Ravel's parser."""

import re

TOKEN = re.compile(r"""
    (?P<space>\s+) | (?P<comment>\{[^}]*\}) | (?P<string>"[^"]*") | (?P<bracket>[()])
  | (?P<word>[A-Za-z0-9+\-*/%<>=!._]+) | (?P<other>.)""", re.VERBOSE | re.DOTALL)
INTEGER = re.compile(r"[-+]?[0-9]+\Z")
REAL = re.compile(r"[-+]?[0-9]+\.[0-9]*([Ee][-+]?[0-9]+)?\Z")

LONGEST_NAME = 49
DEEPEST_IF = 50
MOST_MOVED = 100  # by one CPOP
LONGEST_STRING = 99
INT_LEAST, INT_GREATEST = -2**31, 2**31 - 1

TYPES = {"INT", "FLOAT", "BOOL", "SEGDES", "CHAR"}
STREAMS = {"STDIN", "STDOUT", "STDERR", "NULL_STREAM"}
# Section 3: which types an opcode may have; the others have none.
TYPED = {}
for names, kinds in (
        ("+ - * / < <= > >= = !=", "INT FLOAT"),
        ("+_SCAN *_SCAN MAX_SCAN MIN_SCAN +_REDUCE *_REDUCE MAX_REDUCE MIN_REDUCE RANK_UP RANK_DOWN",
         "INT FLOAT"),
        ("NOT AND OR XOR AND_SCAN OR_SCAN XOR_SCAN AND_REDUCE OR_REDUCE XOR_REDUCE", "INT BOOL"),
        ("SELECT PERMUTE DPERMUTE FPERMUTE BPERMUTE BFPERMUTE DFPERMUTE EXTRACT REPLACE DIST PACK"
         " LENGTH", "INT BOOL FLOAT"),
        ("READ WRITE FREAD FWRITE", "INT BOOL FLOAT SEGDES CHAR"),
        ("SRAND", "INT")):
    TYPED.update((name, set(kinds.split())) for name in names.split())
UNTYPED = set("""% LSHIFT RSHIFT RAND FLOOR CEIL TRUNC ROUND I_TO_F I_TO_B B_TO_I LOG SQRT EXP SIN COS
    TAN ASIN ACOS ATAN SINH COSH TANH INDEX MAKE_SEGDES LENGTHS PAIR UNPAIR EXIT START_TIMER
    STOP_TIMER FOPEN FCLOSE FREAD_CHAR SPAWN""".split())
MOVES = {"COPY", "POP", "CPOP"}
STRUCTURE = {"FUNC", "RET", "IF", "ELSE", "ENDIF", "CALL", "CONST"}
RESERVED = (set(TYPED) | UNTYPED | MOVES | STRUCTURE | TYPES | STREAMS | {"T", "F", "I", "O"})


class Refused(Exception):
    """The reason why a program is not taken."""


class Tokens:
    def __init__(self, text):
        self.list, self.at, line = [], 0, 1
        for match in TOKEN.finditer(text):
            if match.lastgroup == "other":
                raise Refused(f"line {line}: {match.group()!r} begins no token")
            if match.lastgroup not in ("space", "comment"):
                self.list.append((match.group(), line))
            line += match.group().count("\n")

    def look(self):
        return self.list[self.at][0] if self.at < len(self.list) else None

    def take(self):
        token = self.look()
        self.at += 1
        return token

    def refuse(self, why):
        line = self.list[min(self.at, len(self.list)) - 1][1] if self.list else 1
        raise Refused(f"line {line}: {why}")


def integer(tokens):
    word = tokens.take() or ""
    if not INTEGER.match(word):
        tokens.refuse(f"{word!r} is no integer")
    if not INT_LEAST <= int(word) <= INT_GREATEST:
        tokens.refuse(f"{word} has more than 32 bits")
    return int(word)


def name(tokens):
    word = tokens.take() or ""
    if word != "MAIN" and (word in RESERVED or INTEGER.match(word) or REAL.match(word)
                           or not re.match(r"[A-Za-z0-9+\-*/%<>=!._]+\Z", word)):
        tokens.refuse(f"{word!r} is no name")
    if len(word) > LONGEST_NAME:
        tokens.refuse(f"the name {word} has more than {LONGEST_NAME} characters")
    return word


def element(tokens, kind):
    if kind == "INT":
        return integer(tokens)
    word = tokens.take() or ""
    if kind == "FLOAT" and not REAL.match(word) or kind == "BOOL" and word not in ("T", "F"):
        tokens.refuse(f"{word!r} is no {kind}")
    return word


def constant(tokens):
    kind = tokens.take()
    first = tokens.look() or ""
    if kind == "CHAR":
        if not first.startswith('"'):
            tokens.refuse("CONST CHAR without a string")
        if len(first) - 2 > LONGEST_STRING:
            tokens.refuse(f"a string has more than {LONGEST_STRING} characters")
        tokens.take()
    elif kind == "SEGDES":
        if first == "(":  # 18, number 12
            tokens.refuse("CONST SEGDES takes one number only")
        if integer(tokens) < 0:
            tokens.refuse("a negative length")
    elif kind not in ("INT", "FLOAT", "BOOL"):
        tokens.refuse(f"CONST {kind}")
    elif kind == "INT" and first in STREAMS:
        tokens.take()
    elif first == "(":
        tokens.take()
        while tokens.look() not in (")", None):
            element(tokens, kind)
        if tokens.take() != ")":
            tokens.refuse("a vector without its end")
    else:
        element(tokens, kind)


def statement(tokens, word, nest, calls):
    if word == "IF":
        nest.append("IF")
        if len(nest) > DEEPEST_IF:
            tokens.refuse(f"more than {DEEPEST_IF} nested IFs")
    elif word == "ELSE":
        if not nest or nest[-1] == "ELSE":
            tokens.refuse("ELSE without an IF")
        nest[-1] = "ELSE"
    elif word == "ENDIF":
        if not nest:
            tokens.refuse("ENDIF without an IF")
        nest.pop()
    elif word == "CALL":
        calls.add(name(tokens))
    elif word == "CONST":
        constant(tokens)
    elif word in MOVES:
        count, depth = integer(tokens), integer(tokens)
        if count < 0 or depth < 0:
            tokens.refuse(f"{word} {count} {depth}")
        if word == "CPOP" and count > MOST_MOVED:
            tokens.refuse(f"CPOP of more than {MOST_MOVED} items")
    elif word in TYPED:
        kind = tokens.take()
        if kind not in TYPED[word]:
            tokens.refuse(f"{word} {kind}")
    elif word not in UNTYPED:
        tokens.refuse(f"{word!r} is no instruction")


def function(tokens, calls):
    """The name of the function that begins here."""
    if tokens.take() != "FUNC":
        tokens.refuse("FUNC is expected")
    its_name, nest = name(tokens), []
    for word in ("I", "O"):
        if tokens.look() == word:
            tokens.take()
            while tokens.look() in TYPES:
                tokens.take()
    while (word := tokens.take()) != "RET":
        if word is None:
            tokens.refuse(f"{its_name} has no RET")
        statement(tokens, word, nest, calls)
    if nest:
        tokens.refuse("an IF is open at RET")
    return its_name


def refusal(text):
    """Why a program is refused, or None: the first reason, with its line."""
    try:
        tokens, names, calls = Tokens(text), [], set()
        while tokens.look() is not None:
            names.append(function(tokens, calls))
        if not names:
            tokens.refuse("there is no function")
        if len(set(names)) < len(names):
            tokens.refuse("a function is defined twice")
        if calls - set(names):
            tokens.refuse(f"{(calls - set(names)).pop()} is not defined")
    except Refused as reason:
        return str(reason)
    return None
