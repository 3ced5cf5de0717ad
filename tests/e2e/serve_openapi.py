"""serve_openapi.py PROXY TOKEN DIRECTORY - calls every operation of the table by name and by its
route through a validating proxy, and fails when the proxy objects or an operation does."""

import json
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

proxy, token = sys.argv[1:3]
failures = []
counts = {"by name": 0, "by its route": 0}


def ask(method, path, body=None, headers=None):
    """The status and the decoded body of one request; the proxy's own objections are failures."""
    request = urllib.request.Request(proxy + path, method=method)
    request.add_header("Authorization", "Bearer " + token)
    for name, value in (headers or {}).items():
        request.add_header(name, value)
    data = None
    if body is not None:
        data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, data, timeout=30) as answer:
            status, text = answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read().decode()
    return status, text


def expect(what, status, text, allowed):
    if "stoplight.io/prism" in text:
        failures.append("%s: against the document: %s" % (what, text[:600]))
    elif status not in allowed:
        failures.append("%s: %d %s" % (what, status, text[:300]))


def by_name(op, args, allowed):
    status, text = ask("POST", "/v1/call/" + op["name"], args)
    expect(op["name"] + " by name", status, text, allowed)
    counts["by name"] += 1
    return json.loads(text) if status == 200 else {}


def by_route(op, args, allowed):
    method, path = op["http"].split(" ", 1)
    rest = dict(args)
    for name in re.findall(r"{(\w+)}", path):
        value = rest.pop(name, "current") if name == "session_id" else rest.pop(name)
        path = path.replace("{%s}" % name, urllib.parse.quote(str(value), safe=""))
    if method in ("POST", "PUT", "PATCH"):
        status, text = ask(method, path, rest)
    else:
        query = {k: json.dumps(v) if not isinstance(v, str) else v for k, v in rest.items()}
        status, text = ask(method, path + ("?" + urllib.parse.urlencode(query) if query else ""))
    expect(op["name"] + " by its route", status, text, allowed)
    counts["by its route"] += 1
    return json.loads(text) if status == 200 else {}


def new_token():
    status, text = ask("POST", "/v1/call/token.create", {"name": "t", "scopes": ["read"]})
    expect("a token to be used up", status, text, [200])
    return json.loads(text).get("id", "tok_none")


def after(op, args, wanted):
    """`wanted`, once the operation that makes it possible was done."""
    status, text = ask("POST", "/v1/call/" + op, args)
    expect("%s before another" % op, status, text, [200])
    return wanted


def main():
    status, text = ask("POST", "/v1/call/fact.write", {"key": "city", "value": "Oslo"})
    expect("a first fact", status, text, [200])
    fact_id = json.loads(text)["id"]
    status, text = ask("POST", "/v1/call/store.rebuild", {"wait": True})
    expect("a job", status, text, [200])
    rebuild = json.loads(text)
    # Arguments that an example cannot have: ids that exist, and names of files.
    better = {
        "fact.get": lambda: {"id": fact_id},
        "fact.retract": lambda: after("fact.write", {"key": "used_up", "value": 1},
                                      {"key": "used_up"}),
        "fact.review": lambda: {"id": fact_id, "action": "confirm"},
        "identity.set": lambda: after("session.open", {}, {"user_name": "Ann",
                                                           "authority": "manager"}),
        "session.close": lambda: after("session.open", {}, {}),
        "working.delete": lambda: after("working.set", {"key": "d", "value": 1}, {"key": "d"}),
        "job.get": lambda: {"id": rebuild["job_id"], "scope": "store"},
        "job.cancel": lambda: {"id": rebuild["job_id"], "scope": "store"},
        "token.revoke": lambda: {"id": new_token()},
        "token.rotate": lambda: {"id": new_token()},
        "store.backup": lambda: {"path": "backup.db", "force": True},
        "store.restore": lambda: {"path": "backup.db"},
        "store.export": lambda: {"path": "export.ndjson", "force": True},
        "store.import": lambda: {"path": "export.ndjson"},
    }
    status, text = ask("GET", "/v1/operations")
    expect("the list of operations", status, text, [200])
    for op in json.loads(text)["operations"]:
        noun = op["name"].split(".")[0]
        known = op["name"] in better or noun in ("fact", "config", "store", "op")
        allowed = [200] if known and op["name"] != "job.cancel" else [200, 404, 409]
        args = better.get(op["name"], lambda: op["example"])
        by_name(op, args(), allowed)
        if op["http"]:
            by_route(op, args(), allowed)

    # Errors are part of the document, too.
    for method, path, body, wanted in (
        ("GET", "/v1/facts/fact_00000000000000000000000000", None, 404),
        ("GET", "/v1/facts/current/nothing", None, 404),
        ("POST", "/v1/call/fact.write", {"key": "k", "value": 1, "expected_seq": 99999}, 409),
        ("POST", "/v1/batch", {"calls": [{"op": "no.such"}]}, 404),
    ):
        status, text = ask(method, path, body)
        expect("%s %s" % (method, path), status, text, [wanted])
    calls = [{"op": "fact.write", "args": {"key": "a", "value": 1}},
             {"op": "fact.get", "args": {"id": "$0.id"}}]
    expect("a batch", *ask("POST", "/v1/batch", {"calls": calls}, {"Idempotency-Key": "b1"}), [200])
    for path in ("/livez", "/readyz", "/metrics", "/openapi.json", "/docs", "/start", "/"):
        expect(path, *ask("GET", path), [200])

    # Optional arguments may be null.
    expect("null", *ask("POST", "/v1/facts", {"key": "n", "value": 1, "source": None,
                                              "scope_id": None}), [200])

    # The proxy does look: these are against the document.
    for path, body in (("/v1/facts", {"key": 7, "value": 1}),
                       ("/v1/facts", {"key": "k", "value": 1, "scope_id": "without_scope"}),
                       ("/v1/facts/retract", {"key": "k", "id": "fact_1"}),
                       ("/v1/call/no.such", {})):
        status, text = ask("POST", path, body)
        if "stoplight.io/prism" not in text:
            failures.append("the proxy does not object to %s %s: %d %s"
                            % (path, body, status, text[:200]))

    for what, count in counts.items():
        print("ok: %d operations %s" % (count, what))
    for failure in failures:
        print(failure)
    return 1 if failures else 0


sys.exit(main())
