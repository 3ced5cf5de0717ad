"""check.py - checks of the tests of the Python client."""

import sys

counts = {"passed": 0, "failed": 0}


def check(what, expected, actual):
    if expected == actual:
        counts["passed"] += 1
        return
    counts["failed"] += 1
    print("FAIL %s\n     expected: %r\n     actual:   %r" % (what, expected, actual),
          file=sys.stderr)


def fails(what, function, *args, **named):
    """The error that the function must raise."""
    try:
        value = function(*args, **named)
    except Exception as error:  # Which one it is, the caller checks.
        counts["passed"] += 1
        return error
    check(what, "an error", value)
    return AttributeError(what)


def done():
    print("%(passed)d passed, %(failed)d failed" % counts)
    sys.exit(1 if counts["failed"] else 0)
