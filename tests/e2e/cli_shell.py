#!/usr/bin/python3
"""`loci shell` on a terminal: keys go in, what the terminal gets comes out.

    cli_shell.py LOCI DIRECTORY     prints "N passed, M failed"; the exit code says the same
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

LOCI, PLACE = sys.argv[1], sys.argv[2]
STORE = PLACE + "/shell.db"
HISTORY = PLACE + "/state/loci/shell_history"
PROMPT = "loci> "
LEFT, RIGHT, UP, DOWN = "\033[D", "\033[C", "\033[A", "\033[B"
HOME, END, DELETE, WORD_LEFT = "\033[H", "\033[F", "\033[3~", "\033b"
passed = failed = 0


def check(name, is_good, *facts):
    global passed, failed
    if is_good:
        passed += 1
    else:
        failed += 1
        print("FAIL", name, *("\n     " + repr(fact) for fact in facts), file=sys.stderr)


class Shell:
    def __init__(self, *arguments, term="xterm", columns=80):
        environment = dict(os.environ, TERM=term, XDG_STATE_HOME=PLACE + "/state", NO_COLOR="1")
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execve(LOCI, [LOCI, "shell", *arguments], environment)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.text = ""
        self.wait_for(PROMPT)

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return False
            self.text += data.decode("utf-8", "replace")
            return True
        return False

    def wait_for(self, part, seconds=10):
        """Until `part` arrived after what was seen last; that text, or "" if it never did."""
        end = time.monotonic() + seconds
        while part not in self.text and time.monotonic() < end:
            self.read(0.1)
        at = self.text.find(part)
        seen = self.text[:at + len(part)] if at >= 0 else ""
        self.text = self.text[len(seen):]
        return seen

    def type(self, keys):
        os.write(self.master, keys.encode())

    def run(self, keys):
        """Types a line; what was printed before the next prompt, without the line itself."""
        self.type(keys + "\r")
        self.wait_for("\033[?2004l")
        return self.wait_for("\033[?2004h").replace("\r\n", "\n").replace("\033[?2004h", "")

    def end(self):
        """The exit code; the terminal is closed."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.master)
                return os.waitstatus_to_exitcode(status)
            self.read(0.05)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None


def value_of(shell, key):
    return shell.run("fact current " + key).strip()


s = Shell("--store", STORE, "--create")
check("a write", "created" in s.run("fact write city Oslo"))
check("a read", value_of(s, "city") == "Oslo")
check("with the name of the program", s.run("loci fact current city").strip() == "Oslo")
check("an error, and it goes on", 'no fact "nowhere"' in s.run("fact current nowhere"))
check("wrong usage, and it goes on", "did you mean" in s.run("fact curent city"))
check("an open quote", "a quote is not closed" in s.run("fact write a 'b"))
check("quotes", "created" in s.run("""fact write quoted "it's \\"so\\"" """))
check("and what they mean", value_of(s, "quoted") == "it's \"so\"")
check("help", "Remember and recall" in s.run("help"))
check("a shell in a shell", "already" in s.run("shell"))

# Editing.
check("the ends of a line", s.run("act current cityX\001f\005\177").strip() == "Oslo")
check("arrows and Delete",
      s.run("fact currXent city" + LEFT * 9 + DELETE).strip() == "Oslo", s.text)
check("Home and End", s.run("act current cit" + HOME + "f" + END + "y").strip() == "Oslo")
check("words", s.run("fact write city" + WORD_LEFT * 2 + "\013current city").strip() == "Oslo")
check("kill and yank", s.run("city\025fact current \031").strip() == "Oslo")
check("Ctrl-W", s.run("fact current nothing\027city").strip() == "Oslo")
s.run("fact write wide 世界Zoé" + LEFT * 3 + "\177")
check("wide characters", value_of(s, "wide") == "世Zoé", value_of(s, "wide"))
s.run("fact write marks abe\u0308x" + LEFT + "\177")
check("a mark goes with its letter", value_of(s, "marks") == "abx")
s.run("fact write long " + "0123456789" * 40 + HOME + END + "!")
check("a line wider than the terminal", value_of(s, "long") == "0123456789" * 40 + "!")
s.type("\033[200~fact write pasted one\nfact write pasted two\n\033[201~")
s.wait_for("two")
s.type("\003")
s.wait_for("\033[?2004h")
check("pasted text does not run by itself", 'no fact "pasted"' in s.run("fact current pasted"))
seen = s.run("\033[200~fact current a\nb\033[201~")
check("its line breaks are spaces", "unexpected" in seen, seen)
check("keys that are not known do nothing",
      s.run("fact \033[99~\033[1;9Pcurrent \007city").strip() == "Oslo")

