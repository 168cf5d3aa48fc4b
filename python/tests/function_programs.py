"""Random functions of the subset of ravel.function, as text, with arguments for them.

Each function ends: loops run over short ranges, recursion counts down. The types of an expression:
int, float, bool, str, lists [T], tuples (T, ...); and real, a float that CPython may round differently
(sums, powers, functions of math), which decides nothing: it is only computed with and returned.
"""

NAMES = {"int": "n", "float": "x", "bool": "b", "str": "s", "real": "r", "[int]": "v", "[float]": "w",
         "[[int]]": "vs", "(int, float)": "t", "[(int, float)]": "ts"}
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
        kinds = [self.assign] * 4 + [self.augment, self.swap, self.branch, self.branch, self.inner,
                                     self.unpack, self.apply]
        if self.indent < 3:
            kinds += [self.count_loop, self.list_loop, self.while_loop]
        self.random.choice(kinds)(scope)

    def assign(self, scope):
        type_ = self.random.choice(TYPES)
        known = [name for name, other in scope if other == type_ and name != "depth"
                 and name not in self.counters(scope)]
        name = self.random.choice(known) if known and self.random.random() < 0.5 else self.name(type_)
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
        self.line(f"{name} {operator}= {self.expression(type_, scope, 2)}" if operator else "pass")

    def swap(self, scope):
        a, b = self.random.choice(TYPES), self.random.choice(TYPES)
        left, right = self.name(a), self.name(b)
        self.line(f"{left}, {right} = {self.expression(a, scope, 2)}, {self.expression(b, scope, 2)}")
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
        span = self.random.choice(["3", "1, 4", "5, 0, -2", f"len({self.expression('[int]', scope, 1)})"])
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
        self.line(f"def {function}(g, x): return g(x) if {self.expression('bool', scope, 1)} else"
                  f" g({again})")
        result = self.name(gives)
        body = self.expression(gives, [*scope, (a, takes)], 2)
        self.line(f"{result} = {function}(lambda {a}: {body}, {self.expression(takes, scope, 1)})")
        scope.append((result, gives))

    def inner(self, scope):
        """A function within, of two parameters and outer variables, and a call of it."""
        takes, gives = self.random.choice(TYPES[:3]), self.random.choice(TYPES)
        a = self.name(takes)
        self.count += 1
        function = f"g{self.count}"
        inside = [each for each in scope if self.random.random() < 0.7] + [(a, takes), ("m", "int")]
        body = self.expression(gives, inside, 3)
        if self.random.random() < 0.4:
            again = f"{function}({self.expression(takes, inside, 1)}, m - 1)"
            body = f"{body} if m <= 0 else {again}"
        self.line(f"def {function}({a}, m=2): return {body}")
        result = self.name(gives)
        self.line(f"{result} = {function}({self.expression(takes, scope, 2)})")
        scope.append((result, gives))

    # ---- expressions ----

    def expression(self, type_, scope, depth):
        known = [name for name, other in scope if other == type_]
        if known and self.random.random() < (0.9 if depth <= 0 else 0.3):
            return self.random.choice(known[-4:])
        if depth <= 0 or self.random.random() < 0.05:
            return self.literal(type_)
        if self.random.random() < 0.08:
            return (f"({self.expression(type_, scope, depth - 1)} if {self.expression('bool', scope, 1)}"
                    f" else {self.expression(type_, scope, depth - 1)})")
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
        found = [eval(self.literal(type_)) for _, type_ in self.parameters]  # pylint: disable=eval-used
        return found + [2] * self.recursive


# What a `for` runs over, and the types of its variables.
LOOPS = [
    ("<[int]>[:4]", "int"), ("<[float]>[:4]", "float"), ("<str>[:3]", "str"), ("<[[int]]>[-2:]", "[int]"),
    ("enumerate(<[float]>[:3])", "int", "float"), ("zip(<[int]>, <[float]>)", "int", "float"),
    ("<[(int, float)]>[:3]", "int", "float"), ("(<int>, <int>)", "int"), ("reversed(<[int]>[:3])", "int"),
]

