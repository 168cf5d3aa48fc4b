"""Random functions of the subset of ravel.function, as text, with arguments for them.

Each function ends: loops run over short ranges, recursion counts down. The types of an
expression: int, float, bool, str, lists [T], tuples (T, ...); and real, a float that CPython
may round differently (sums, powers, functions of math), which decides nothing: it is only
computed with and returned.
"""

from function_forms import FORMS, LOOPS

NAMES = {
    "int": "n",
    "float": "x",
    "bool": "b",
    "str": "s",
    "real": "r",
    "[int]": "v",
    "[float]": "w",
    "[[int]]": "vs",
    "(int, float)": "t",
    "[(int, float)]": "ts"
}
TYPES = list(NAMES)
COMPARED = ("int", "float", "[int]", "str", "(int, float)", "[float]")


class Program:
    """One function: `text` defines it as `f`, and `arguments()` makes arguments."""

    def __init__(self, random):
        self.random = random
        self.lines = []
        self.indent = 1
        self.count = 0
        self.loops = 0  # that the statement is in
        self.parameters = [(self.name(type_), type_) for type_ in random.choices(TYPES, k=3)
                           if type_ != "real"] or [("n0", "int")]
        self.result = random.choice(TYPES)
        self.text = self.define()

    def name(self, type_):
        self.count += 1
        return f"{NAMES[type_]}{self.count}"

    def define(self):
        scope = list(self.parameters)
        self.recursive = self.random.random() < 0.3
        if self.recursive:
            scope.append(("depth", "int"))
            base = self.expression(self.result, self.parameters, 2)
            self.line(f"if depth <= 0: return {base}")
        for _ in range(self.random.randint(1, 5)):
            self.statement(scope)
        self.line(f"return {self.expression(self.result, scope, 3)}")
        names = [name for name, _ in self.parameters] + ["depth"] * self.recursive
        return f"def f({', '.join(names)}):\n" + "\n".join(self.lines) + "\n"

    def line(self, text):
        self.lines.append("    " * self.indent + text)

    # ---- statements ----

    def statement(self, scope):
        kinds = [self.assign] * 4 + [
            self.augment, self.swap, self.branch, self.branch, self.inner, self.unpack,
            self.apply
        ]
        if self.indent < 3:
            kinds += [self.count_loop, self.list_loop, self.while_loop]
        self.random.choice(kinds)(scope)

    def assign(self, scope):
        type_ = self.random.choice(TYPES)
        known = [name for name, other in scope if other == type_ and name != "depth"
                 and name not in self.counters(scope)]
        name = self.random.choice(known) if known and self.random.random() < 0.5 else self.name(
            type_)
        self.line(f"{name} = {self.expression(type_, scope, 3)}")
        if (name, type_) not in scope:
            scope.append((name, type_))

    def counters(self, scope):
        return [name for name, _ in scope if name.startswith("k")]

    def augment(self, scope):
        found = [each for each in scope if each[1] in ("int", "float", "real", "str")
                 and each[0] != "depth" and each[0] not in self.counters(scope)]
        if not found:
            return self.assign(scope)
        name, type_ = self.random.choice(found)
        operator = "+" if type_ == "str" else self.random.choice("+-*")
        if self.loops and operator != "-":
            operator = "+" if type_ != "str" else ""
        self.line(
            f"{name} {operator}= {self.expression(type_, scope, 2)}" if operator else "pass")

    def swap(self, scope):
        a, b = self.random.choice(TYPES), self.random.choice(TYPES)
        left, right = self.name(a), self.name(b)
        self.line(
            f"{left}, {right} = {self.expression(a, scope, 2)}, {self.expression(b, scope, 2)}")
        scope += [(left, a), (right, b)]

    def block(self, scope, last=None):
        """Statements in a block, which may end by leaving it."""
        self.indent += 1
        inside = list(scope)
        for _ in range(self.random.randint(1, 2)):
            self.statement(inside)
        leave = self.random.random()
        if leave < 0.15:
            self.line(f"return {self.expression(self.result, inside, 2)}")
        elif leave < 0.4 and self.loops:
            self.line(last or self.random.choice(["break", "continue"]))
        self.indent -= 1

    def branch(self, scope):
        self.line(f"if {self.expression('bool', scope, 2)}:")
        self.block(scope)
        if self.random.random() < 0.3:
            self.line(f"elif {self.expression('bool', scope, 2)}:")
            self.block(scope)
        if self.random.random() < 0.6:
            self.line("else:")
            self.block(scope)

    def loop(self, scope, head, *bound):
        self.line(head)
        self.loops += 1
        self.block([*scope, *bound])
        self.loops -= 1

    def count_loop(self, scope):
        self.count += 1
        span = self.random.choice(
            ["3", "1, 4", "5, 0, -2", f"len({self.expression('[int]', scope, 1)})"])
        self.loop(scope, f"for k{self.count} in range({span}):", (f"k{self.count}", "int"))

    def list_loop(self, scope):
        form, *types = self.random.choice(LOOPS)
        names = [self.name(type_) for type_ in types]
        head = self.fill(form, scope, 1)
        self.loop(scope, f"for {', '.join(names)} in {head}:", *zip(names, types))

    def while_loop(self, scope):
        self.count += 1
        name = f"k{self.count}"
        self.line(f"{name} = {self.random.randint(0, 4)}")
        self.line(f"while {name} > 0:")
        self.loops += 1
        self.indent += 1
        self.line(f"{name} -= 1")
        self.indent -= 1
        self.block([*scope, (name, "int")])
        self.loops -= 1

    def unpack(self, scope):
        """The elements of a list; or the items of a tuple."""
        if self.random.random() < 0.5:
            left, right = self.name("int"), self.name("float")
            self.line(f"{left}, {right} = {self.expression('(int, float)', scope, 2)}")
            scope += [(left, "int"), (right, "float")]
            return
        type_ = self.random.choice(["int", "str", "[int]"])
        names = [self.name(type_) for _ in range(2)]
        parts = [self.expression(type_, scope, 2) for _ in range(2)]
        self.line(f"{', '.join(names)} = [{', '.join(parts)}]")
        scope += [(name, type_) for name in names]

    def apply(self, scope):
        """A function as an argument of an inner one."""
        takes, gives = self.random.choice(TYPES[:3]), self.random.choice(TYPES)
        self.count += 1
        function, a = f"h{self.count}", self.name(takes)
        again = self.expression(takes, scope, 1)
        self.line(
            f"def {function}(g, x): return g(x) if {self.expression('bool', scope, 1)} else"
            f" g({again})")
        result = self.name(gives)
        body = self.expression(gives, [*scope, (a, takes)], 2)
        self.line(
            f"{result} = {function}(lambda {a}: {body}, {self.expression(takes, scope, 1)})")
        scope.append((result, gives))

    def inner(self, scope):
        """A function within, of two parameters and outer variables, and a call of it."""
        takes, gives = self.random.choice(TYPES[:3]), self.random.choice(TYPES)
        a = self.name(takes)
        self.count += 1
        function = f"g{self.count}"
        inside = [each for each in scope if self.random.random() < 0.7] + [(a, takes),
                                                                           ("m", "int")]
        body = self.expression(gives, inside, 3)
        if self.random.random() < 0.4:
            again = f"{function}({self.expression(takes, inside, 1)}, m - 1)"
            body = f"{body} if m <= 0 else {again}"
        self.line(f"def {function}({a}, m=2): return {body}")
        result = self.name(gives)
        self.line(f"{result} = {function}({self.expression(takes, scope, 2)})")
        scope += [(result, gives), (function, ("function", takes, gives))]

    # ---- expressions ----

    def expression(self, type_, scope, depth):
        known = [name for name, other in scope if other == type_]
        if known and self.random.random() < (0.9 if depth <= 0 else 0.3):
            return self.random.choice(known[-4:])
        if depth <= 0 or self.random.random() < 0.05:
            return self.literal(type_)
        if self.random.random() < 0.08:
            yes, no = (self.expression(type_, scope, depth - 1) for _ in range(2))
            return f"({yes} if {self.expression('bool', scope, 1)} else {no})"
        called = [each for each in scope if each[1][0] == "function" and each[1][2] == type_]
        if called and self.random.random() < 0.25:
            function, (_, takes, _) = self.random.choice(called)
            return f"{function}({self.expression(takes, scope, depth - 1)})"
        if type_ == self.result and self.random.random() < 0.1 and self.can_recurse(scope):
            rest = [self.expression(each, scope, 1) for _, each in self.parameters]
            return f"f({', '.join(rest)}, min(depth, 3) - 1)"
        form = self.random.choice(FORMS[type_])
        return self.fill(form, scope, depth - 1)

    def can_recurse(self, scope):
        return self.recursive and ("depth", "int") in scope and not self.loops

    def fill(self, form, scope, depth):
        """Replaces <type> by expressions; `_` in a form stands for a new variable of a type."""
        text, bound = "", []
        while "<" in form:
            before, rest = form.split("<", 1)
            type_, form = rest.split(">", 1)
            text += before
            if type_.startswith("="):  # a variable that is bound here
                name = self.name(type_[1:])
                bound.append((name, type_[1:]))
                text += name
            elif type_.startswith("."):  # one that has been bound
                text += next(name for name, other in bound if other == type_[1:])
            elif type_.startswith("!"):  # an expression that does not see them
                text += self.expression(type_[1:], scope, depth)
            elif type_ in ("lt", "le", "shl"):
                text += {"lt": "<", "le": "<=", "shl": "<<"}[type_]
            else:
                text += self.expression(type_, [*scope, *bound], depth)
        return text + form

    def literal(self, type_):
        """Floats are few bits long, so that most of what is computed of them is exact."""
        random = self.random
        if type_ == "int":
            return repr(random.choice([0, 1, 2, 3, -1, -2, 5, 7, 10, -13, 100, 2**31, 2**62]))
        if type_ in ("float", "real"):
            return repr(random.choice([0.0, 1.0, -1.0, 0.5, 2.5, -3.75, 10.125, 1e3, -0.25]))
        if type_ == "bool":
            return random.choice(["True", "False"])
        if type_ == "str":
            return repr(random.choice(["", "a", "ab", "Hello", "x y", 'q"\\']))
        if type_.startswith("("):
            return "(" + ", ".join(self.literal(each) for each in type_[1:-1].split(", ")) + ")"
        items = [self.literal(type_[1:-1]) for _ in range(random.randint(1, 4))]
        return f"[{', '.join(items)}]"

    def arguments(self):
        texts = [self.literal(type_) for _, type_ in self.parameters]
        found = [eval(text) for text in texts]  # pylint: disable=eval-used
        return found + [2] * self.recursive
