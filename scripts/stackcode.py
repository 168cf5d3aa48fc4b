"""VCODE from names, for a program that a check makes."""


class Function:
    """Stack code from names: every value stays where it is and is copied to the top for use."""

    def __init__(self, name):
        self.lines, self.stack = [f"FUNC {name}"], []

    def get(self, *names):
        """Copies values to the top, where the next instruction finds them."""
        for pushed, name in enumerate(names):
            depth = list(reversed(self.stack)).index(name)
            self.lines.append(f"COPY 1 {depth + pushed}")

    def do(self, instruction, operands="", results="_"):
        self.get(*operands.split())
        self.lines.append(instruction)
        self.stack += results.split()

    def number(self, name, value):
        self.do(f"CONST INT {value}", "", name)

    def segments(self, name, length):
        """The descriptor of one segment."""
        self.number(f"{name}#", length)
        self.do("MAKE_SEGDES", f"{name}#", name)

    def spread(self, name, value, d):
        """An INT over the segments of d."""
        self.number(f"{name}#", value)
        self.do("DIST INT", f"{name}# {d}", name)

    def index(self, name, start, stride, d):
        self.number(f"{name}#s", start)
        self.number(f"{name}#t", stride)
        self.do("INDEX", f"{name}#s {name}#t {d}", name)

    def text(self, *results):
        """The function's code: leaves these values and drops the rest."""
        depth = len(self.stack)
        self.get(*results)
        return "\n".join([*self.lines, f"POP {depth} {len(results)}", "RET", ""])
