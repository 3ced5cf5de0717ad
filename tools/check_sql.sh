#!/bin/sh
# check_sql.sh [ROOT] [--rules] - fails when a statement of src/ is outside the SQL that SQLite and
# PostgreSQL share.
#
# Statements are the initialisers of lc_sql; macros of string literals are expanded. Offences are
# SQL that only one of the databases accepts, or that the two understand differently, and kinds of
# parameters and columns that do not fit the text. {row}, {values}, {set} and {excluded}
# (src/store/row.h) stand for columns whose kinds come from lc_sql.row. Not checked: texts made at
# run time, statements of a driver for its own database (src/store/postgres*.c, sqlite.c), and the
# comment that lc_sql_rewrite() uncomments for PostgreSQL.
set -eu

rules=
for word in "$@"; do
    case $word in
    --rules) rules=1 ;;
    *) root=$word ;;
    esac
done
root=${root:-$(dirname "$0")/..}
exec python3 - "$root" ${rules:+--rules} <<'PYTHON'
import os
import re
import sys

# (name, what is looked for, what to do instead). Text between quotes is blanked before.
PATTERNS = [
    ("like", r"\b(i?like|glob|regexp|similar)\b", "a prefix is a range, a search is an index"),
    ("boolean", r"(?<!where )\b(true|false)\b", "0 and 1: `v = 1`"),
    ("json", r"\bjsonb?\w*\s*\(|->|#>", "JSON is bytes to the database"),
    ("aggregate", r"\b(group_concat|string_agg|array_agg|total|avg)\s*\(", "put together in C"),
    ("clock", r"\b(now|date|time|datetime|strftime|julianday|unixepoch|clock_timestamp|age)\s*\("
              r"|\bcurrent_(timestamp|time|date)\b", "time is a parameter"),
    ("random", r"\b(random|randomblob|gen_random_uuid)\s*\(", "randomness is a parameter"),
    ("rowid", r"\b(_?rowid_?|oid|ctid|autoincrement|(big)?serial|generated|last_insert_rowid)\b",
     "rows are named by their key"),
    ("limit", r"\blimit\s+(-|null\b|all\b)", "a number that is not negative"),
    ("insert-or", r"\b(insert|update)\s+or\b|\breplace\s+into\b", "on conflict … do …"),
    ("placeholder", r"\?|(?<![\w$]):[a-z]|@[a-z]", "$1, $2 …"),
    ("division", r"[/%]|\bmod\s*\(", "divide in C, where 0 and rounding are decided"),
    ("function", r"\b(greatest|least|lower|upper|octet_length|instr|strpos|position|ifnull|iif|nvl"
                 r"|typeof|pg_typeof|printf|format|hex|encode|decode|unhex|changes)\s*\(",
     "only one of the databases has it, or both have another"),
    ("array", r"\b(any|some|all)\s*\(|\barray\b|\[", "in (values …)"),
    ("blob-literal", r"\bx''", "a parameter of kind b"),
    ("driver", r"\b(for\s+(no\s+key\s+)?(update|share)|skip\s+locked|begin|commit|rollback"
               r"|savepoint|pragma|vacuum|attach|listen|notify|create|alter|drop|truncate)\b",
     "only inside a driver, the schema or the catalogue"),
    ("equals", r"==|<=>", "="),
    ("is", r"\bis\s+(?!(not\s+)?(null|distinct\s+from)\b)", "is null, is not distinct from"),
    ("null-word", r"\b(isnull|notnull)\b", "is null, is not null"),
    ("identifier-quote", r'["`]', "names that need no quotes"),
    ("cast", r"::|\bas\s+(int|integer|int8|real|numeric|varchar|blob|bytea|boolean)\s*\)",
     "cast(x as bigint), double precision or text"),
    ("collate", r"\bcollate\b", "the catalogue gives every text column its order"),
    ("reserved", r"(?<![.\w])(user|analyze|offset|window)\s*(?=[=,)<>!])|\.\s*(user|window)\b",
     "a reserved word of PostgreSQL"),
    ("integer", r"(?<![\w.$])(214748364[89]|21474836[5-9]\d|2147483[7-9]\d{2}|214748[4-9]\d{3}"
                r"|21474[9]\d{4}|2147[5-9]\d{5}|214[89]\d{6}|21[5-9]\d{7}|2[2-9]\d{8}|[3-9]\d{9}"
                r"|\d{11,})\b", "int4 to PostgreSQL; larger constants are parameters"),
    ("cte-write", r"\bas\s+(not\s+)?(materialized\s+)?\(\s*(insert|update|delete)\b",
     "SQLite has no writing CTE"),
    ("star", r"(\bselect\s+(distinct\s+)?|\breturning\s+|\.)\*",
     "the columns are declared: name them"),
    ("semicolon", r";", "one statement"),
]

