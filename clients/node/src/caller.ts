// The contract between the generated rooms and the code that sends their calls.

import type { Event, JsonObject, OperationName, Operations } from "./types.js";

/** The part of an AbortSignal that is used, so that no library of types is needed. */
export interface AbortSignalLike {
    readonly aborted: boolean;
    readonly reason?: unknown;
    addEventListener(type: "abort", listener: () => void): void;
    removeEventListener(type: "abort", listener: () => void): void;
}

export interface CallOptions {
    /** Maximum time of the call with all its retries, in milliseconds; 0 means no limit. */
    timeoutMs?: number | undefined;
    /** Ends the call; it then throws the reason of the signal. */
    signal?: AbortSignalLike | undefined;
    /** Maximum number of retries after the first attempt. */
    retries?: number | undefined;
}

export interface StreamOptions {
    /** User whose events are sent; without one, new events of all users. */
    user_id?: string | undefined;
    /** Only events of this session. */
    session_id?: string | undefined;
    /** Only events with a greater seq; 0 means all (default: only new events). */
    after_seq?: number | undefined;
    /** Only events of these types, such as `fact.written`. */
    types?: readonly string[] | undefined;
    /** Milliseconds without an event after which a sign of life is sent (default 15000). */
    heartbeat_ms?: number | undefined;
    /** Ends the stream; the iterator then throws the reason of the signal. */
    signal?: AbortSignalLike | undefined;
}

/** An event, or the news that events were missed and the state must be read again. */
export type StreamMessage =
    | { readonly kind: "event"; readonly event: Event }
    | { readonly kind: "reset"; readonly reason: string };

export interface Caller {
    call<Name extends OperationName>(
        name: Name, args: Operations[Name]["args"], options?: CallOptions,
    ): Promise<Operations[Name]["answer"]>;
    pages<Item>(
        name: OperationName, member: string, args: object, notWithCursor: readonly string[],
        options?: CallOptions,
    ): AsyncGenerator<Item, void, undefined>;
    lines(name: OperationName, options?: CallOptions): AsyncGenerator<JsonObject, void, undefined>;
    stream(path: string, options?: StreamOptions): AsyncGenerator<StreamMessage, void, undefined>;
}
