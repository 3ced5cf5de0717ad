// The client: sends calls, repeats them where that is safe, pages, batches and streams.
//
// A repeat is safe if the operation only reads, or if the daemon recognises it by its idempotency
// key. Each write therefore gets a key unless retries are off; then it is sent exactly once. The
// few writes that take no key are repeated only if the daemon refused them.

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Caller, CallOptions, StreamMessage, StreamOptions } from "./caller.js";
import { errorOf, LociConnectionError, LociError, LociTimeoutError } from "./errors.js";
import { OPERATIONS, Rooms, VERSION } from "./operations.js";
import type { Event, JsonObject, OperationName, Operations } from "./types.js";
import { LineReader, SseReader } from "./sse.js";
import { Limit, Transport } from "./transport.js";
import type { Request } from "./transport.js";

export interface LociOptions {
    /** Such as `https://loci.example.com`, or `unix:PATH`; default LOCI_URL, or 127.0.0.1:7077. */
    url?: string | undefined;
    /** Path of the daemon's Unix socket, instead of `url`. */
    socket?: string | undefined;
    /** Token of the program; default LOCI_TOKEN. A socket needs none. */
    token?: string | undefined;
    /** Maximum time of a call with its retries, in milliseconds (default 30000; 0: no limit). */
    timeoutMs?: number | undefined;
    /** Maximum number of retries after the first attempt (default 3). */
    retries?: number | undefined;
    /** Name and version of your program, which its events record. */
    client?: string | undefined;
    /** User of all calls that do not name one. */
    userId?: string | undefined;
    /** Persona of all calls that do not name one. */
    personaId?: string | undefined;
    /** Session of all calls that do not name one. */
    sessionId?: string | undefined;
}

/** One call of a batch. An argument may be such as "$0.id": a member of an earlier answer. */
export type BatchCall = {
    [Name in OperationName]: { op: Name; args?: Operations[Name]["args"] }
}[OperationName];

export type BatchAnswers<Calls extends readonly BatchCall[]> = {
    [Index in keyof Calls]: Operations[Calls[Index]["op"]]["answer"]
};

export interface BatchOptions extends CallOptions {
    /** A repeat with the same key changes nothing and returns the first answers. */
    idempotencyKey?: string | undefined;
}

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
const STREAM_PAUSE_MS = 1000;
const MAX_STREAM_PAUSE_MS = 30_000;
const HEARTBEAT_MS = 15_000;

/** Exponential back-off with jitter, so that clients do not return together. */
function pause(attempt: number, first: number, max: number): number {
    return Math.min(max, first * 2 ** attempt) * (0.5 + Math.random() / 2);
}

function isWorthRetry(error: unknown): error is LociError {
    return error instanceof LociConnectionError ||
        (error instanceof LociError && error.code === "unavailable");
}

class Sender implements Caller {
    readonly transport: Transport;
    readonly options: LociOptions;
    readonly #headers: Record<string, string>;

