// frame_state.mjs - LangGraph with its SQLite checkpointer as the peer of bench/frame_state, which
// starts it.
//
// The graph has one node, which answers a message; with "suspend" it asks for approval first
// (interrupt()), and the next call resumes it (Command). Each turn is one invoke() of a thread, as
// in LangGraph's documentation. Each line on stdin is a verb and JSON:
//
//     open [PATH, SYNCHRONOUS]   a new database; "NORMAL" is the package's own choice, "FULL" syncs
//                                every commit as loci does
//     turn [THREAD, USER, ANSWER]   one turn
//     pause THREAD               milliseconds from the call that suspends to the end of the one
//                                that resumes
//     close                      the bytes of the database, after a checkpoint of its WAL
//
// Each line is answered by one line. The packages come from npm by name and version into
// build/npm-frame-state; better-sqlite3 compiles its native part if it finds no ready one.
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { install } from "./lib/npm.mjs";

const PACKAGES = ["@langchain/langgraph@1.4.10", "@langchain/langgraph-checkpoint-sqlite@1.0.4",
                  "@langchain/langgraph-checkpoint@1.1.5", "@langchain/core@1.2.13"];

process.env.LANGSMITH_TRACING = process.env.LANGCHAIN_TRACING_V2 = "false";
globalThis.fetch = () => Promise.reject(new Error("this benchmark has no network"));

const npm = createRequire(join(install("build/npm-frame-state", PACKAGES), "any.js"));
const { StateGraph, MessagesAnnotation, Command, interrupt, START, END } =
    npm("@langchain/langgraph");
const { SqliteSaver } = npm("@langchain/langgraph-checkpoint-sqlite");
const { HumanMessage, AIMessage } = npm("@langchain/core/messages");

let path, saver, graph, answer, suspends;

function open(file, synchronous) {
    path = file;
    saver = SqliteSaver.fromConnString(path);
    saver.setup();
    saver.db.pragma(`synchronous = ${synchronous}`);
    graph = new StateGraph(MessagesAnnotation)
        .addNode("agent", () => {
            const approval = suspends ? interrupt("waits for approval") : "";
            return { messages: [new AIMessage(answer + approval)] };
        })
        .addEdge(START, "agent")
        .addEdge("agent", END)
        .compile({ checkpointer: saver });
    return "ok";
}

function invoke(thread, input) {
    return graph.invoke(input, { configurable: { thread_id: thread } });
}

async function turn(thread, user, text) {
    suspends = false;
    answer = text;
    await invoke(thread, { messages: [new HumanMessage(user)] });
    return "ok";
}

async function pause(thread) {
    suspends = true;
    answer = "approved: ";
    const start = performance.now();
    const paused = await invoke(thread, { messages: [new HumanMessage("deploy")] });
    const resumed = await invoke(thread, new Command({ resume: "yes" }));
    const took = performance.now() - start;
    if (paused.__interrupt__ === undefined || !resumed.messages.at(-1).content.endsWith("yes"))
        throw new Error("the graph was not suspended and resumed");
    return took;
}

function close() {
    saver.db.pragma("wal_checkpoint(TRUNCATE)");
    saver.db.close();
    return statSync(path).size;
}

const verbs = { open, turn, pause, close, ready: () => "ready" };
for await (const line of createInterface({ input: process.stdin })) {
    const verb = line.split(" ", 1)[0];
    console.log(await verbs[verb](...JSON.parse(line.slice(verb.length) || "[]")));
}
