// A session for the OpenAI Agents SDK: its items are the messages of a loci session.
//
//     await run(agent, "Hello", { session: new LociSession(loci, { sessionId: "chat-42" }) })
//
// The text of a message is the longest text of its item, so that search, contexts and summaries
// read what was said. The rest of the item is in the metadata of the message; if it is larger than
// metadata may be, the text is the whole item as JSON.

import type { AgentInputItem, Session } from "@openai/agents";
import type { Loci } from "./client.js";
import { LociError } from "./errors.js";
import type { Message } from "./types.js";

export interface LociSessionOptions {
    /** Id of the session, or a name of your own for it. */
    sessionId: string;
    /** User of the session (default: that of the client). */
    userId?: string | undefined;
}

interface NewMessage {
    role: "user" | "assistant" | "tool" | "system";
    text: string;
    metadata: { item: unknown; path?: (string | number)[] };
}

const METADATA_BYTES = 15_000; // Metadata may have 16 KB.
const APPEND_MESSAGES = 100;
const PAGE = 1000;
const TEXTS = ["content", "output", "arguments"];

/** The path of the longest text below `value`. */
function longestText(value: unknown): (string | number)[] | undefined {
    let best: (string | number)[] | undefined, length = 0;
    const visit = (each: unknown, path: (string | number)[]): void => {
        if (typeof each === "string") {
            if (each.length > length) [best, length] = [path, each.length];
        } else if (each !== null && typeof each === "object") {
            for (const [member, inner] of Object.entries(each)) {
                if (member === "type") continue;
                visit(inner, [...path, Array.isArray(each) ? Number(member) : member]);
            }
        }
    };
    for (const member of TEXTS) visit((value as Record<string, unknown>)[member], [member]);
    return best;
}

/** Puts `text` at `path` and returns what was there. */
function replaceAt(item: unknown, path: readonly (string | number)[], text: unknown): unknown {
    let parent = item as Record<string | number, unknown>;
    for (const member of path.slice(0, -1)) parent = parent[member] as typeof parent;
    const last = path[path.length - 1]!;
    const former = parent[last];
    parent[last] = text;
    return former;
}

function roleOf(item: AgentInputItem): NewMessage["role"] {
    if ("role" in item) return item.role;
    return item.type?.endsWith("_result") || item.type?.endsWith("_output") ? "tool" : "assistant";
}

function messageOf(item: AgentInputItem): NewMessage {
    const role = roleOf(item);
    const copy = JSON.parse(JSON.stringify(item)) as unknown;
    const path = longestText(copy);
    const text = path === undefined ? `(${item.type ?? "item"})`
        : replaceAt(copy, path, null) as string;
    const metadata = { item: copy, ...(path === undefined ? {} : { path }) };
    return Buffer.byteLength(JSON.stringify(metadata)) <= METADATA_BYTES
        ? { role, text, metadata } : { role, text: JSON.stringify(item), metadata: { item: null } };
}

function itemOf(message: Message): AgentInputItem {
    const metadata = message.metadata as NewMessage["metadata"] | undefined;
    if (metadata?.item === undefined) {
        // Another program wrote it.
        const part = message.role === "assistant" ? "output_text" : "input_text";
        return message.role === "system" ? { role: "system", content: message.text } : {
            type: "message", role: message.role === "assistant" ? "assistant" : "user",
            ...(message.role === "assistant" ? { status: "completed" } : {}),
            content: [{ type: part, text: message.text }],
        } as AgentInputItem;
    }
    if (metadata.item === null) return JSON.parse(message.text) as AgentInputItem;
    if (metadata.path) replaceAt(metadata.item, metadata.path, message.text);
    return metadata.item as AgentInputItem;
}

/** A session of the OpenAI Agents SDK. Items are durable when `addItems` returns. */
export class LociSession implements Session {
    readonly #loci: Loci;
    readonly #place: { session_id: string; user_id?: string | undefined };

    constructor(loci: Loci, options: LociSessionOptions) {
        this.#loci = loci;
        this.#place = { session_id: options.sessionId, user_id: options.userId };
    }

    async getSessionId(): Promise<string> {
        return this.#place.session_id;
    }

    /** Reads the whole session, also with a limit: loci lists messages oldest first. */
    async getItems(limit?: number): Promise<AgentInputItem[]> {
        if (limit !== undefined && limit <= 0) return [];
        const messages = await this.#messages();
        return (limit === undefined ? messages : messages.slice(-limit)).map(itemOf);
    }

    /** Appends up to 100 items in one transaction; more are several. */
    async addItems(items: AgentInputItem[]): Promise<void> {
        for (let at = 0; at < items.length; at += APPEND_MESSAGES) {
            const messages = items.slice(at, at + APPEND_MESSAGES).map(messageOf);
            await this.#loci.session.append({ ...this.#place, messages });
        }
    }

    /** Takes the last item back, and the facts and memories that were derived from it. */
    async popItem(): Promise<AgentInputItem | undefined> {
        const messages = await this.#messages();
        const last = messages[messages.length - 1], before = messages[messages.length - 2];
        if (last === undefined) return undefined;
        if (before === undefined) await this.clearSession();
        else await this.#loci.session.rewind({ ...this.#place, message_id: before.id });
        return itemOf(last);
    }

    /** Forgets the session for good. */
    async clearSession(): Promise<void> {
        try {
            await this.#loci.session.forget(this.#place);
        } catch (error) {
            if (!isMissing(error)) throw error;
        }
    }

    async #messages(): Promise<Message[]> {
        const messages: Message[] = [];
        try {
            const all = this.#loci.session.messagesAll({ ...this.#place, limit: PAGE });
            for await (const message of all) messages.push(message);
        } catch (error) {
            if (!isMissing(error)) throw error;
        }
        return messages;
    }
}

function isMissing(error: unknown): boolean {
    return error instanceof LociError && error.code === "not_found";
}
