"""Plots of time against size, both logarithmic, as SVG that is readable on light and dark."""

from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 72, 190, 36, 52
# Of Okabe and Ito, told apart by the colour-blind too; (on light, on dark).
COLOURS = [("#0072b2", "#56b4e9"), ("#d55e00", "#ff9e4a"), ("#009e73", "#2fd0a5"),
           ("#a3528c", "#e58fc8"), ("#8a6d00", "#f0e442"), ("#5a5a5a", "#b5b5b5"),
           ("#7a3b00", "#d9a066"), ("#3b3ba3", "#9d9df5"),
           ("#00707a", "#5fd3dd"), ("#9b1c31", "#ff8fa0")]
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #1f2328; }
.title { font-size: 14px; font-weight: 600; }
.back { fill: #ffffff; }
.grid { stroke: #d0d7de; stroke-width: 1; }
.frame { fill: none; stroke: #6e7781; }
.limit { stroke: #6e7781; stroke-dasharray: 2 4; stroke-width: 2; fill: none; }
path { fill: none; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .back { fill: #0d1117; }
  .grid { stroke: #30363d; }
  .frame { stroke: #8b949e; }
  .limit { stroke: #8b949e; }
}
"""


def colour_rules(count):
    """Classes s0, s1 ...: strokes of lines, fills of marks and labels."""
    light, dark = [], []
    for k in range(count):
        for rules, colour in zip((light, dark), COLOURS[k % len(COLOURS)]):
            rules.append(f"path.s{k} {{ stroke: {colour}; }} .m{k} {{ fill: {colour}; }}")
    return "\n".join([*light, "@media (prefers-color-scheme: dark) {", *dark, "}", ""])


def ticks(low, high):
    """Powers of ten between the logarithms, and beside them 2 and 5 where there are few."""
    whole = [10.0 ** k for k in range(floor(low), ceil(high) + 1)]
    if high - low < 1.5:
        whole = sorted(f * t for t in whole for f in (1, 2, 5))
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
    """From values to places on a logarithmic axis, whose ends are `begin` and `end`."""

    def __init__(self, values, begin, end, margin):
        low, high = log10(min(values)), log10(max(values))
        if high - low < 0.3:
            low, high = low - 0.15, high + 0.15
        self.low, self.high = low - margin, high + margin
        self.begin, self.end = begin, end

    def __call__(self, value):
        part = (log10(value) - self.low) / (self.high - self.low)
        return round(self.begin + part * (self.end - self.begin), 1)

    def ticks(self):
        return ticks(self.low, self.high)


def spread_labels(places, gap=14):
    """Moves labels apart: places of the same order, at least `gap` from each other, inside."""
    order = sorted(range(len(places)), key=lambda k: places[k])
    result = list(places)
    for a, b in zip(order, order[1:]):
        result[b] = max(result[b], result[a] + gap)
    over = max((result[k] for k in order), default=0) - (HEIGHT - BOTTOM)
    if over > 0:
        result[order[-1]] -= over
        for a, b in zip(reversed(order[:-1]), reversed(order)):
            result[a] = min(result[a], result[b] - gap)
    return [round(r, 1) for r in result]


def plot(title, unit, series, limit):
    """SVG of lines. series: pairs of a label and [(n, seconds), ...]; limit: such a list, of what
    the hardware alone would take, or empty."""
    points = [p for _, line in series for p in line] + limit
    x = Scale([n for n, _ in points], LEFT, WIDTH - RIGHT, 0.05)
    y = Scale([t for _, t in points], HEIGHT - BOTTOM, TOP, 0.15)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'width="{WIDTH}" height="{HEIGHT}" role="img">',
           f"<title>{escape(title)}: time against {escape(unit)}</title>",
           f"<style>{STYLE}{colour_rules(len(series))}</style>",
           f'<rect class="back" width="{WIDTH}" height="{HEIGHT}"/>',
           f'<text class="title" x="{LEFT}" y="22">{escape(title)}</text>']
    for t in y.ticks():
        out.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(t)}" y2="{y(t)}"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(t) + 4:.1f}" text-anchor="end">'
                   f"{seconds_text(t)}</text>")
    for n in x.ticks():
        out.append(f'<line class="grid" x1="{x(n)}" x2="{x(n)}" y1="{TOP}" '
                   f'y2="{HEIGHT - BOTTOM}"/>')
        out.append(f'<text x="{x(n)}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
                   f"{count_text(n)}</text>")
    out.append(f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{WIDTH - RIGHT - LEFT}" '
               f'height="{HEIGHT - BOTTOM - TOP}"/>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 14}" '
               f'text-anchor="middle">{escape(unit)}</text>')

    def path(line):
        return "M" + " L".join(f"{x(n)} {y(t)}" for n, t in line)
    labels = [(label, y(line[-1][1]), f"m{k}") for k, (label, line) in enumerate(series)]
    if limit:
        out.append(f'<path class="limit" d="{path(limit)}"/>')
        labels.append(("limit of the hardware", y(limit[-1][1]), ""))
    for k, (_, line) in enumerate(series):
        out.append(f'<path class="s{k}" d="{path(line)}"/>')
        out += [f'<circle class="m{k}" cx="{x(n)}" cy="{y(t)}" r="3"/>' for n, t in line]
    for (label, _, kind), place in zip(labels, spread_labels([at for _, at, _ in labels])):
        out.append(f'<text class="{kind}" x="{WIDTH - RIGHT + 10}" y="{place + 4:.1f}">'
                   f"{escape(label)}</text>")
    return "\n".join(out + ["</svg>", ""])
