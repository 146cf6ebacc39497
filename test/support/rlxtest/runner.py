# SPDX-License-Identifier: MIT OR Apache-2.0
"""A small test runner: cases in processes of their own, plain last line.

A case is a function that takes a `Test` and makes any number of checks. A check
that fails does not stop its case; an exception or a crash counts as one failure
and does.
"""
import argparse
import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback

CASE_TIMEOUT_S = 600
# Of one case: a broken tool fails everything in the same way.
SHOWN_FAILURES, SHOWN_LETTERS = 12, 1500


class Skip(Exception):
    """Raised by a case that cannot run here; the text says why."""


class Test:
    def __init__(self, name, options):
        self.name, self.options = name, options
        self.passed, self.failures, self.notes = 0, [], []
        self.dir = tempfile.mkdtemp(prefix="rlx-test-")

    def check(self, ok, what, detail=""):
        if ok:
            self.passed += 1
        else:
            self.failures.append(f"{what}: {detail}" if detail else what)
        return bool(ok)

    def none(self, problem, what):
        """Passes if `problem` is None; otherwise it says what is wrong."""
        return self.check(problem is None, what, problem or "")

    def equal(self, actual, expected, what):
        return self.check(actual == expected, what, f"got {actual!r}, expected {expected!r}")

    def note(self, text):
        """A measured figure to print, whether or not anything fails."""
        self.notes.append(text)

    def sample(self, variants):
        """Of many similar variants those that --thin leaves."""
        return list(variants)[::self.options.thin]

    def path(self, name):
        return os.path.join(self.dir, name)


class Case:
    def __init__(self, name, function, covers, alone):
        self.name, self.function, self.covers, self.alone = name, function, covers, alone


CASES = []


def case(name, covers=(), alone=False):
    """`covers`: further words that -k finds. `alone`: measures time, so nothing
    else may run beside it."""
    def register(function):
        CASES.append(Case(name, function, tuple(covers), alone))
        return function
    return register


def run_case(chosen, options, connection):
    test = Test(chosen.name, options)
    skipped = None
    try:
        chosen.function(test)
    except Skip as reason:
        skipped = str(reason)
    except Exception:  # pylint: disable=broad-except
        test.failures.append("exception:\n" + traceback.format_exc().rstrip())
    finally:
        if not (options.keep and test.failures):
            shutil.rmtree(test.dir, ignore_errors=True)
        else:
            test.note(f"files kept in {test.dir}")
    connection.send((test.passed, test.failures, test.notes, skipped))
    connection.close()


class Totals:
    def __init__(self):
        self.passed = self.failed = 0

    def report(self, chosen, seconds, result):
        passed, failures, notes, skipped = result
        self.passed += passed
        self.failed += len(failures)
        state = f"skipped: {skipped}" if skipped is not None else \
            f"{passed} ok" + (f", {len(failures)} FAILED" if failures else "")
        print(f"{chosen.name}: {state} ({seconds:.1f} s)")
        for text in notes:
            print(f"    {text}")
        for text in failures[:SHOWN_FAILURES]:
            shown = text if len(text) < SHOWN_LETTERS else text[:SHOWN_LETTERS] + " ..."
            print("  FAIL " + shown.rstrip().replace("\n", "\n       "))
        if len(failures) > SHOWN_FAILURES:
            print(f"  and {len(failures) - SHOWN_FAILURES} more")
        sys.stdout.flush()


def run_batch(cases, options, jobs, totals):
    context = multiprocessing.get_context("fork")
    waiting, running = list(cases), []
    while waiting or running:
        while waiting and len(running) < jobs:
            chosen = waiting.pop(0)
            receive, send = context.Pipe(duplex=False)
            process = context.Process(target=run_case, args=(chosen, options, send))
            process.start()
            send.close()
            running.append((chosen, process, receive, time.monotonic()))
        multiprocessing.connection.wait([r for _, _, r, _ in running], timeout=1)
        for entry in list(running):
            chosen, process, receive, start = entry
            seconds = time.monotonic() - start
            if receive.poll():
                try:
                    result = receive.recv()
                except EOFError:
                    process.join()
                    code = process.exitcode
                    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit {code}"
                    result = (0, [f"the process of this case died by {how}"], [], None)
            elif seconds > CASE_TIMEOUT_S:
                process.kill()
                result = (0, [f"still running after {CASE_TIMEOUT_S} s"], [], None)
            else:
                continue
            process.join()
            receive.close()
            running.remove(entry)
            totals.report(chosen, seconds, result)


def has_sanitizers(build_dir):
    """Their programs start ten times as slowly."""
    try:
        with open(os.path.join(build_dir, "CMakeCache.txt")) as file:
            return any(re.match(r"RLX_SANITIZE:\w+=.", line) for line in file)
    except OSError:
        return False


def main(description, root):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build-dir", default=os.path.join(root, "build"),
                        help="where bin/rlx-bake and lib/ are (default: build)")
    parser.add_argument("-k", dest="filter", default="", metavar="TEXT",
                        help="only cases whose name or subject contains TEXT")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count(),
                        help="cases at a time (default: one per CPU)")
    parser.add_argument("--thin", type=int, metavar="N",
                        help="of many similar variants try every N-th (default: all of them, "
                        "with sanitizers every 5th)")
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    parser.add_argument("--keep", action="store_true", help="keep the files of failed cases")
    options = parser.parse_args()
    options.build_dir = os.path.abspath(options.build_dir)
    if options.thin is None:
        options.thin = 5 if has_sanitizers(options.build_dir) else 1
    chosen = [c for c in CASES
              if any(options.filter.lower() in word.lower() for word in (c.name,) + c.covers)]
    if options.list:
        for entry in chosen:
            print(entry.name, *entry.covers)
        return 0
    totals = Totals()
    run_batch([c for c in chosen if not c.alone], options, max(options.jobs, 1), totals)
    run_batch([c for c in chosen if c.alone], options, 1, totals)
    if totals.passed + totals.failed == 0:
        print(f"no check ran; is there a case with '{options.filter}' in its name?")
        totals.failed = 1
    print(f"{totals.passed} passed, {totals.failed} failed")
    return 1 if totals.failed else 0
