"""What comes from outside while something runs: Ctrl-C, other threads, fork, the end."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import ravel as rv

LIMIT = 0.3  # seconds from Ctrl-C to the exception, on a machine that does nothing else
PATIENCE = 10  # times that, on one that does
LONG = {
    "elements": "{sum({sqrt(float(i * j)) : i in [0:100000]}) : j in [0:30000]}",
    "recursion": "again_(100000000)",
    "sorting": "sort(sort(sort(sort({rand(i) : i in [1:20000000]}))))",
}
AGAIN = ("function again_(n) = if n == 0 or sum({mod(i * n, 7) : i in [0:20000]}) < 0 then 0"
         " else again_(n - 1);")


def run_python(text):
    """The output of another Python that runs this, and its exit status."""
    path = [str(Path(rv.__file__).resolve().parent.parent), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", text], text=True,
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(path)),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    return done.stdout, done.returncode


class Interrupts(unittest.TestCase):
    def setUp(self):
        rv.define(AGAIN)
        # A shell that starts this in the background has it ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)

    def interrupted(self, expression, signum=signal.SIGINT):
        """Seconds from a signal to the exception that its handler raises."""
        sent = []

        def send():
            time.sleep(0.4)
            sent.append(time.monotonic())
            os.kill(os.getpid(), signum)
        thread = threading.Thread(target=send)
        thread.start()
        try:
            rv.eval(expression)
        finally:
            passed = time.monotonic() - sent[0] if sent else None
            thread.join()
        return passed

    def test_ctrl_c(self):
        for name, expression in LONG.items():
            with self.subTest(name):
                start = time.monotonic()
                with self.assertRaises(KeyboardInterrupt):
                    self.interrupted(expression)
                self.assertLess(time.monotonic() - start, 0.4 + LIMIT * PATIENCE)
                self.assertEqual(rv.eval("1 + 1"), 2)

    def test_the_handler_of_another_signal(self):
        def handler(*_):
            raise TimeoutError("late")
        before = signal.signal(signal.SIGALRM, handler)
        try:
            with self.assertRaisesRegex(TimeoutError, "late"):
                self.interrupted(LONG["elements"], signal.SIGALRM)
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_a_handler_that_goes_on(self):
        seen = []
        before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
            with rv.options(time=0.6), self.assertRaises(rv.LimitError):
                rv.eval(LONG["elements"])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.assertGreater(len(seen), 1)

    def test_a_call_within_a_call_is_refused(self):
        def handler(*_):
            rv.eval("1 + 1")
        before = signal.signal(signal.SIGALRM, handler)
        try:
            with self.assertRaisesRegex(rv.MisuseError, "within one of its own calls"):
                self.interrupted(LONG["elements"], signal.SIGALRM)
        finally:
            signal.signal(signal.SIGALRM, before)
        self.assertEqual(rv.eval("1 + 1"), 2)


class Threads(unittest.TestCase):
    def test_eight_share_a_context(self):
        failed = []

        def work(k):
            try:
                rows = rv.eval("{[0:n] : n in [0:k]}", k=k)
                for i in range(20):
                    self.assertEqual(rv.eval("{sum(r) : r in rows}", rows=rows)[-1],
                                     sum(range(k - 1)), i)
            except BaseException as error:  # pylint: disable=broad-except
                failed.append(error)
        threads = [threading.Thread(target=work, args=(k,)) for k in range(10, 18)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])

    def test_python_goes_on_during_a_call(self):
        counted = []

        def count():
            while not done:
                counted.append(1)
                time.sleep(0.001)
        done = []
        thread = threading.Thread(target=count)
        thread.start()
        with rv.options(time=0.5), self.assertRaises(rv.LimitError):
            rv.eval(LONG["elements"])
        done.append(1)
        thread.join()
        self.assertGreater(len(counted), 20)

    def test_an_array_of_one_thread_ends_in_another(self):
        made = [rv.eval("[0:1000]") for _ in range(100)]
        thread = threading.Thread(target=made.clear)
        thread.start()
        for i in range(100):
            self.assertEqual(rv.eval("i + 1", i=i), i + 1)
        thread.join()

    def test_options_are_those_of_a_thread(self):
        found = []
        with rv.options(float=32):
            thread = threading.Thread(target=lambda: found.append(rv.eval("[1.0]")))
            thread.start()
            thread.join()
        self.assertEqual(found[0].__array__().dtype.name, "float64")


class Ends(unittest.TestCase):
    def test_fork(self):
        said, status = run_python(
            "import os, sys, ravel as rv\n"
            "made = rv.eval('[1, 2]')\n"
            "if os.fork() == 0:\n"
            "    try: made.to_list()\n"
            "    except rv.MisuseError as error: print(error)\n"
            "    print(rv.eval('sum([1, 2])'), flush=True)\n"
            "    sys.exit(0)\n"
            "print(os.wait()[1], made.to_list())\n")
        first, *rest = said.splitlines()
        self.assertIn("make it anew in the child", first)
        self.assertEqual((rest, status), (["3", "0 [1, 2]"], 0))

    def test_the_end_of_the_interpreter(self):
        said, status = run_python(
            "import ravel as rv, threading, time, sys\n"
            f"rv.define({AGAIN!r})\n"
            "def forever():\n"
            "    try: rv.eval('again_(100000000)')\n"
            "    except rv.InterruptedCall: pass\n"
            "made = rv.eval('{[0:n] : n in [0:3]}')\n"
            "sys.keep = made, made[2], made.__arrow_c_array__(), made.__arrow_c_stream__()\n"
            "threading.Thread(target=forever, daemon=True).start()\n"
            "time.sleep(0.2)\n"
            "print('end')\n")
        self.assertEqual((said, status), ("end\n", 0))

    def test_contexts_are_closed_at_the_end(self):
        said, status = run_python(
            "import atexit\n"
            "atexit.register(lambda: print(context.usable))\n"
            "import ravel as rv\n"
            "made, context = rv.eval('[1, 2]'), rv._options.context()\n"
            "print(context.usable)\n")
        self.assertEqual((said, status), ("True\nFalse\n", 0))

    def test_close(self):
        said, status = run_python(
            "import ravel as rv\n"
            "kept, lost = rv.eval('[1]'), rv.eval('[2]')\n"
            "kept.to_list(); rv.close()\n"
            "print(kept.to_list(), repr(lost))\n"
            "try: lost.to_list()\n"
            "except rv.MisuseError as error: print(error)\n"
            "print(rv.eval('sum(kept)', kept=kept))\n")
        self.assertEqual((said.splitlines(), status),
                         (["[1] <ravel.Array of a context that is closed: [int]>",
                           "Ravel's context has been closed", "1"], 0))


if __name__ == "__main__":
    unittest.main()
