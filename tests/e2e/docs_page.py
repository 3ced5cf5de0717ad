"""docs_page.py PAGE... - run the commands of pages and compare the output that they show.

Each page runs in one shell, in a folder and HOME of its own, with the built loci on the PATH. Its
fenced blocks mean:

    sh       commands. They run in order and must succeed. A line that ends in `# exit code N` must
             end with N. A line that ends in `# → TEXT` must print TEXT.
    output   what the sh block before it prints, white space aside. `…` is any text; a line with
             nothing else is any number of lines. Ids, times, dates and the port match any other.
    c, json  a file, if the comment before the block names it; otherwise only an illustration (json)
             or an error (c)
    text, sql, ini ...   illustrations; not run

Relative links must lead to a file and, with #, to a heading of it. DOCS_PLANNED names pages that do
not exist yet. A comment on the line before a block changes that:

    <!-- not run: REASON -->     commands that a test cannot run, such as apt; listed at the end
    <!-- run if: COMMAND -->     run if COMMAND, in the shell of the page, succeeds; listed if not
    <!-- file: NAME -->          the block is the content of the file NAME

Output shows HOME as `~`. `build/release` becomes the build that is tested. Port 7077, also as the
default of `loci serve`, becomes a free one. `loci serve ... &` is ready when the next command runs.
Everything that a page starts ends with it. LOCI names the program, BUILD_DIR the build,
DOCS_POSTGRES the directory of the socket of a PostgreSQL server.
"""

import collections
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

PAGE_SECONDS = 120
ILLUSTRATIONS = {"text", "mermaid", "sql", "yaml", "promql", "ini", "json", "toml", "cmake", "diff",
                 "go", "rust", "python", "js"}

Block = collections.namedtuple("Block", "line language text mark")

# Texts that differ between two runs: in a page each matches any other of its kind.
VOLATILE = [
    r"[a-z]{2,4}_01[0-9A-Z]{24}",
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z",
    r"\d{4}-\d\d-\d\d",
]

PREAMBLE = r"""
set -eo pipefail
__fail() { printf '%s\n' "$1" >"$DOCS_WORK/why"; exit 99; }
__wait_ready() {
    local tries=200
    until curl -sf -o /dev/null "http://127.0.0.1:$DOCS_PORT/readyz"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || __fail "the daemon is not ready"
        sleep 0.05
    done
}
"""


def blocks_of(text):
    """Fenced blocks of a page, with the comment on the line before, and the errors of the page."""
    blocks, errors, mark = [], [], ""
    lines = iter(enumerate(text.split("\n"), 1))
    for number, line in lines:
        fence = re.match(r"( *)```(\S*)\s*$", line)
        comment = re.match(r"\s*<!-- ((?:not run|run if|file): .+?) -->\s*$", line)
        if not fence:
            mark = comment.group(1) if comment else (mark if not line.strip() else "")
            continue
        body = []
        for _, inner in lines:
            if inner.strip() == "```":
                break
            body.append(inner[len(fence.group(1)):])
        else:
            errors.append("%d: the block is not closed" % number)
        if not fence.group(2):
            errors.append("%d: the block has no language (sh, output, text ...)" % number)
        blocks.append(Block(number, fence.group(2), "\n".join(body) + "\n", mark))
        mark = ""
    return blocks, errors


def pattern_of(expected):
    """A pattern for the output that a page shows."""
    parts = []
    for line in expected.strip().split("\n"):
        if line.strip() == "…":
            parts.append(r"(?:.*\s+)?" if parts else r"(?:.*\s)?")
            continue
        found = ""
        for part in re.split("(%s|…|[ ]+)" % "|".join(VOLATILE), " ".join(line.split())):
            kind = next((k for k in VOLATILE if re.fullmatch(k, part)), None)
            found += kind or {"…": ".*?", " ": r"\s+"}.get(part, re.escape(part))
        parts.append(found + r"\s+")
    return re.compile(r"\s*" + "".join(parts) + r"$", re.DOTALL)


