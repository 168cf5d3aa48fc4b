"""What threads do while a program is executed, drawn from a trace of `vinterp`.

    neslc -e EXPRESSION -o PROGRAM.vcode PROGRAM.nesl
    vinterp -O --native=wait --threads 2 --trace TRACE.json PROGRAM.vcode
    bench/report time-line TRACE.json --title TITLE [--last MS]    writes docs/time-line.svg

Instructions that are executed for all elements together are drawn over all threads, since these share them.
Instances that native code executes are drawn for the thread that does.
"""

import argparse
import html
import json
from pathlib import Path

from collection import ROOT, BenchError

WIDTH, LEFT, RIGHT, LANE, GAP, TOP = 880, 70, 40, 54, 8, 64
LEAST = 0.3  # a narrower bar is drawn so wide
KINDS = {"together": ("together, by all threads", "#5b8db8"), "instances": ("one instance after the other", "#e08a3c"),
         "part of an instance": ("a part of one, given away", "#f3c58b")}
STYLE = "text { font: 13px sans-serif; fill: #333 } .title { font-size: 15px } .lane { fill: #f2f2f2 }"


def bars(events):
    """(kind, thread, begin, end) of what is drawn, in milliseconds; a call of native code is what its threads
    did."""
    for e in events:
        if e["ph"] != "X" or e["cat"] == "procedure":
            continue
        kind = e["cat"] if e["cat"] in KINDS else "together"
        yield kind, e["tid"] - 1, e["ts"] / 1e3, (e["ts"] + e["dur"]) / 1e3


def joined(found, least):
    """Neighbours of one kind are one bar where the gap between them would not be seen."""
    done = []
    for kind, thread, begin, end in sorted(found, key=lambda b: (b[0], b[1], b[2])):
        if done and done[-1][:2] == [kind, thread] and begin - done[-1][3] < least:
            done[-1][3] = max(end, done[-1][3])
        else:
            done.append([kind, thread, begin, end])
    return done


def step_of(span):
    """The distance of the marks of an axis: 1, 2 or 5 times a power of ten, at most ten of them."""
    power = 10.0 ** (len(str(int(span))) - 2)
    return next(power * k for k in (1, 2, 5, 10) if span <= 10 * power * k)


def drawing(events, title, last):
    found = list(bars(events))
    if not found:
        raise BenchError("nothing was executed in this trace")
    end = max(b[3] for b in found)
    begin = max(0.0, end - last) if last else min(b[2] for b in found)
    scale = (WIDTH - LEFT - RIGHT) / (end - begin)
    threads = 1 + max(b[1] for b in found)
    height = TOP + threads * (LANE + GAP) + 40
    out = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}'>", f"<style>{STYLE}</style>",
           f"<text class='title' x='{LEFT}' y='20'>{html.escape(title)}</text>"]
    for k, (name, colour) in enumerate(KINDS.values()):
        out.append(f"<rect x='{LEFT + 245 * k}' y='32' width='14' height='14' fill='{colour}'/>"
                   f"<text x='{LEFT + 245 * k + 20}' y='44'>{name}</text>")
    for k in range(threads):
        y = TOP + k * (LANE + GAP)
        out.append(f"<rect class='lane' x='{LEFT}' y='{y}' width='{WIDTH - LEFT - RIGHT}' height='{LANE}'/>"
                   f"<text x='4' y='{y + LANE // 2 + 5}'>thread {k + 1}</text>")
    for kind, thread, a, b in joined([f for f in found if f[3] > begin], 0.2 / scale):
        a = max(a, begin)
        lanes = range(threads) if kind == "together" else [thread]
        x, width = LEFT + (a - begin) * scale, max((b - a) * scale, LEAST)
        out += [f"<rect x='{x:.1f}' y='{TOP + lane * (LANE + GAP)}' width='{width:.1f}' height='{LANE}' "
                f"fill='{KINDS[kind][1]}'/>" for lane in lanes]
    step, bottom = step_of(end - begin), TOP + threads * (LANE + GAP)
    for k in range(int((end - begin) / step) + 1):
        out.append(f"<text text-anchor='middle' x='{LEFT + k * step * scale:.1f}' y='{bottom + 18}'>{k * step:g} ms</text>")
    return "\n".join(out) + "\n</svg>\n"


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--title", required=True)
    parser.add_argument("--last", type=float, default=0, metavar="MS", help="only the last milliseconds (default: all)")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/time-line.svg")
    options = parser.parse_args(words)
    options.out.write_text(drawing(json.loads(options.trace.read_text()), options.title, options.last))
    return 0
