// ai_sdk.mjs - the memory of the AI SDK, with the model that its test helpers offer.
import { generateText, isStepCount, jsonSchema, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { Loci } from "loci-client";
import { lociMemory } from "loci-client/ai-sdk";
import { done, is } from "./check.mjs";

const loci = new Loci({ url: process.env.URL_, token: process.env.TOKEN, userId: "sdk" });
await loci.fact.write({ key: "home_city", value: "Oslo", source: "user" });
const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const result = (content, reason = "stop") => ({
    content, usage, warnings: [], finishReason: { unified: reason, raw: reason } });
const mock = new MockLanguageModelV4({
    doGenerate: [
        result([{ type: "tool-call", toolCallId: "c1", toolName: "look", input: "{}" }],
            "tool-calls"),
        result([{ type: "text", text: "You live in Oslo." }]),
    ],
    doStream: async () => ({ stream: simulateReadableStream({ chunks: [
        { type: "stream-start", warnings: [] },
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: "Still " },
        { type: "text-delta", id: "1", delta: "Oslo." },
        { type: "text-end", id: "1" },
        { type: "finish", usage, finishReason: { unified: "stop", raw: "stop" } },
    ] }) }),
});
const model = wrapLanguageModel({
    model: mock, middleware: lociMemory(loci, { sessionId: "chat", budget: 500 }) });
const look = tool({ inputSchema: jsonSchema({ type: "object" }), execute: async () => "seen" });
const { text } = await generateText({
    model, instructions: "Be brief.", prompt: "Where do I live?", tools: { look },
    stopWhen: isStepCount(3),
});
is("the model answers", "You live in Oslo.", text);
const { prompt } = mock.doGenerateCalls[0];
is("the context follows the system prompt", ["system", "system", "user"],
    prompt.map((each) => each.role));
is("the program's own comes first", "Be brief.", prompt[0].content);
is("the context has the fact", true, prompt[1].content.includes("Oslo"));
is("the second step has it, too", true,
    mock.doGenerateCalls[1].prompt[1].content.includes("Oslo"));
const streamed = streamText({ model, prompt: "And now?" });
let all = "";
for await (const piece of streamed.textStream) all += piece;
is("a stream is passed on", "Still Oslo.", all);
const { messages } = await loci.session.messages({ session_id: "chat" });
is("every turn is recorded once", [
    "user: Where do I live?", "assistant: You live in Oslo.", "user: And now?",
    "assistant: Still Oslo.",
], messages.map((each) => `${each.role}: ${each.text}`));
is("messages of the session are not sent twice", false,
    JSON.stringify(mock.doStreamCalls[0].prompt).includes("You live in Oslo."));
const silent = wrapLanguageModel({ model: mock, middleware: lociMemory(loci,
    { sessionId: "chat", hasHistory: false, record: false, budget: 500 }) });
await streamText({ model: silent, prompt: "What did you say about where I live?" }).text;
is("without a history the context has the messages", true,
    JSON.stringify(mock.doStreamCalls[1].prompt).includes("You live in Oslo."));
is("nothing is recorded", 4,
    (await loci.session.messages({ session_id: "chat" })).messages.length);
done();
