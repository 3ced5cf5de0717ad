// langgraph.mjs - the checkpointer and the store behind a graph, and what they write.
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Command, END, interrupt, MessagesAnnotation, START, StateGraph } from
    "@langchain/langgraph";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { Loci } from "loci-client";
import { LociSaver, LociStore } from "loci-client/langgraph";
import { done, is } from "./check.mjs";

const loci = new Loci({ url: process.env.URL_, token: process.env.TOKEN });
const factCount = async (userId) => {
    let count = 0;
    for await (const _ of loci.fact.listAll({ user_id: userId, limit: 1000 })) count++;
    return count;
};

// ---- A graph that is interrupted, and resumed by another process

function graph() {
    return new StateGraph(MessagesAnnotation)
        .addNode("agent", async (state, config) => {
            await config.store.put(["notes", "anna"], "last", { text: state.messages[0].content });
            return { messages: [new AIMessage(`approved: ${interrupt("Deploy?")}`)] };
        })
        .addEdge(START, "agent").addEdge("agent", END)
        .compile({ checkpointer: new LociSaver(loci), store: new LociStore(loci) });
}
const config = { configurable: { thread_id: "Änne/1" } };
const paused = await graph().invoke({ messages: [new HumanMessage("Deploy it")] }, config);
is("the graph waits", "Deploy?", paused.__interrupt__[0].value);
is("the state is there", ["agent"], (await graph().getState(config)).next);
const resumed = await graph().invoke(new Command({ resume: "yes" }), config);
is("and goes on", ["Deploy it", "approved: yes"], resumed.messages.map((each) => each.content));
is("messages are messages again", true, resumed.messages[1] instanceof AIMessage);
const history = [];
for await (const each of graph().getStateHistory(config)) history.push(each);
is("the history has all steps", true, history.length >= 3);
is("newest first", [], history[0].next);
const early = history.find((each) => each.next[0] === "agent");
const again = await graph().invoke(new Command({ resume: "no" }), early.config);
is("an earlier checkpoint is replayed with its answer", "approved: yes",
    again.messages.at(-1).content);
is("the node wrote to the store", { text: "Deploy it" },
    (await new LociStore(loci).get(["notes", "anna"], "last")).value);

// ---- Large values

const big = "€\"\\\u{1F600}".repeat(250_000); // 1.25 million characters, more than one fact holds.
const saver = new LociSaver(loci, { userId: "large" });
const put = (id, parent, values, newVersions, to = saver) => to.put(
    { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: parent } },
    { ...emptyCheckpoint(), id, channel_values: values,
        channel_versions: { big: 1, ...newVersions } },
    { source: "loop", step: 1, parents: {} }, newVersions);
await put("1", undefined, { big, step: 1 }, { big: 1, step: 1 });
const once = await factCount("large");
const last = await put("2", "1", { big, step: 2 }, { step: 2 });
is("an unchanged value is not stored again", once + 1, await factCount("large"));
await put("3", "2", { big }, { big: 2 }, new LociSaver(loci, { userId: "large" }));
is("nor an equal one by another process", once + 2, await factCount("large"));
const read = await saver.getTuple(last);
is("a large value is read whole", true, read.checkpoint.channel_values.big === big);
is("beside a small one", 2, read.checkpoint.channel_values.step);
is("the newest is found", "3",
    (await saver.getTuple({ configurable: { thread_id: "t" } })).checkpoint.id);
const bytes = new Uint8Array([0, 255, 128, ...Buffer.from("bytes".repeat(100))]);
await put("4", "3", { bytes }, { bytes: 1 });
is("bytes are bytes", bytes,
    (await saver.getTuple({ configurable: { thread_id: "t" } })).checkpoint.channel_values.bytes);
await saver.deleteThread("t");
is("nothing is left of a deleted thread", 0, await factCount("large"));
await put("5", undefined, { big }, { big: 1 });
is("it can be used again", true, (await saver.getTuple(
    { configurable: { thread_id: "t" } })).checkpoint.channel_values.big === big);

// ---- The store

const store = new LociStore(loci, { userId: "store" });
await store.put(["users", "anna"], "city", { text: "Lives in Oslo", rank: 1 });
await store.put(["users", "anna"], "pet", { text: "Has a dog called Rex", rank: 2 });
await store.put(["users", "annabel"], "city", { text: "Lives in Oslo", rank: 3 });
await store.put(["docs"], "a/b=c", { title: "Manual", body: "hidden words" }, ["title"]);
await store.put(["docs"], "secret", { text: "Lives in Oslo" }, false);
const city = await store.get(["users", "anna"], "city");
is("an item", ["city", ["users", "anna"], { text: "Lives in Oslo", rank: 1 }],
    [city.key, city.namespace, city.value]);
is("its time", true, city.createdAt instanceof Date);
is("no item", null, await store.get(["users"], "anna"));
is("odd keys", "Manual", (await store.get(["docs"], "a/b=c")).value.title);
const keys = (items) => items.map((each) => `${each.namespace.join(".")}.${each.key}`);
is("a namespace", ["users.anna.city", "users.anna.pet"],
    keys(await store.search(["users", "anna"])));
is("all below one", 3, (await store.search(["users"])).length);
is("a page", ["users.anna.pet"],
    keys(await store.search(["users"], { limit: 1, offset: 1 })));
is("a filter", ["users.anna.pet", "users.annabel.city"],
    keys(await store.search(["users"], { filter: { rank: { $gte: 2 } } })));
is("an exact filter", ["users.anna.pet"],
    keys(await store.search(["users"], { filter: { rank: 2 } })));
const found = await store.search(["users", "anna"], { query: "dog" });
is("a search by words", "users.anna.pet", keys(found)[0]);
is("has scores", "number", typeof found[0].score);
is("equal texts are several items", ["users.anna.city", "users.annabel.city"],
    keys(await store.search(["users"], { query: "Lives in Oslo", limit: 2 })).sort());
is("only indexed items", [], keys(await store.search(["docs"], { query: "hidden words Oslo" }))
    .filter((each) => each === "docs.secret"));
await store.put(["users", "anna"], "city", { text: "Lives in Bergen", rank: 1 });
const moved = await store.get(["users", "anna"], "city");
is("a change", "Lives in Bergen", moved.value.text);
is("keeps the time of creation", city.createdAt, moved.createdAt);
is("the search finds the new text", "Lives in Bergen",
    (await store.search(["users", "anna"], { query: "Bergen" }))[0].value.text);
is("namespaces", [["docs"], ["users", "anna"], ["users", "annabel"]], await store.listNamespaces());
is("to a depth", [["docs"], ["users"]], await store.listNamespaces({ maxDepth: 1 }));
is("by prefix", [["users", "anna"], ["users", "annabel"]],
    await store.listNamespaces({ prefix: ["users"] }));
is("by suffix", [["users", "anna"]], await store.listNamespaces({ suffix: ["anna"] }));
is("a batch", ["Has a dog called Rex", undefined, 2], await store.batch([
    { namespace: ["users", "anna"], key: "pet" },
    { namespace: ["users", "anna"], key: "new", value: { text: "x" } },
    { matchConditions: [{ matchType: "prefix", path: ["users"] }], limit: 10, offset: 0 },
]).then(([pet, none, names]) => [pet.value.text, none, names.length]));
await store.delete(["users", "anna"], "pet");
is("a deleted item", null, await store.get(["users", "anna"], "pet"));
is("is not found", [], keys(await store.search(["users", "anna"], { query: "dog Rex" }))
    .filter((each) => each.endsWith("pet")));
done();
