// Errors of calls. Decide by `code`; show `message` to people.

import type { ErrorCode, JsonObject, JsonValue } from "./types.js";

export interface ErrorFacts {
    status?: number | undefined;
    hint?: string | undefined;
    retryAfterMs?: number | undefined;
    traceId?: string | undefined;
    details?: JsonObject | undefined;
    cause?: unknown;
}

/** The daemon refused a call, which changed nothing. */
export class LociError extends Error {
    /** Stable code; `connection` and `timeout` are those of the client. */
    readonly code: ErrorCode | "connection" | "timeout";
    /** HTTP status of the answer. */
    readonly status: number | undefined;
    /** Next step, if the daemon knows one. */
    readonly hint: string | undefined;
    /** Pause in milliseconds that the daemon asks for before the next attempt. */
    readonly retryAfterMs: number | undefined;
    /** Id of the request in the daemon's log. */
    readonly traceId: string | undefined;
    /** Further members of the error, such as `head_seq` of a conflict. */
    readonly details: JsonObject;

    constructor(code: LociError["code"], message: string, facts: ErrorFacts = {}) {
        super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
        this.name = new.target.name;
        this.code = code;
        this.status = facts.status;
        this.hint = facts.hint;
        this.retryAfterMs = facts.retryAfterMs;
        this.traceId = facts.traceId;
        this.details = facts.details ?? {};
    }
}

/** No daemon was reached, or the answer broke off. It is not known whether the call was run. */
export class LociConnectionError extends LociError {
    constructor(message: string, cause?: unknown) {
        super("connection", message, { cause });
    }
}

/** No answer arrived within `timeoutMs`. It is not known whether the call was run. */
export class LociTimeoutError extends LociError {
    constructor(message: string) {
        super("timeout", message);
    }
}

const OWN = new Set(["type", "title", "status", "detail", "code", "trace_id", "hint",
    "retry_after_ms"]);

/** The error in an answer with this status: a problem document, or the text of a proxy. */
export function errorOf(status: number, text: string, retryAfter: string | undefined): LociError {
    const seconds = Number(retryAfter);
    let problem: JsonObject = {};
    try {
        const value = JSON.parse(text) as JsonValue;
        if (typeof value === "object" && value !== null && !Array.isArray(value)) problem = value;
    } catch {
        // Not of the daemon: the status is all there is.
    }
    const textOf = (name: string): string | undefined =>
        typeof problem[name] === "string" ? problem[name] : undefined;
    const wait = problem["retry_after_ms"];
    const code = (textOf("code") ?? (status === 503 ? "unavailable" : "internal")) as ErrorCode;
    return new LociError(code, textOf("detail") ?? `HTTP status ${status}`, {
        status,
        hint: textOf("hint"),
        retryAfterMs: typeof wait === "number" ? wait
            : retryAfter !== undefined && Number.isFinite(seconds) ? seconds * 1000 : undefined,
        traceId: textOf("trace_id"),
        details: Object.fromEntries(Object.entries(problem).filter(([name]) => !OWN.has(name))),
    });
}
