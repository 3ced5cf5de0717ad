// Memory for the Vercel AI SDK: a middleware that adds what loci knows to each call of a model and
// records each turn.
//
//     const model = wrapLanguageModel({
//         model: openai("gpt-5"), middleware: lociMemory(loci, { sessionId: "chat-42" }) })
//     await generateText({ model, prompt: "Where do I live?" })

import type { LanguageModelMiddleware } from "ai";
import type { Loci } from "./client.js";

export interface LociMemoryOptions {
    /** Session that turns are appended to: its id, or a name of your own. */
    sessionId: string;
    /** User of the context and the session (default: that of the client). */
    userId?: string | undefined;
    /** Maximum number of tokens of the context (default 2000). */
    budget?: number | undefined;
    /**
     * Whether the program sends the messages of the session itself (default true). Otherwise the
     * context has those of them that the question is about.
     */
    hasHistory?: boolean | undefined;
    /** Whether to append turns to the session (default true). */
    record?: boolean | undefined;
}

type Generate = NonNullable<LanguageModelMiddleware["wrapGenerate"]>;
type Stream = NonNullable<LanguageModelMiddleware["wrapStream"]>;
type Prompt = Parameters<Generate>[0]["params"]["prompt"];
type StreamPart = Awaited<ReturnType<Stream>>["stream"] extends ReadableStream<infer Part> ? Part
    : never;

function textOf(parts: readonly { type: string }[]): string {
    return parts.flatMap((part) => part.type === "text" && "text" in part ? [part.text] : [])
        .join("\n");
}

/** The text of the last message of the user; "" if there is none. */
function questionOf(prompt: Prompt): string {
    for (let index = prompt.length - 1; index >= 0; index--) {
        const message = prompt[index]!;
        if (message.role === "user") return textOf(message.content);
    }
    return "";
}

/**
 * A middleware for `wrapLanguageModel`. The context follows the system prompt as a system message;
 * recorded text in it is fenced. A call whose last message is a tool's continues a turn.
 */
export function lociMemory(loci: Loci, options: LociMemoryOptions): LanguageModelMiddleware {
    const place = { session_id: options.sessionId, user_id: options.userId };

    const record = async (prompt: Prompt, answer: string): Promise<void> => {
        if (options.record === false) return;
        const messages: { role: "user" | "assistant"; text: string }[] = [];
        const question = prompt[prompt.length - 1]?.role === "user" ? questionOf(prompt) : "";
        if (question) messages.push({ role: "user", text: question });
        if (answer) messages.push({ role: "assistant", text: answer });
        if (messages.length > 0) await loci.session.append({ ...place, messages });
    };

    return {
        specificationVersion: "v4",

        transformParams: async ({ params }) => {
            const query = questionOf(params.prompt);
            if (!query) return params;
            const { text } = await loci.context.build({
                query,
                budget: options.budget,
                format: "markdown",
                user_id: options.userId,
                without_session: options.hasHistory === false ? undefined : options.sessionId,
            });
            if (!text) return params;
            const first = params.prompt.findIndex((message) => message.role !== "system");
            return {
                ...params,
                prompt: [
                    ...params.prompt.slice(0, first),
                    { role: "system", content: text },
                    ...params.prompt.slice(first),
                ],
            };
        },

        wrapGenerate: async ({ doGenerate, params }) => {
            const result = await doGenerate();
            await record(params.prompt, textOf(result.content));
            return result;
        },

        wrapStream: async ({ doStream, params }) => {
            const { stream, ...rest } = await doStream();
            let answer = "";
            return {
                ...rest,
                stream: stream.pipeThrough(new TransformStream<StreamPart, StreamPart>({
                    transform(part, controller) {
                        if (part.type === "text-delta") answer += part.delta;
                        controller.enqueue(part);
                    },
                    // The stream ends when the turn is stored. A cancelled one is not recorded.
                    flush: () => record(params.prompt, answer),
                })),
            };
        },
    };
}
