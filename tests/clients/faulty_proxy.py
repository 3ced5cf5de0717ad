"""faulty_proxy.py UPSTREAM - a proxy in front of a daemon that fails as its clients ask for.

Prints its URL. A client names the fault, how often it occurs and itself in the header Loci-Client,
as in "lost-2/case7": the first two requests of case7 are run, and their answers are thrown away.
GET /seen/case7 returns the idempotency keys of its requests.

    busy   503 with Retry-After, not forwarded
    lost   forwarded; the connection ends without an answer
    cut    forwarded; the connection ends in the middle of the answer
    slow   forwarded after three seconds
    proxy  502 with a page of HTML, not forwarded
"""

import http.client
import http.server
import json
import sys
import threading
import time
from urllib.parse import urlsplit

upstream = urlsplit(sys.argv[1])
lock = threading.Lock()
seen = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, kind, body, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        case = self.path.rpartition("/")[2]
        self.answer(200, "application/json", json.dumps(seen.get(case, [])).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        plan, _, case = self.headers["Loci-Client"].partition("/")
        fault, _, times = plan.partition("-")
        with lock:
            keys = seen.setdefault(case, [])
            keys.append(self.headers["Idempotency-Key"])
            is_faulty = len(keys) <= int(times)
        if is_faulty and fault == "busy":
            problem = {"title": "Service Unavailable", "status": 503, "code": "unavailable",
                       "detail": "too many requests", "hint": "try later", "limit": 7}
            self.answer(503, "application/problem+json", json.dumps(problem).encode(),
                        Retry_After="1" if len(keys) == 1 else "0")
            return
        if is_faulty and fault == "proxy":
            self.answer(502, "text/html", b"<h1>Bad Gateway</h1>")
            return
        if is_faulty and fault == "slow":
            time.sleep(3)
        connection = http.client.HTTPConnection(upstream.hostname, upstream.port)
        headers = {name: self.headers[name] for name in
                   ("Authorization", "Idempotency-Key", "Content-Type") if name in self.headers}
        connection.request("POST", self.path, body, headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        if is_faulty and fault in ("lost", "cut"):
            if fault == "cut":
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text[:len(text) // 2])
            self.close_connection = True
            return
        try:
            self.answer(response.status, response.getheader("Content-Type"), text)
        except OSError:
            self.close_connection = True  # The client did not wait.


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
