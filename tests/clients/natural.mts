// natural.mts - programs as people write them; it must compile under `tsc --strict`.
import { Loci, LociError, type Fact, type MemoryHit } from "loci-client";

interface City { name: string; size: number }

const loci = new Loci({ url: "http://127.0.0.1:7077", token: "t", userId: "anna" });
const city: City = { name: "Oslo", size: 1 };
const written = await loci.fact.write({ key: "city", value: city, source: "user" });
const outcome: "created" | "superseded" | "repeated" | "late" | "claimed" | "shadowed" = written.outcome;
const facts: Fact[] = [];
for await (const fact of loci.fact.listAll({ prefix: "user." })) facts.push(fact);
const hits: MemoryHit[] = (await loci.memory.recall({ query: "where?", limit: 5 })).results;
const context = await loci.context.build({ query: "Where do I live?", budget: 500 });
const text: string = context.text;
await loci.session.append({ role: "user", text: "hello" }, { timeoutMs: 1000, retries: 0 });
const [made, got] = await loci.batch([
    { op: "fact.write", args: { key: "a", value: 1 } },
    { op: "fact.get", args: { id: "$0.id" } },
]);
const seq: number = made.seq, key: string = got.key;
const controller = new AbortController();
for await (const message of loci.event.stream({ after_seq: 0, signal: controller.signal })) {
    if (message.kind === "event") console.log(message.event.seq + 1);
    else console.log(message.reason);
}
try {
    await loci.call("fact.get", { id: "fact_1" });
} catch (error) {
    if (error instanceof LociError && error.code === "not_found") console.log(error.hint, error.retryAfterMs);
}
console.log(outcome, hits, text, seq, key);

// @ts-expect-error A value is missing.
await loci.fact.write({ key: "city" });
// @ts-expect-error No such scope.
await loci.fact.write({ key: "city", value: 1, scope: "planet" });
// @ts-expect-error No such argument.
await loci.fact.list({ limits: 3 });
// @ts-expect-error No such member of an answer.
console.log(written.outcom);
// @ts-expect-error No such operation.
await loci.batch([{ op: "fact.writ", args: {} }]);
