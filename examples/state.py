"""Write a fact, read it back and show an error, from Python with ctypes.

    python3 state.py agent.db        (LIBLOCI=/path/to/libloci.so if it is not on the default path)
"""

import ctypes
import json
import os
import sys


class LociError(Exception):
    pass


class Engine:
    def __init__(self, store):
        lib = ctypes.CDLL(os.environ.get("LIBLOCI", "libloci.so.0.1"))
        lib.loci_open_text.restype = ctypes.c_void_p
        lib.loci_open_text.argtypes = [
            ctypes.c_char_p,
            ctypes.c_char_p,
            ctypes.POINTER(ctypes.c_void_p),
        ]
        lib.loci_call_text.restype = ctypes.c_void_p
        lib.loci_call_text.argtypes = [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_char_p,
            ctypes.POINTER(ctypes.c_int),
        ]
        lib.loci_text_free.argtypes = [ctypes.c_void_p]
        lib.loci_close.argtypes = [ctypes.c_void_p]
        self._lib = lib
        error = ctypes.c_void_p()
        self._engine = lib.loci_open_text(store.encode(), None, ctypes.byref(error))
        if not self._engine:
            raise LociError(self._take(error)["error"]["message"])

    def _take(self, text):
        value = json.loads(ctypes.string_at(text))
        self._lib.loci_text_free(text)
        return value

    def call(self, operation, **args):
        ok = ctypes.c_int()
        text = self._lib.loci_call_text(
            self._engine, operation.encode(), json.dumps(args).encode(), ctypes.byref(ok)
        )
        answer = self._take(text)
        if not ok.value:
            raise LociError("{code}: {message}".format(**answer["error"]))
        return answer

    def close(self):
        self._lib.loci_close(self._engine)
        self._engine = None


engine = Engine(sys.argv[1] if len(sys.argv) > 1 else "agent.db")
engine.call("fact.write", key="city", value="Oslo")
print(json.dumps(engine.call("fact.current", key="city")))
try:
    engine.call("fact.write")
except LociError as error:
    print(error)
engine.close()
