// natural_adapters.mts - the adapters with the types of their hosts; it must compile.
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { Agent, run } from "@openai/agents";
import { generateText, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Loci } from "loci-client";
import { lociMemory } from "loci-client/ai-sdk";
import { LociSaver, LociStore } from "loci-client/langgraph";
import { LociSession } from "loci-client/openai-agents";

const loci = new Loci({ userId: "anna" });

const graph = new StateGraph(MessagesAnnotation)
    .addNode("agent", async () => ({ messages: [] }))
    .addEdge(START, "agent")
    .compile({ checkpointer: new LociSaver(loci), store: new LociStore(loci) });
await graph.invoke({ messages: [] }, { configurable: { thread_id: "1" } });

const agent = new Agent({ name: "helper", instructions: "Be brief." });
const { finalOutput } = await run(agent, "Hello", {
    session: new LociSession(loci, { sessionId: "chat" }) });

const model = wrapLanguageModel({
    model: new MockLanguageModelV4(), middleware: lociMemory(loci, { sessionId: "chat" }) });
const { text } = await generateText({ model, prompt: "Where do I live?" });
console.log(finalOutput, text);
