// stream.mjs DIRECTORY - follows a log with the Node.js client while the daemon is restarted;
// writes the file "ready" at its first event and ends at the fact "last".
import { writeFileSync } from "node:fs";
import { Loci } from "loci-client";
import { done, is } from "./check.mjs";

const loci = new Loci({ url: process.env.URL_, token: process.env.TOKEN });
const keys = [];
const seqs = [];
const options = { user_id: "default", types: ["fact.written"] };
for await (const { kind, event } of loci.event.stream(options)) {
    is("an event", "event", kind);
    if (keys.at(-1) !== event.payload.key) keys.push(event.payload.key);
    seqs.push(event.seq);
    writeFileSync(`${process.argv[2]}/ready`, "");
    if (event.payload.key === "last") break;
}
is("no event is missing after a restart", ["first", "down", "last"], keys);
is("each arrived once and in order", [...new Set(seqs)].sort((a, b) => a - b), seqs);

const all = loci.event.stream({ heartbeat_ms: 100, signal: AbortSignal.timeout(500) });
let name = "none";
try {
    for await (const message of all) is("nothing happens", undefined, message);
} catch (error) {
    name = error.name;
}
is("a stream is aborted", "TimeoutError", name);
const past = [];
for await (const { event } of loci.event.stream({ user_id: "default", after_seq: 0 })) {
    past.push(event.seq);
    if (past.length === 3) break;
}
is("a stream from the beginning", [1, 2, 3], past);
done();