EXTRA = [
    ("sum", "cast(sum(x) as bigint): PostgreSQL answers numeric"),
    ("scalar-max", "max and min of two values: compare in C or with case"),
    ("upsert", "`do update set` names columns as table.column or excluded.column"),
    ("insert-select", "`insert … select … on conflict` needs a where in the select (where true)"),
    ("delete-limit", "no order by or limit in update and delete: select the keys in a sub-select"),
    ("alias", "a sub-select in from has an alias"),
    ("params", "params has one letter of i f t b for every $n, from $1 on without gaps"),
    ("columns", "columns has one letter of i f t b for every column, and is NULL without rows"),
    ("row", "{row}, {values}, {set} and {excluded} need lc_sql.row; in a select {row} comes first"),
    ("unread", "the text is string literals and macros of them"),
]

KEYWORDS = set("""and as between bigint case cast coalesce conflict current distinct do double else
    end escape exists from in is not null or precision select set text then when where""".split())

DRIVER = re.compile(r"store/(postgres\w*|sqlite)\.c$")
LOCK = "/* for update skip locked */"

ROW = re.compile(r"\{(?:\w+\.)?(?:row|values|set|excluded)\}")

EMPTIED = "\x01"  # Stands for a pair of brackets and all that is in it.

SUB_SELECT_ALONE = re.compile(
    r"\bfrom\s*" + EMPTIED + r"\s*($|,|(where|order|group|limit|union|join)\b)")
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\w+|[^\s\w]')
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+((?:[^\n\\]|\\\n|\\.)*)", re.MULTILINE)
FOUND = re.compile(r"\blc_sql\s+\w+\s*(\[[^\]]*\])?\s*=\s*\{|\(\s*(?:const\s+)?lc_sql\s*\)\s*\{")


def uncommented(text):
    def blank(match):
        found = match.group(0)
        return found if found[0] in "\"'" else re.sub(r"[^\n]", " ", found)
    return COMMENT.sub(blank, text)


def tokens(code):
    return TOKEN.findall(code.replace("\\\n", " "))


def initialisers(words):
    """Splits `{a, b, {c}}` without its outer braces into a list of words or of such lists."""
    items, item, depth = [], [], 0
    for word in words:
        if word == "," and depth == 0:
            items.append(item)
            item = []
            continue
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(word, 0)
        item.append(word)
    if item:
        items.append(item)
    return items


def statements(words):
    """The initialisers of each lc_sql in the braces of one, or of an array of them."""
    items = initialisers(words)
    while items and items[0][:1] == ["["] and "=" in items[0]:
        items = [item[item.index("=") + 1:] if "=" in item else item for item in items]
    if items and items[0][:1] == ["{"]:
        return [initialisers(item[1:-1]) for item in items if item[:1] == ["{"]]
    return [items]


def members(items):
    """text, params, columns and row as lists of words; None when not given."""
    found, place = {}, 0
    names = ["text", "params", "columns", "row"]
    for item in items:
        if item[:1] == ["."] and len(item) > 3 and item[2] == "=":
            found[item[1]] = item[3:]
            place = names.index(item[1]) + 1 if item[1] in names else place
        elif place < 4:
            found[names[place]] = item
            place += 1
    return [found.get(name) for name in names]


