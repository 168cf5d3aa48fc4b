"""What the pages of results say of a machine, and how it was measured."""

import tables
from machine import commit_text


def limits_text(limits):
    rates = ", ".join(f"{rate / 1e9:.0f} GB/s" + (f" in {size >> 20} MiB" if size < 1 << 40 else "")
                      for size, rate in limits["bandwidth"])
    parts = [f"streams {rates}"]
    for key, unit, words in (("gathers", 1e6, "million random gathers a second"),
                             ("scatters", 1e6, "million random scatters a second"),
                             ("flops", 1e9, "GFLOP/s"),
                             ("launch_seconds", 1e-6, "microseconds a launch")):
        if limits.get(key):
            parts.append(f"{tables.digits(limits[key] / unit)} {words}")
    where = f" on {limits['threads']} threads" if limits["threads"] else " of the device"
    return f"Measured{where}: " + "; ".join(parts) + "."


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
