"""Plots of time against size, both logarithmic, as SVG that is readable on light and dark."""

from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 760, 420
LEFT, TOP, BOTTOM = 84, 36, 52
SIZE, TITLE_SIZE = 12, 14   # of letters
LETTER = 0.62               # of the size: what a letter of a wide font is wide
KEY = 34                    # before a label of the legend: a short line with its mark

# By system: colour on light and on dark, of Okabe and Ito, distinct for the colour-blind, too; width
# of the line, its dashes (none: -), shape of its marks. Ravel's is the strongest and is drawn last.
LOOKS = """
openmp         #d55e00  #ff9e4a  2    -        square
c              #8a6d00  #d9c04a  1.5  7,3      square
c++            #7a3b00  #d9a066  1.5  2,3      square
numpy          #009e73  #2fd0a5  1.5  9,3,2,3  triangle
scipy          #00707a  #5fd3dd  1.5  2,3      triangle
torch          #9b1c31  #ff8fa0  1.5  -        triangle
jax            #5a5a5a  #b5b5b5  1.5  -        triangle
cupy           #3b3ba3  #9d9df5  1.5  -        triangle
cuda           #1f2328  #e6edf3  2    -        square
cuda-library   #1f2328  #e6edf3  1.5  7,3      square
ravel-base     #a3528c  #e58fc8  1.5  2,3      circle
ravel-unfused  #a3528c  #e58fc8  1.5  7,3      circle
ravel-unshared #a3528c  #e58fc8  1.5  9,3,2,3  circle
ravel-native   #56a0d3  #9fd4f5  2    7,3      circle
ravel          #0072b2  #56b4e9  4    -        circle
"""
STYLES = {name: (light, dark, float(width), dashes.strip("-"), shape)
          for name, light, dark, width, dashes, shape in map(str.split, LOOKS.strip().split("\n"))}