    constructor(options: LociOptions) {
        const env = process.env;
        this.options = options;
        this.transport = new Transport(options.socket !== undefined ? `unix:${options.socket}`
            : options.url ?? env["LOCI_URL"] ?? "http://127.0.0.1:7077");
        const token = options.token ?? env["LOCI_TOKEN"];
        this.#headers = {
            accept: "application/json",
            "loci-client": options.client ?? `loci-node/${VERSION}`,
            ...(token ? { authorization: `Bearer ${token}` } : {}),
        };
    }

    async call<Name extends OperationName>(
        name: Name, args: Operations[Name]["args"], options: CallOptions = {},
    ): Promise<Operations[Name]["answer"]> {
        const traits = OPERATIONS[name];
        if (traits === undefined) throw new TypeError(`there is no operation ${String(name)}`);
        const given = this.#scoped(traits.scope, args);
        return this.#ask({
            path: `/v1/call/${name}`,
            body: given,
            needsKey: traits.lost === "key" && typeof given["request_id"] !== "string",
            mayRepeat: traits.lost !== "fail",
        }, options) as Promise<Operations[Name]["answer"]>;
    }

    async batch(calls: readonly BatchCall[], options: BatchOptions = {}): Promise<unknown[]> {
        const answer = await this.#ask({
            path: "/v1/batch",
            body: {
                calls: calls.map((each) => ({
                    op: each.op,
                    args: this.#scoped(OPERATIONS[each.op]?.scope ?? [], each.args ?? {}),
                })),
            },
            needsKey: calls.some((each) => OPERATIONS[each.op]?.lost !== "repeat"),
            mayRepeat: true,
            key: options.idempotencyKey,
        }, options) as { answers: unknown[] };
        return answer.answers;
    }

    async *pages<Item>(
        name: OperationName, member: string, args: object, notWithCursor: readonly string[],
        options?: CallOptions,
    ): AsyncGenerator<Item, void, undefined> {
        let next: Record<string, unknown> = { ...args };
        for (;;) {
            const page = await this.call(name, next as never, options) as unknown as
                Record<string, unknown>;
            yield* page[member] as Item[];
            if (typeof page["next_cursor"] !== "string") return;
            next = { ...next, cursor: page["next_cursor"] };
            for (const other of notWithCursor) delete next[other];
        }
    }

    async *lines(
        name: OperationName, options: CallOptions = {},
    ): AsyncGenerator<JsonObject, void, undefined> {
        // The reader decides how long it takes: only a timeout of the call itself is a limit.
        const limit = new Limit(options.timeoutMs ?? 0, options.signal);
        try {
            const answer = await this.transport.open({
                method: "POST", path: `/v1/call/${name}`, headers: this.#headers, body: "{}",
            }, limit);
            await this.#refuse(answer, limit);
            const reader = new LineReader();
            for await (const piece of this.transport.pieces(answer, limit)) {
                for (const line of reader.add(piece)) yield JSON.parse(line) as JsonObject;
            }
            if (reader.rest) yield JSON.parse(reader.rest) as JsonObject;
        } finally {
            limit.close();
        }
    }

    async *stream(
        path: string, options: StreamOptions = {},
    ): AsyncGenerator<StreamMessage, void, undefined> {
        const { types, signal, ...rest } = options;
        const scope = { user_id: this.options.userId, session_id: this.options.sessionId };
        const query = new URLSearchParams({ stream: "1" });
        for (const [name, value] of Object.entries({ ...scope, ...defined(rest) })) {
            if (value !== undefined) query.set(name, String(value));
        }
        if (types !== undefined) query.set("types", types.join(","));
        const hasPlace = query.has("user_id") || query.has("session_id");
        if (hasPlace && !query.has("after_seq")) {
            // A connection that breaks before the first event must have a place to return to.
            const user_id = query.get("user_id");
            const { head_seq } = await this.call("event.list", { user_id, limit: 1 }, { signal });
            query.set("after_seq", String(head_seq));
        }
        const silenceMs = 2 * (options.heartbeat_ms ?? HEARTBEAT_MS) + 5000;
        let lastId: string | undefined;
        let firstPauseMs = STREAM_PAUSE_MS;
        let failures = 0;
        for (let connections = 0; ; connections++) {
            // The daemon sends signs of life: a connection without any is dead.
            const limit = new Limit(silenceMs, signal);
            try {
                const answer = await this.transport.open({
                    method: "GET",
                    path: `${path}?${query}`,
                    headers: {
                        ...this.#headers,
                        accept: "text/event-stream",
                        ...(lastId === undefined ? {} : { "last-event-id": lastId }),
                    },
                }, limit);
                await this.#refuse(answer, limit);
                // Events of all users have no common order to resume from.
                if (connections > 0 && !hasPlace && lastId === undefined) {
                    yield { kind: "reset", reason: "the stream was connected again" };
                }
                const reader = new SseReader();
                for await (const piece of this.transport.pieces(answer, limit)) {
                    failures = 0;
                    limit.renew();
                    for (const message of reader.add(piece)) {
                        if (message.id !== undefined) lastId = message.id;
                        const read = messageOf(message.event, message.data);
                        limit.hold();
                        yield read;
                        limit.renew();
                    }
                    firstPauseMs = reader.retryMs ?? firstPauseMs;
                }
            } catch (error) {
                if (!isWorthRetry(error) && !(error instanceof LociTimeoutError)) throw error;
            } finally {
                limit.close();
            }
            const between = new Limit(0, signal);
            try {
                await between.sleep(pause(failures++, firstPauseMs, MAX_STREAM_PAUSE_MS));
            } finally {
                between.close();
            }
        }
    }

    #scoped(scope: readonly string[], args: object): Record<string, unknown> {
        const given: Record<string, unknown> = { ...args };
        const own: Record<string, unknown> = {
            user_id: this.options.userId,
            persona_id: this.options.personaId,
            session_id: this.options.sessionId,
        };
        for (const name of scope) given[name] ??= own[name];
        return given;
    }

    async #ask(
        call: {
            path: string; body: unknown; needsKey: boolean; mayRepeat: boolean;
            key?: string | undefined;
        },
        options: CallOptions,
    ): Promise<unknown> {
        const retries = options.retries ?? this.options.retries ?? 3;
        const key = call.key ?? (call.needsKey && retries > 0 ? randomUUID() : undefined);
        const headers = key === undefined ? this.#headers
            : { ...this.#headers, "idempotency-key": key };
        const request: Request = {
            method: "POST", path: call.path, headers, body: JSON.stringify(call.body),
        };
        const limit = new Limit(
            options.timeoutMs ?? this.options.timeoutMs ?? 30_000, options.signal);
        try {
            for (let attempt = 0; ; attempt++) {
                try {
                    const answer = await this.transport.open(request, limit);
                    await this.#refuse(answer, limit);
                    return JSON.parse(await this.transport.text(answer, limit));
                } catch (error) {
                    if (attempt >= retries || !isWorthRetry(error)) throw error;
                    if (!call.mayRepeat && error instanceof LociConnectionError) throw error;
                    const own = pause(attempt, FIRST_PAUSE_MS, MAX_PAUSE_MS);
                    await limit.sleep(Math.max(error.retryAfterMs ?? 0, own));
                }
            }
        } finally {
            limit.close();
        }
    }

    /** Throws the error of an answer that is one. */
    async #refuse(answer: IncomingMessage, limit: Limit): Promise<void> {
        const status = answer.statusCode ?? 0;
        if (status >= 200 && status < 300) return;
        const text = await this.transport.text(answer, limit);
        throw errorOf(status, text, answer.headers["retry-after"]);
    }
}

