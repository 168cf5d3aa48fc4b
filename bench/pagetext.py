"""What the pages of results say of a machine, and how it was measured."""

import tables
from machine import commit_text


def limits_text(limits):
    rates = ", ".join(f"{rate / 1e9:.0f} GB/s in {size >> 20} MiB" for size, rate in limits["bandwidth"])
    return f"Measured on {limits['threads']} threads: streams {rates}."


def vectors_text(processor):
    found = processor.get("vectors")
    return f"vectors of {found['bytes']} bytes ({found['name']}), " if found else ""


def machine_text(outcome):
    m = outcome.machine
    caches = ", ".join(f"{k} {v}" for k, v in m["processor"]["caches"].items())
    limits = m.get("limits", {})
    lines = [f"Processor: {m['processor']['model']}, {m['processor']['cores']} cores ({caches}), "
             f"{vectors_text(m['processor'])}{tables.mebibytes(m['memory'])} MiB of memory."]
    if m.get("gpu"):
        lines.append(f"GPU: {m['gpu']['name']}, driver {m['gpu']['driver']}, {m['nvcc']}.")
    lines.append(f"{m['system']}; {m['compilers']['cc']}; Python {m['python']}, "
                 f"NumPy {m['numpy']}.")
    lines.append(f"Commit {commit_text(m, 12)}, {m['date']}; load of the machine before: {m['load']:.1f}.")
    if limits:
        lines.append(limits_text(limits))
    commands = [f"    {line}" for line in outcome.command.split("\n")]
    return ["\n".join(lines), "", *commands, ""]
