// HTTP over TCP, TLS or a Unix socket: one request, one answer, no retries.

import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { AbortSignalLike } from "./caller.js";
import { LociConnectionError, LociTimeoutError } from "./errors.js";

export interface Request {
    method: "GET" | "POST";
    path: string;
    headers: Record<string, string>;
    body?: string | undefined;
}

/** The time and the signal that end a call, for all of its attempts. 0 means no limit of time. */
export class Limit {
    readonly #timeoutMs: number;
    readonly #signal: AbortSignalLike | undefined;
    readonly #onAbort = (): void => this.#end(this.#signal?.reason ?? abortError());
    readonly #listeners = new Set<(error: unknown) => void>();
    #timer: NodeJS.Timeout | undefined;
    #error: unknown;
    #hasEnded = false;

    constructor(timeoutMs: number, signal: AbortSignalLike | undefined) {
        this.#timeoutMs = timeoutMs;
        this.#signal = signal;
        if (signal?.aborted) this.#onAbort();
        else signal?.addEventListener("abort", this.#onAbort);
        this.renew();
    }

    /** Gives the whole time again. */
    renew(): void {
        this.hold();
        if (this.#timeoutMs <= 0 || this.#hasEnded) return;
        this.#timer = setTimeout(
            () => this.#end(new LociTimeoutError(`no answer within ${this.#timeoutMs} ms`)),
            this.#timeoutMs);
    }

    /** Stops the clock until renew(). */
    hold(): void {
        clearTimeout(this.#timer);
    }

    /** Throws if the end was reached. */
    check(): void {
        if (this.#hasEnded) throw this.#error;
    }

    /** Calls back at the end, once; the result takes the call back. */
    onEnd(listener: (error: unknown) => void): () => void {
        if (this.#hasEnded) listener(this.#error);
        else this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
    }

    sleep(ms: number): Promise<void> {
        return new Promise((resolve, reject) => {
            const timer = setTimeout(() => {
                stop();
                resolve();
            }, ms);
            const stop = this.onEnd((error) => {
                clearTimeout(timer);
                reject(error);
            });
        });
    }

    close(): void {
        this.hold();
        this.#signal?.removeEventListener("abort", this.#onAbort);
        this.#listeners.clear();
    }

    #end(error: unknown): void {
        if (this.#hasEnded) return;
        this.#hasEnded = true;
        this.#error = error;
        for (const listener of [...this.#listeners]) listener(error);
        this.close();
    }
}

function abortError(): Error {
    return Object.assign(new Error("This operation was aborted"), { name: "AbortError" });
}

export class Transport {
    readonly #base: RequestOptions;
    readonly #path: string;
    readonly #request: typeof httpRequest;
    readonly #agent: HttpAgent;
    readonly #where: string;

    /** `url` begins with http:// or https:// and may have a path, or it is unix:PATH. */
    constructor(url: string) {
        this.#where = url;
        if (url.startsWith("unix:")) {
            this.#base = { socketPath: url.slice("unix:".length), headers: { host: "localhost" } };
            this.#path = "";
            this.#request = httpRequest;
            this.#agent = new HttpAgent({ keepAlive: true });
            return;
        }
        const parsed = new URL(url);
        if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
            throw new TypeError(`url ${url} does not begin with http://, https:// or unix:`);
        }
        const isTls = parsed.protocol === "https:";
        this.#base = {
            host: parsed.hostname.replace(/^\[(.*)\]$/, "$1"),
            port: parsed.port || (isTls ? 443 : 80),
        };
        this.#path = parsed.pathname.replace(/\/+$/, "");
        this.#request = isTls ? httpsRequest : httpRequest;
        this.#agent = new (isTls ? HttpsAgent : HttpAgent)({ keepAlive: true });
    }

    /** Sends a request and returns at the end of the headers of its answer. */
    open(request: Request, limit: Limit): Promise<IncomingMessage> {
        return new Promise((resolve, reject) => {
            limit.check();
            const body = request.body;
            const sent: ClientRequest = this.#request({
                ...this.#base,
                method: request.method,
                path: this.#path + request.path,
                agent: this.#agent,
                headers: {
                    ...this.#base.headers as Record<string, string> | undefined,
                    ...request.headers,
                    ...(body === undefined ? {} : {
                        "content-type": "application/json",
                        "content-length": String(Buffer.byteLength(body)),
                    }),
                },
            });
            let stop = (): void => {};
            sent.once("response", (answer) => {
                stop();
                answer.setEncoding("utf8");
                const stopBody = limit.onEnd((error) => answer.destroy(error as Error));
                answer.once("close", stopBody);
                resolve(answer);
            });
            sent.on("error", (error) => {
                stop();
                reject(this.#broken(error));
            });
            stop = limit.onEnd((error) => {
                reject(error);
                sent.destroy();
            });
            sent.end(body);
        });
    }

    /** The pieces of a body. If the answer breaks off, it throws. */
    async *pieces(answer: IncomingMessage, limit: Limit): AsyncGenerator<string, void, undefined> {
        try {
            for await (const piece of answer) yield piece as string;
        } catch (error) {
            limit.check();
            throw this.#broken(error);
        } finally {
            answer.destroy();
        }
        if (!answer.complete) throw this.#broken(new Error("the answer broke off"));
    }

    async text(answer: IncomingMessage, limit: Limit): Promise<string> {
        let text = "";
        try {
            for await (const piece of answer) text += piece as string;
        } catch (error) {
            limit.check();
            throw this.#broken(error);
        }
        if (!answer.complete) throw this.#broken(new Error("the answer broke off"));
        return text;
    }

    close(): void {
        this.#agent.destroy();
    }

    #broken(error: unknown): LociConnectionError {
        const why = error instanceof Error ? error.message || error.name : String(error);
        return new LociConnectionError(`${this.#where}: ${why}`, error);
    }
}