FORMS = {
    "int": [
        "(<int> + <int>)", "(<int> - <int>)", "(<int> * <int>)", "(<int> // <int>)", "(<int> % <int>)",
        "(-<int>)", "abs(<int>)", "len(<[int]>)", "len(<str>)", "<[int]>[<int>]", "<[int]>[0]",
        "<[int]>[-1]", "sum(<[int]>)", "min(<[int]>)", "max(<[int]>, default=<int>)",
        "min(<int>, <int>, <int>)", "max(<int>, <int>)", "int(<float>)", "round(<float>)",
        "math.floor(<float>)", "math.ceil(<float>)", "<(int, float)>[0]", "(<bool> + <int>)",
        "(<int> & <int>)", "(<int> | <int>)", "(<int> ^ <int>)", "(~<int>)", "(<int> >> 2)",
        "(<int> <shl> 3)", "(<int> ** 2)", "(<int> or <int>)", "(<int> and <int>)", "ord(<str>)",
        "sum(<bool> for <=int> in <![int]>)", "divmod(<int>, <int>)[1]", "math.gcd(<int>, <int>)",
        "sum(<int> for <=int> in <![int]> if <bool>)", "math.prod(<[int]>)", "len(<[[int]]>)",
        "max(<[int]>, key=lambda <=int>: <int>)", "(<int> ** (<int> % 4))",
    ],
    "float": [
        "(<float> + <float>)", "(<float> - <float>)", "(<float> * <float>)", "(<float> / <float>)",
        "(<int> / <int>)", "(<float> // <float>)", "(<float> % <float>)", "(-<float>)", "abs(<float>)",
        "float(<int>)", "(<int> * <float>)", "(<float> - <int>)", "<[float]>[<int>]", "max(<[float]>)",
        "min(<float>, <float>)", "<(int, float)>[1]", "(<float> if <bool> else <int>)",
        "math.sqrt(abs(<float>))", "math.fabs(<float>)", "math.fmod(<float>, <float>)",
        "float(np.floor(<float>))",
    ],
    "real": [
        "(<real> + <real>)", "(<real> * <float>)", "sum(<[float]>)", "math.sin(<float>)",
        "math.exp(min(<float>, 20.0))", "math.log(abs(<float>) + 1.0)", "(abs(<float>) ** <float>)",
        "math.atan2(0.0 + <float>, 0.0 + <float>)", "math.hypot(<float>, <float>)", "float(np.tanh(<float>))",
        "(<float> ** 3)", "(<float> ** 2)", "math.log10(abs(<int>) + 1)",
    ],
    "bool": [
        "(<int> <lt> <int>)", "(<int> == <int>)", "(<int> != <int>)", "(<float> <le> <float>)",
        "(<float> > <int>)", "(not <bool>)", "(<bool> and <bool>)", "(<bool> or <bool>)",
        "(<int> <lt> <int> <le> <int>)", "(<int> in <[int]>)", "(<str> == <str>)", "(<str> <lt> <str>)",
        "(<[int]> == <[int]>)", "(<[int]> <lt> <[int]>)", "((<int>, <float>) <lt> <(int, float)>)",
        "bool(<[int]>)", "bool(<float>)", "any(<bool> for <=int> in <![int]>)", "(<str> in <str>)",
        "all([<int> > <int> for <=int> in <![int]>])", "(<bool> == <bool>)", "(<bool> <lt> <bool>)",
        "math.isfinite(<float>)", "(<int> not in (<int>, <int>))",
    ],
    "str": [
        "(<str> + <str>)", "str(<int>)", "<str>[<int>]", "<str>[<int>:<int>]", "<str>[::-1]",
        "(<str> * 2)", "str(<bool>)", "(<str> or <str>)", "chr(65 + <int> % 26)",
    ],
    "[int]": [
        "(<[int]> + <[int]>)", "<[int]>[<int>:]", "<[int]>[:<int>]", "<[int]>[<int>:<int>]",
        "<[int]>[::-1]", "<[int]>[<int>:<int>:2]", "<[int]>[::-2]", "(<[int]> * 2)", "sorted(<[int]>)",
        "sorted(<[int]>, key=lambda <=int>: <int>)", "sorted(<[int]>, reverse=True)",
        "list(reversed(<[int]>))", "list(range(<int> % 5))", "list(range(<int> % 7, 3))",
        "[<int> for <=int> in <![int]>]", "[<int> for <=int> in <![int]> if <bool>]", "<[[int]]>[<int>]",
        "[<int> for <=[int]> in <![[int]]> for <=int> in <.[int]>]", "[ord(<=str>) for <.str> in <!str>]",
        "[<int> for <=int>, <=float> in <![(int, float)]>]", "[len(<=[int]>) for <.[int]> in <![[int]]>]",
        "[<int> for <=int>, <=float> in zip(<![int]>, <![float]>)]", "list(map(abs, <[int]>))",
        "[<int> for <=int>, <=float> in enumerate(<![float]>)]", "[<int>, <int>]",
    ],
    "[float]": [
        "[<float> for <=float> in <![float]>]", "[<float> for <=int> in <![int]> if <bool>]",
        "sorted(<[float]>)", "(<[float]> + <[float]>)", "<[float]>[<int>:]", "[<float>, <int>]",
        "[<float> / 2 for <=float> in <![float]>]", "[<float> for <=int>, <=float> in <![(int, float)]>]",
    ],
    "[[int]]": [
        "[<[int]> for <=int> in <![int]>]", "(<[[int]]> + <[[int]]>)", "<[[int]]>[::-1]",
        "[<[int]> for <=[int]> in <![[int]]> if <bool>]", "[<[int]>, <[int]>]", "<[[int]]>[<int>:]",
    ],
    "(int, float)": [
        "(<int>, <float>)", "<[(int, float)]>[<int>]", "max(<[(int, float)]>)", "(<int>, <int> / 2)",
    ],
    "[(int, float)]": [
        "[(<int>, <float>) for <=int> in <![int]>]", "list(zip(<[int]>, <[float]>))",
        "sorted(<[(int, float)]>)", "list(enumerate(<[float]>))", "[<(int, float)>, <(int, float)>]",
        "[<(int, float)> for <=int>, <=float> in <![(int, float)]> if <bool>]",
    ],
}
