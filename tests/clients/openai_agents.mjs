// openai_agents.mjs - the session of the OpenAI Agents SDK, with a model that answers from a list.
import { Agent, run, setTracingDisabled, tool, Usage } from "@openai/agents";
import { Loci } from "loci-client";
import { LociSession } from "loci-client/openai-agents";
import { done, is } from "./check.mjs";

setTracingDisabled(true);
const loci = new Loci({ url: process.env.URL_, token: process.env.TOKEN, userId: "agents" });
const said = (text) => ({ type: "message", role: "assistant", status: "completed",
    content: [{ type: "output_text", text }] });
const inputs = [];
const answers = [
    [{ type: "function_call", callId: "call_1", name: "weather", status: "completed",
        arguments: '{"city":"Oslo"}' }],
    [said("It rains in Oslo.")],
    [said("You asked about Oslo.")],
];
const model = {
    async getResponse(request) {
        inputs.push(request.input);
        return { usage: new Usage(), output: answers[inputs.length - 1] };
    },
};
const weather = tool({
    name: "weather", description: "Weather of a city", strict: false,
    parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
    execute: async () => "rain",
});
const agent = new Agent({ name: "helper", model, tools: [weather] });
const session = () => new LociSession(loci, { sessionId: "chat" });
is("the agent answers", "It rains in Oslo.",
    (await run(agent, "How is the weather in Oslo?", { session: session() })).finalOutput);
await run(agent, "Which city was it?", { session: session() });
is("the next run has the turn", [
    "message", "function_call", "function_call_result", "message", "message",
], inputs[2].map((each) => each.type ?? "message"));
const items = await session().getItems();
is("all items are stored", 6, items.length);
is("the call is whole", '{"city":"Oslo"}', items[1].arguments);
is("the last two", items.slice(-2), await session().getItems(2));
const { messages } = await loci.session.messages({ session_id: "chat" });
is("messages have roles and texts", [
    "user: How is the weather in Oslo?", 'assistant: {"city":"Oslo"}', "tool: rain",
    "assistant: It rains in Oslo.", "user: Which city was it?", "assistant: You asked about Oslo.",
], messages.map((each) => `${each.role}: ${each.text}`));
const { results } = await loci.session.search({ query: "rains in Oslo" });
is("they are searched", true, results.some((each) => each.text === "It rains in Oslo."));

is("an item is popped", said("You asked about Oslo.").content[0].text,
    (await session().popItem()).content[0].text);
is("the others stay", 5, (await session().getItems()).length);
const large = { type: "function_call_result", name: "read", callId: "call_2", status: "completed",
    output: { type: "text", text: "x".repeat(200_000) } };
const wide = { type: "message", role: "user", content: Array.from({ length: 50 },
    (_, index) => ({ type: "input_text", text: `${index} ${"word ".repeat(100)}` })) };
const empty = { type: "reasoning", content: [], providerData: { id: "rs_1" } };
await session().addItems([large, wide, empty]);
is("large, wide and empty items come back", [large, wide, empty], await session().getItems(3));
await session().addItems(Array.from({ length: 150 }, (_, index) => said(`answer ${index}`)));
is("many items", 158, (await session().getItems()).length);
await loci.session.append({ session_id: "chat", role: "user", text: "From elsewhere" });
is("a message of another program", "From elsewhere",
    (await session().getItems(1))[0].content[0].text);
await session().clearSession();
is("a cleared session", [], await session().getItems());
await session().clearSession();
await session().addItems([said("only")]);
is("the only item is popped", "only", (await session().popItem()).content[0].text);
is("then there is none", undefined, await session().popItem());
is("its name", "chat", await session().getSessionId());
done();