function defined(values: object): object {
    return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

function messageOf(event: string, data: string): StreamMessage {
    const value = JSON.parse(data) as JsonObject;
    if (event === "reset") return { kind: "reset", reason: String(value["reason"]) };
    if (event === "end") {
        throw new LociError("unauthenticated",
            `the daemon ended the stream: ${String(value["reason"])}`);
    }
    return { kind: "event", event: value as unknown as Event };
}

/**
 * A client of a loci daemon. Operations are grouped by room: `loci.fact.write({ key, value })`.
 * It keeps connections open between calls, and is made once per program.
 */
export class Loci extends Rooms {
    readonly #sender: Sender;

    constructor(options: LociOptions = {}) {
        const sender = new Sender(options);
        super(sender);
        this.#sender = sender;
    }

    /** Calls an operation by its name. */
    call<Name extends OperationName>(
        name: Name, args: Operations[Name]["args"], options?: CallOptions,
    ): Promise<Operations[Name]["answer"]> {
        return this.#sender.call(name, args, options);
    }

    /** Runs up to 100 calls of one user in one transaction: all of them or none. */
    batch<Calls extends readonly BatchCall[] | []>(
        calls: Calls, options?: BatchOptions,
    ): Promise<BatchAnswers<Calls>> {
        return this.#sender.batch(calls, options) as Promise<BatchAnswers<Calls>>;
    }

    /** Closes idle connections. A program may also just end. */
    close(): void {
        this.#sender.transport.close();
    }
}
