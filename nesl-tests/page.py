#!/usr/bin/env python3
"""Whether fcodeopt prints every line of the listings in docs/internals/optimiser.md, in order.

    nesl-tests/page.py [--fcodeopt PATH]

A listing that begins with ```after PASS has lines of --print-after, ```explain of --explain,
```fcode of the file written."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "examples/variance.vcode"


def output(fcodeopt, *flags):
    done = subprocess.run([fcodeopt, *flags, PROGRAM], cwd=ROOT, capture_output=True, text=True,
                          check=True)
    return done.stdout.splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fcodeopt", default=str(ROOT / "build" / "bin" / "fcodeopt"))
    options = parser.parse_args()
    page = (ROOT / "docs" / "internals" / "optimiser.md").read_text()
    listings = re.findall(r"^```(\S+) ?(\S*)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    failed = 0
    for kind, name, text in listings:
        flags = {"after": ["--print-after", name, "-o", "/dev/null"],
                 "explain": ["--explain", "-o", "/dev/null"], "fcode": ["-o", "-"]}[kind]
        printed = iter(output(options.fcodeopt, *flags))
        missing = [line for line in text.splitlines() if line not in printed]
        for line in missing[:1]:
            print(f"docs/internals/optimiser.md, {kind} {name}: not printed, or not in this order: {line}")
        failed += bool(missing)
    if not listings:
        sys.exit("docs/internals/optimiser.md has no listings")
    print(f"{len(listings) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