def matches(expected, actual):
    return pattern_of(expected).match(actual.rstrip() + "\n") is not None


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def shell_of(block):
    """The commands of a block, with the checks that its comments ask for."""
    lines = []
    for line in block.text.split("\n"):
        code = re.search(r"^(.*\S)\s+# exit code (\d+)\s*$", line)
        shown = re.search(r"^(.*\S)\s+# → (.*\S)\s*$", line)
        if code:
            lines.append("if %s; then __rc=0; else __rc=$?; fi" % code.group(1))
            lines.append("[ $__rc = %s ] || __fail %s\"$__rc\"" % (
                code.group(2), quoted("expected exit code %s, got " % code.group(2))))
        elif shown:
            lines.append("{ %s; } >\"$DOCS_WORK/line\" 2>&1 || "
                         "__fail \"$(cat \"$DOCS_WORK/line\")\"" % shown.group(1))
            lines.append("cat \"$DOCS_WORK/line\"")
            lines.append("python3 \"$DOCS_READER\" --matches %s <\"$DOCS_WORK/line\" || "
                         "__fail %s\"$(cat \"$DOCS_WORK/line\")\"" % (
                             quoted(shown.group(2)),
                             quoted("expected %s, got " % shown.group(2))))
        else:
            lines.append(line)
            if re.search(r"\bloci serve\b.*&\s*(?:#.*)?$", line):
                lines.append("__wait_ready")
    return "\n".join(lines) + "\n"


