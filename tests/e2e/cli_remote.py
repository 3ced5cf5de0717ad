#!/usr/bin/python3
"""Servers for cli_remote.sh, on a free port of this machine, which is printed.

    cli_remote.py web               a web server that is no loci: HTML, whatever is asked
    cli_remote.py newer             a daemon of version 9.9.9 that knows no operation
    cli_remote.py mail              greets in another protocol
    cli_remote.py silent            accepts connections and says nothing
    cli_remote.py tls CERT PORT     TLS in front of the daemon on PORT; answers are cut into chunks
"""
import socket
import socketserver
import ssl
import sys

KIND = sys.argv[1]
PROBLEM = (b'{"type":"about:blank","status":404,"code":"not_found",'
           b'"detail":"unknown operation \\"fact.list\\""}')


def read_request(f):
    """The head and the body of a request; None at the end."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = f.readline()
        if not line:
            return None
        head += line
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return head + f.read(length)


def answer(status, kind, body):
    return (b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" %
            (status, kind, len(body)) + body)


def forward(request):
    """The daemon's answer, its body in chunks of seven bytes."""
    with socket.create_connection(("127.0.0.1", int(sys.argv[3])), timeout=20) as s:
        s.sendall(request)
        f = s.makefile("rb")
        whole = read_request(f)
    head, body = whole.split(b"\r\n\r\n", 1)
    lines = [x for x in head.split(b"\r\n") if not x.lower().startswith(b"content-length:")]
    out = b"\r\n".join(lines) + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
    for at in range(0, len(body), 7):
        part = body[at:at + 7]
        out += b"%x\r\n" % len(part) + part + b"\r\n"
    return out + b"0\r\n\r\n"


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        if KIND == "mail":
            self.wfile.write(b"220 mail.example.com ready for you\r\n")
        if KIND == "silent":
            print("asked", flush=True)
            self.rfile.read()
        while True:
            request = read_request(self.rfile)
            if request is None:
                return
            if KIND == "tls":
                self.wfile.write(forward(request))
            elif KIND == "newer" and b" /livez " in request:
                self.wfile.write(answer(b"200 OK", b"application/json", b'{"version":"9.9.9"}'))
            elif KIND == "newer":
                self.wfile.write(answer(b"404 Not Found", b"application/problem+json", PROBLEM))
            else:
                self.wfile.write(answer(b"200 OK", b"text/html", b"<h1>It works!</h1>"))


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def get_request(self):
        connection, address = self.socket.accept()
        if KIND == "tls":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[2])
            connection = context.wrap_socket(connection, server_side=True)
        return connection, address

    def handle_error(self, request, client_address):
        pass


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