def joined(words, macros, depth=0):
    """The text of literals and macros, or None when there is anything else in it."""
    text = ""
    for word in words:
        if word[0] == '"':
            text += re.sub(r"\\(.)", lambda m: {"n": "\n", "t": " "}.get(m[1], m[1]), word[1:-1])
        elif word in macros and depth < 8:
            inner = joined(macros[word], macros, depth + 1)
            if inner is None:
                return None
            text += inner
        else:
            return None
    return text


def levels(text):
    """The inside of every pair of brackets, inner ones emptied, and last the text itself."""
    found = []
    inner = re.compile(r"\(([^()]*)\)")
    while inner.search(text):
        found += inner.findall(text)
        text = inner.sub(EMPTIED, text)
    return found + [text]


def split_commas(text):
    return [part.strip() for part in text.split(",")]


def find_unqualified(text):
    """A column in the right sides and the condition of `do update set` without its table."""
    for part in re.findall(r"\bdo\s+update\s+set\b(.*?)(?=\breturning\b|$)", text, re.DOTALL):
        part = ROW.sub("", part)
        part = re.sub(r"(^|,)\s*\w+\s*=(?!=)", r"\1 ", part)  # The columns set have no table.
        for match in re.finditer(r"(?<![\w.$])[a-z_]\w*(?!\s*[.(\w])", part):
            if match.group(0) not in KEYWORDS:
                return match.group(0)
    return None


def check_shape(text):
    """Names of rules of EXTRA that the text, quotes blanked and in lower case, breaks."""
    top = levels(text)[-1]
    for match in re.finditer(r"\bsum\s*\(", text):
        if not re.search(r"\bcast\s*\(\s*(coalesce\s*\(\s*)?$", text[:match.start()]):
            yield "sum", ""
    for level in levels(text):
        if SUB_SELECT_ALONE.search(level):
            yield "alias", ""
    for match in re.finditer(r"\b(?:max|min)\s*\(", text):
        if "," in levels(inside(text, match.end() - 1))[-1]:
            yield "scalar-max", ""
    column = find_unqualified(text)
    if column:
        yield "upsert", column
    if re.search(r"\binsert\b.*\)\s*select\b(?:(?!\bwhere\b).)*\bon\s+conflict\b", text, re.DOTALL):
        yield "insert-select", ""
    if re.match(r"\s*(delete|update)\b", top) and re.search(r"\b(limit|order\s+by)\b", top):
        yield "delete-limit", ""


def inside(text, at):
    """What the bracket at `at` encloses."""
    depth = 0
    for end in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return text[at + 1:end]
    return text[at + 1:]


def count_columns(text):
    """How many columns the answer has, 0 without rows, or None when that cannot be seen. {row} is
    not counted: lc_sql.columns does not have its kinds either."""
    top = levels(text)[-1].strip()
    top = re.sub(r"^with\s+recursive\b.*?(?=\bselect\b)", "", top, flags=re.DOTALL)
    returning = re.search(r"\breturning\b(.*)$", top, re.DOTALL)
    if returning:
        return len(split_commas(returning.group(1)))
    if re.match(r"(insert|update|delete)\b", top):
        return 0
    select = re.match(r"select\s+(?:distinct\s+)?(.*?)(\bfrom\b|\bunion\b|$)", top, re.DOTALL)
    if not select:
        return None
    return len([column for column in split_commas(select.group(1)) if not ROW.search(column)])


def check_row(text, has_row):
    select = re.match(r"\s*select\s+(?:distinct\s+)?(.*?)\bfrom\b", levels(text)[-1], re.DOTALL)
    columns = split_commas(select.group(1)) if select else []
    if bool(ROW.search(text)) != has_row or any(ROW.search(column) for column in columns[1:]):
        yield "row", ""