# History.
s.run("fact current city")
check("Up", s.run(UP).strip() == "Oslo")
s.run("fact current quoted")
check("Up and Down", s.run(UP + UP + DOWN).strip() == "it's \"so\"")
check("the line that was begun comes back",
      s.run("fact current city" + UP + DOWN).strip() == "Oslo")
secret = "loci_" + "a1B2c3D4e5" * 7
s.run("fact write token " + secret)
s.run(" fact write hidden 1")
with open(HISTORY, encoding="utf-8") as f:
    lines = f.read().split("\n")
check("the history is a file", "fact write city Oslo" in lines, lines[:5])
check("only for its owner", os.stat(HISTORY).st_mode & 0o777 == 0o600)
check("without secrets", not any(secret in line for line in lines))
check("nor lines that begin with a space", not any("hidden" in line for line in lines))

# Completion.
check("a verb", s.run("fact curr\tcity").strip() == "Oslo")
check("a noun", s.run("fac\tcurrent city").strip() == "Oslo")
check("a key", s.run("fact current ci\t").strip() == "Oslo")
check("a key that needs quotes", "created" in s.run("fact write 'two words' 2") and
      s.run("fact current two\t").strip() == "2")
check("an option", s.run("fact current city --verb\t").count("Oslo") == 1)
check("a value of a list", '"jobs":[]' in s.run("job list --status canc\t--json"))
s.type("fact \t")
seen = s.wait_for("observe") + s.wait_for(PROMPT)
check("several: a list", "current" in seen and "history" in seen, seen)
check("and the line is still there", s.run("current city").strip() == "Oslo")
s.type("con\t")
check("what they have in common", "con" in s.wait_for("con"))
s.type("\003")
s.wait_for("\033[?2004h")

# Ctrl-C and Ctrl-D.
s.type("fact write never this")
s.wait_for("this")
s.type("\003")
check("Ctrl-C cancels the line", "^C" in s.wait_for("\033[?2004h"))
check("which was not run", 'no fact "never"' in s.run("fact current never"))
s.type("events -f --after 0\r")
check("a command that goes on", bool(s.wait_for("fact.written")))
s.type("\003")
check("Ctrl-C cancels the running command", bool(s.wait_for("\033[?2004h")))
check("and the next one runs", value_of(s, "city") == "Oslo")
s.wait_for(PROMPT, 1)
s.type("\004")
check("Ctrl-D leaves", s.end() == 0)

s = Shell("--store", STORE)
check("the history of the last one", s.run("fact current city" + UP + UP + UP).strip() != "")
check("exit leaves", (s.type("exit\r"), s.end())[1] == 0)

s = Shell("--store", STORE, term="dumb")
s.type("fact current city\r")
check("a terminal without a cursor", bool(s.wait_for("Oslo")))
s.type("\004")
check("which can be left, too", s.end() == 0)

s = Shell("--store", STORE)
s.type("fact current city")
s.wait_for("city")
raw = termios.tcgetattr(s.master)[3]
s.type("\r")
s.wait_for("\033[?2004l")
s.type("exit\r")
s.wait_for("\033[?2004l")
check("the terminal is raw while a line is edited", not raw & termios.ICANON)
end = time.monotonic() + 5
while not termios.tcgetattr(s.master)[3] & termios.ICANON and time.monotonic() < end:
    s.read(0.05)
check("and as it was after it", termios.tcgetattr(s.master)[3] & termios.ICANON != 0)
s.end()

if len(sys.argv) > 3:
    s = Shell("--url", sys.argv[3])
    check("over a URL", value_of(s, "city") == "Oslo")
    check("keys over a URL", s.run("fact current ci\t").strip() == "Oslo")
    s.type("exit\r")
    check("which can be left", s.end() == 0)

print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
