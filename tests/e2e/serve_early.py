#!/usr/bin/env python3
"""Clients that send their whole body before they read: each must report the daemon's error.

    serve_early.py URL TOKEN

Prints one line per case, "NAME STATUS CODE", or "NAME failed: REASON".
"""
import http.client
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

LARGE = 24 << 20  # Bytes; more than the daemon reads and the kernel buffers.
SMALL = 3 << 20  # Below the limit of the daemon, more than the kernel buffers at once.


def chunks():
    for _ in range(SMALL >> 16):
        yield b"x" * 65536


def by_urllib(url, headers, body):
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def by_http_client(url, headers, body):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    connection.request("POST", parts.path, body, headers)
    reply = connection.getresponse()
    answer = reply.status, json.load(reply)
    connection.close()
    return answer


def main():
    url, token = sys.argv[1:]
    bearer = {"Authorization": "Bearer " + token}
    cases = (
        ("large", by_urllib, "/v1/facts", bearer, b"x" * LARGE),
        ("large-http.client", by_http_client, "/v1/facts", bearer, b"x" * LARGE),
        ("no-token", by_urllib, "/v1/facts", {}, b"x" * SMALL),
        ("wrong-token", by_urllib, "/v1/facts", {"Authorization": "Bearer loci_no"}, b"x" * SMALL),
        ("no-path", by_urllib, "/v1/nowhere", bearer, b"x" * SMALL),
        ("chunked", by_urllib, "/v1/facts", bearer, chunks()),
        ("origin", by_urllib, "/v1/facts", {**bearer, "Origin": "http://a.example"}, b"x" * SMALL),
        ("host", by_urllib, "/v1/facts", {**bearer, "Host": "a.example"}, b"x" * SMALL),
    )
    for name, ask, path, headers, body in cases:
        try:
            status, problem = ask(url + path, headers, body)
            print(name, status, problem["code"])
        except (OSError, http.client.HTTPException, ValueError) as error:
            print(name, "failed:", error)


if __name__ == "__main__":
    main()
