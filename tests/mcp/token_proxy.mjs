// token_proxy.mjs URL TOKEN - forwards requests to a daemon with a token that their client cannot
// send. Everything else, Host and Origin above all, stays as the client sent it.
import { createServer, request } from "node:http";

const { hostname, port } = new URL(process.argv[2]);
const server = createServer((from, to) => {
    const forward = request({
        hostname, port, method: from.method, path: from.url,
        headers: { ...from.headers, authorization: `Bearer ${process.argv[3]}` },
    }, (answer) => {
        to.writeHead(answer.statusCode, answer.headers);
        to.flushHeaders();
        answer.pipe(to);
    });
    forward.on("error", () => to.destroy());
    to.on("close", () => forward.destroy()); // A client that hangs up cancels its request.
    from.pipe(forward);
});
server.keepAliveTimeout = 60000;
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
