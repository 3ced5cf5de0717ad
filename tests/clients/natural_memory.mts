// natural_memory.mts - the memory tool with the types of Anthropic's SDK; it must compile.
import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { Loci } from "loci-client";
import { memoryToolHandlers, memoryToolResult } from "loci-client/memory-tool";

const loci = new Loci({ userId: "anna", personaId: "planner" });
const message = await new Anthropic().beta.messages.toolRunner({
    model: "claude-sonnet-4-5",
    max_tokens: 1000,
    messages: [{ role: "user", content: "Continue with the project." }],
    tools: [betaMemoryTool(memoryToolHandlers(loci))],
});
const content: Anthropic.Beta.BetaToolResultBlockParam[] = [];
for (const block of message.content) {
    if (block.type === "tool_use") content.push(await memoryToolResult(loci, block));
}