def check_kinds(text, params, columns):
    numbers = {int(number) for number in re.findall(r"\$(\d+)", text)}
    if params is None or re.search(r"[^iftb]", params) or \
            numbers != set(range(1, len(params) + 1)):
        yield "params", "`%s` for %d" % (params, max(numbers, default=0))
    wanted = count_columns(text)
    given = 0 if columns is None else len(columns)
    if (columns is not None and re.search(r"[^iftb]", columns)) or \
            (wanted is not None and wanted != given) or (wanted is None and given == 0) or \
            (columns is None and re.match(r"\s*select\b", text)):
        yield "columns", "`%s` for %s" % (columns, wanted)


def check(text, params, columns, has_row):
    text = text.replace(LOCK, "")
    plain = re.sub(r"'(?:[^']|'')*'", "''", text).lower()
    for name, pattern, _ in PATTERNS:
        match = re.search(pattern, plain)
        if match:
            yield name, match.group(0).strip()
    yield from check_shape(plain)
    yield from check_row(plain, has_row)
    yield from check_kinds(plain, params, columns)


class Tree:
    def __init__(self, root):
        self.macros = {}
        self.codes = {}
        self.count = 0
        for folder, dirs, files in os.walk(os.path.join(root, "src")):
            dirs.sort()
            for name in sorted(files):
                if name.endswith((".c", ".h")):
                    full = os.path.join(folder, name)
                    with open(full, encoding="utf-8") as file:
                        self.codes[os.path.relpath(full, root)] = uncommented(file.read())
        for path, code in self.codes.items():
            if path.endswith(".h"):
                self.macros.update(self.macros_of(code))

    @staticmethod
    def macros_of(code):
        return {name: tokens(body) for name, body in DEFINE.findall(code)}

    def read(self, words, macros):
        """The text, None when there is none, False when it cannot be read."""
        if words is None or words in (["NULL"], ["0"]):
            return None
        text = joined(words, macros)
        return False if text is None else text

    def check_file(self, path):
        code = self.codes[path]
        macros = dict(self.macros, **self.macros_of(code))
        for match in FOUND.finditer(code):
            line = code.count("\n", 0, match.start()) + 1
            body = braced(code, match.end() - 1)
            for items in statements(tokens(body)):
                yield from self.check_statement(path, line, members(items), macros)

    def check_statement(self, path, line, parts, macros):
        if parts[0] is None:
            return  # Made at run time.
        self.count += 1
        text, params, columns = [self.read(part, macros) for part in parts[:3]]
        has_row = parts[3] not in (None, ["NULL"])
        if text in (None, False) or params is False or columns is False:
            yield path, line, "unread", ""
            return
        for name, what in check(text, params if parts[1] else None, columns, has_row):
            yield path, line, name, what


def braced(code, at):
    """What the brace at `at` encloses; those in literals do not count."""
    depth = 0
    for match in re.finditer(r'"(?:\\.|[^"\\\n])*"|[{}]', code[at:]):
        depth += {"{": 1, "}": -1}.get(match.group(0), 0)
        if depth == 0:
            return code[at + 1:at + match.start()]
    return ""


def main():
    instead = {name: text for name, _, text in PATTERNS}
    instead.update(EXTRA)
    if len(sys.argv) > 2:
        for name, text in instead.items():
            print("%-16s %s" % (name, text))
        return 0
    tree = Tree(sys.argv[1])
    offences = 0
    for path in tree.codes:
        if DRIVER.search(path):
            continue
        for _, line, name, what in tree.check_file(path):
            shown = " ".join(what.split())
            print("%s:%d: %s: %s%s" % (path, line, name, shown + ": " if shown else "",
                                       instead[name]))
            offences += 1
    print("check_sql: %d statements, %d offences" % (tree.count, offences))
    if tree.count == 0:
        print("check_sql: no statement found in %s: is lc_sql still its name?" % sys.argv[1])
        return 2
    return 1 if offences else 0


sys.exit(main())
PYTHON