ORDER = list(STYLES)   # of drawing
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328; }
.title { font-size: 14px; font-weight: 600; }
.strong { font-weight: 600; }
.back { fill: #ffffff; }
.grid { stroke: #d0d7de; stroke-width: 1; }
.frame { fill: none; stroke: #6e7781; }
.limit { stroke: #6e7781; stroke-dasharray: 2 4; stroke-width: 2; fill: none; }
path { fill: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .back { fill: #0d1117; }
  .grid { stroke: #30363d; }
  .frame { stroke: #8b949e; }
  .limit { stroke: #8b949e; }
}
"""


def css_name(system):
    return system.replace("+", "p")


def colour_rules(systems):
    """Classes of lines and of marks, by system."""
    light, dark = [], []
    for system in systems:
        *colours, width, dashes, _ = STYLES[system]
        for rules, colour in zip((light, dark), colours):
            rules.append(f"path.{css_name(system)} {{ stroke: {colour}; }} "
                         f".m-{css_name(system)} {{ fill: {colour}; }}")
        light.append(f"path.{css_name(system)} {{ stroke-width: {width:g}; "
                     f"stroke-dasharray: {dashes or 'none'}; }}")
    return "\n".join([*light, "@media (prefers-color-scheme: dark) {", *dark, "}", ""])


def mark(system, x, y):
    """What shows a measurement."""
    width, shape = STYLES[system][2], STYLES[system][4]
    r = 2.5 + width / 2
    name = f'class="m-{css_name(system)}"'
    if shape == "circle":
        return f'<circle {name} cx="{x}" cy="{y}" r="{r:g}"/>'
    if shape == "square":
        return f'<rect {name} x="{x - r:.1f}" y="{y - r:.1f}" width="{2 * r:g}" height="{2 * r:g}"/>'
    return (f'<polygon {name} points="{x - r:.1f},{y + r:.1f} {x + r:.1f},{y + r:.1f} '
            f'{x:.1f},{y - r:.1f}"/>')


def text_width(text, size=SIZE):
    return LETTER * size * len(text)


NEAR = 0.4   # as logarithms


def ticks(low, high):
    """Powers of ten between the logarithms; where there are few, beside them 2 and 5, or all
    numbers of two digits below 20 and of one digit above."""
    whole = [10.0 ** k for k in range(floor(low), ceil(high) + 1)]
    if high - low < 1.5:
        near = [*range(10, 20), *range(20, 100, 10)] if high - low < NEAR else (10, 20, 50)
        whole = sorted(f * t / 10 for t in whole for f in near)
    return [t for t in whole if low - 1e-9 <= log10(t) <= high + 1e-9]


def seconds_text(t):
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if t >= size * 0.999:
            return f"{t / size:g} {unit}"
    return f"{t / 1e-9:g} ns"


def count_text(n):
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if n >= size * 0.999:
            return f"{n / size:g}{unit}"
    return f"{n:g}"


class Scale:
    """From values to positions on a logarithmic axis, whose ends are `begin` and `end`."""

    def __init__(self, values, begin, end, margin):
        low, high = log10(min(values)), log10(max(values))
        if high - low < 0.1:
            low, high = low - 0.05, high + 0.05
        self.low, self.high = low - margin, high + margin
        self.begin, self.end = begin, end

    def __call__(self, value):
        part = (log10(value) - self.low) / (self.high - self.low)
        return round(self.begin + part * (self.end - self.begin), 1)

    def ticks(self):
        return ticks(self.low, self.high)


def spread_labels(heights, gap=15):
    """Moves labels apart: heights of the same order, at least `gap` from each other, inside."""
    order = sorted(range(len(heights)), key=lambda k: heights[k])
    result = list(heights)
    for a, b in zip(order, order[1:]):
        result[b] = max(result[b], result[a] + gap)
    over = max((result[k] for k in order), default=0) - (HEIGHT - BOTTOM)
    if over > 0:
        result[order[-1]] -= over
        for a, b in zip(reversed(order[:-1]), reversed(order)):
            result[a] = min(result[a], result[b] - gap)
    return [round(r, 1) for r in result]


LIMIT = "limit of the hardware"


def axes(x, y, right, unit):
    """Grid, numbers and names."""
    low, middle = HEIGHT - BOTTOM, (TOP + HEIGHT - BOTTOM) / 2
    for t in y.ticks():
        yield f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y(t)}" y2="{y(t)}"/>'
        yield (f'<text x="{LEFT - 8}" y="{y(t) + 4:.1f}" text-anchor="end">'
               f"{seconds_text(t)}</text>")
    for n in x.ticks():
        yield f'<line class="grid" x1="{x(n)}" x2="{x(n)}" y1="{TOP}" y2="{low}"/>'
        yield f'<text x="{x(n)}" y="{low + 18}" text-anchor="middle">{count_text(n)}</text>'
    yield (f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{right - LEFT:.1f}" '
           f'height="{low - TOP}"/>')
    yield (f'<text x="{(LEFT + right) / 2:.1f}" y="{HEIGHT - 14}" '
           f'text-anchor="middle">{escape(unit)}</text>')
    yield (f'<text transform="translate(18 {middle:g}) rotate(-90)" text-anchor="middle">'
           "time of one run</text>")


def path(name, points):
    return f'<path class="{name}" d="M' + " L".join(f"{x} {y}" for x, y in points) + '"/>'


def plot(title, unit, series, limit):
    """SVG of lines. series: of each system its name, as in STYLES, its label, and
    [(n, seconds), ...]; limit: such a list, of what the hardware alone would take, or empty."""
    series = sorted(series, key=lambda s: ORDER.index(s[0]))
    labels = [label for _, label, _ in series] + ([LIMIT] if limit else [])
    right = WIDTH - 20 - KEY - max(map(text_width, labels))
    points = [p for *_, line in series for p in line] + limit
    x = Scale([n for n, _ in points], LEFT, right, 0.05)
    y = Scale([t for _, t in points], HEIGHT - BOTTOM, TOP, 0.15)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'width="{WIDTH}" height="{HEIGHT}" role="img">',
           f"<title>{escape(title)}: time against {escape(unit)}</title>",
           f"<style>{STYLE}{colour_rules([s for s, *_ in series])}</style>",
           f'<rect class="back" width="{WIDTH}" height="{HEIGHT}"/>',
           f'<text class="title" x="{LEFT}" y="22">{escape(title)}</text>',
           *axes(x, y, right, unit)]
    if limit:
        out.append(path("limit", [(x(n), y(t)) for n, t in limit]))
    for system, _, line in series:
        out.append(path(css_name(system), [(x(n), y(t)) for n, t in line]))
        out += [mark(system, x(n), y(t)) for n, t in line]
    ends = [y(line[-1][1]) for *_, line in series] + ([y(limit[-1][1])] if limit else [])
    out += legend([s for s, *_ in series] + ([None] if limit else []), labels,
                  spread_labels(ends), right + 12)
    return "\n".join(out + ["</svg>", ""])


def legend(systems, labels, heights, x):
    """Beside the end of each line: a short line with its mark, and its label."""
    for system, label, y in zip(systems, labels, heights):
        yield path(css_name(system) if system else "limit", [(x, y), (x + KEY - 8, y)])
        if system:
            yield mark(system, x + (KEY - 8) / 2, y)
        strong = ' class="strong"' if system == "ravel" else ""
        yield f'<text{strong} x="{x + KEY:.1f}" y="{y + 4:.1f}">{escape(label)}</text>'