def slug_of(heading):
    """The anchor that a heading gets on the usual sites."""
    plain = re.sub(r"\]\([^)]*\)|[`*\[\]]", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def broken_links(path):
    """Relative links of a page that lead to no file, or to no heading of a page."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for match in re.finditer(r"\]\(([^)\s:]+)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        name, _, anchor = match.group(1).partition("#")
        target = os.path.join(os.path.dirname(path), name) if name else path
        if not os.path.exists(target):
            yield match.group(1)
        elif anchor and target.endswith(".md"):
            with open(target, encoding="utf-8") as file:
                headings = re.findall(r"^#+ (.*)$", file.read(), re.MULTILINE)
            if anchor not in map(slug_of, headings):
                yield match.group(1)


class Page:
    """One page: its folder, environment, and the script that is made from it."""

    def __init__(self, path, loci, build):
        self.path = path
        self.work = tempfile.mkdtemp(prefix="docs.")
        os.chmod(self.work, 0o755)
        self.port = free_port()
        self.failures, self.not_run, self.ran = [], [], 0
        self.loci, self.build = loci, build

    def environment(self):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
        home, programs = os.path.join(self.work, "home"), os.path.join(self.work, "bin")
        for folder in (home, programs, self.work + "/runtime", self.work + "/pkgconfig"):
            os.makedirs(folder, mode=0o700)
        os.symlink(self.loci, programs + "/loci")
        with open(self.work + "/pkgconfig/loci.pc", "w", encoding="utf-8") as file:
            file.write("Name: loci\nDescription: the build\nVersion: 0\nCflags: -I%s/include\n"
                       "Libs: -L%s -lloci -Wl,-rpath,%s\n" % (root, self.build, self.build))
        kept = {k: v for k, v in os.environ.items() if k in ("TMPDIR", "USER", "LD_LIBRARY_PATH")}
        postgres = os.environ.get("DOCS_POSTGRES")
        if postgres:
            kept.update(PGHOST=postgres, PGUSER="loci")
        kept.update(
            PATH=programs + ":/usr/local/bin:/usr/bin:/bin", HOME=home, LC_ALL="C.UTF-8",
            TERM="dumb", XDG_RUNTIME_DIR=self.work + "/runtime",
            PKG_CONFIG_PATH=self.work + "/pkgconfig", DOCS_WORK=self.work,
            LOCI_LISTEN="127.0.0.1:%d" % self.port, DOCS_PORT=str(self.port),
            DOCS_READER=os.path.abspath(__file__))
        return kept

    def fail(self, line, why):
        self.failures.append("%s:%s: %s" % (self.path, line, why))

    def script(self, blocks, env):
        """Writes files and returns the script and the blocks whose output is compared."""
        lines, shown, last = [PREAMBLE], {}, None
        for block in blocks:
            kind, _, rest = block.mark.partition(": ")
            text = block.text.replace("7077", str(self.port)).replace("build/release", self.build)
            if kind == "file":
                with open(os.path.join(env["HOME"], rest), "w", encoding="utf-8") as file:
                    file.write(text)
            elif block.language == "sh":
                last = None
                if kind == "not run":
                    self.not_run.append("%s:%d: %s" % (self.path, block.line, rest))
                    continue
                last = block
                self.ran += 1
                name = os.path.join(self.work, "block_%d" % block.line)
                with open(name + ".sh", "w", encoding="utf-8") as file:
                    file.write(shell_of(block._replace(text=text)))
                lines.append("printf %d >\"$DOCS_WORK/at\"" % block.line)
                run = ". %s.sh >%s.out 2>&1" % (name, name)
                if kind == "run if":
                    run = ("if { %s; } >/dev/null 2>&1; then\n%s\n"
                           "else printf '%%s\\n' %s >>\"$DOCS_WORK/waits\"; fi" % (
                               rest.replace("7077", str(self.port)), run,
                               quoted("%d: waits for: %s" % (block.line, rest))))
                lines.append(run)
            elif block.language == "output":
                if last is not None:
                    shown[last.line] = text
                last = None
            elif block.language == "c" and kind != "not run":
                self.fail(block.line, "a C block needs a file name, or a reason not to run it")
            elif block.language not in ILLUSTRATIONS and kind != "not run" and block.language:
                self.fail(block.line, "unknown language %s" % block.language)
        return "\n".join(lines) + "\nprintf end >\"$DOCS_WORK/at\"\n", shown

    def run(self):
        with open(self.path, encoding="utf-8") as file:
            blocks, errors = blocks_of(file.read())
        for error in errors:
            self.failures.append("%s:%s" % (self.path, error))
        for link in broken_links(self.path):
            if os.path.basename(link) not in os.environ.get("DOCS_PLANNED", "").split():
                self.failures.append("%s: the link %s leads nowhere" % (self.path, link))
        env = self.environment()
        script, shown = self.script(blocks, env)
        if not self.ran:
            return
        self.write("at", "start")
        process = subprocess.Popen(["bash", "-c", script], env=env, cwd=env["HOME"],
                                   stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            code = process.wait(PAGE_SECONDS)
        except subprocess.TimeoutExpired:
            code = "none after %d s" % PAGE_SECONDS
        finally:
            # The group is the page's own: the shell and everything it started.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        at = self.read("at")
        if code != 0 or at != "end":
            self.fail(at, "exit code %s%s\n%s" % (
                code, ": " + self.read("why") if self.read("why") else "",
                indent(self.read("block_%s.out" % at))))
        waits = self.read("waits").splitlines()
        self.not_run += ["%s:%s" % (self.path, line) for line in waits]
        self.ran -= len(waits)
        for line, expected in shown.items():
            if any(wait.startswith("%d:" % line) for wait in waits):
                continue
            actual = self.read("block_%d.out" % line).replace(env["HOME"], "~")
            if at == "end" and not matches(expected, actual):
                self.fail(line, "the output differs. The page shows:\n%s\nbut it prints:\n%s" %
                          (indent(expected), indent(actual)))

    def write(self, name, text):
        with open(os.path.join(self.work, name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        try:
            with open(os.path.join(self.work, name), encoding="utf-8", errors="replace") as file:
                return file.read().strip("\n")
        except FileNotFoundError:
            return ""

    def clean_up(self):
        shutil.rmtree(self.work, ignore_errors=True)
        if os.environ.get("DOCS_POSTGRES"):
            # Each page finds the server as it was.
            server = ["-h", os.environ["DOCS_POSTGRES"], "-U", "loci"]
            names = subprocess.run(
                ["psql", *server, "-At", "loci", "-c", "select datname from pg_database where "
                 "not datistemplate and datname not in ('postgres', 'loci')"],
                capture_output=True, text=True, timeout=30, check=True).stdout.split()
            for name in names:
                subprocess.run(["dropdb", *server, "--force", name], timeout=30, check=True)


def indent(text):
    return "\n".join("    " + line for line in text.rstrip("\n").split("\n")[-60:])


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    if sys.argv[1:2] == ["--matches"]:
        return 0 if matches(sys.argv[2], sys.stdin.read()) else 1
    loci, build = os.path.abspath(os.environ["LOCI"]), os.path.abspath(os.environ["BUILD_DIR"])
    failures, not_run, ran = [], [], 0
    for path in sys.argv[1:]:
        page = Page(path, loci, build)
        try:
            page.run()
        finally:
            page.clean_up()
        failures += page.failures
        not_run += page.not_run
        ran += page.ran
    for line in failures:
        print("FAIL " + line)
    for line in not_run:
        print("not run: " + line)
    print("%d pages, %d blocks run, %d not run, %d failures" %
          (len(sys.argv) - 1, ran, len(not_run), len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
