// Server-sent events (HTML Living Standard, section 9.2): text in pieces in, messages out.

export interface SseMessage {
    id: string | undefined;
    event: string;
    data: string;
}

/** Lines of a text that arrives in pieces; "\r\n", "\n" and "\r" end a line. */
export class LineReader {
    #rest = "";

    add(piece: string): string[] {
        const text = this.#rest + piece;
        // A "\r" at the end may be the first half of "\r\n".
        const end = text.endsWith("\r") ? text.length - 1 : text.length;
        const lines = text.slice(0, end).split(/\r\n|\n|\r/);
        this.#rest = (lines.pop() ?? "") + text.slice(end);
        return lines;
    }

    /** The text after the last line break. */
    get rest(): string {
        return this.#rest;
    }
}

export class SseReader {
    readonly #lines = new LineReader();
    #id: string | undefined;
    #event = "";
    #data: string[] = [];
    /** Pause before a reconnect that the daemon asked for, in milliseconds. */
    retryMs: number | undefined;

    /** The messages that this piece completes. */
    add(piece: string): SseMessage[] {
        const messages: SseMessage[] = [];
        for (const line of this.#lines.add(piece)) {
            if (line === "") {
                if (this.#data.length > 0) {
                    messages.push({
                        id: this.#id, event: this.#event || "message", data: this.#data.join("\n"),
                    });
                }
                this.#id = undefined;
                this.#event = "";
                this.#data = [];
                continue;
            }
            const colon = line.indexOf(":");
            const field = colon < 0 ? line : line.slice(0, colon);
            const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
            if (field === "data") this.#data.push(value);
            else if (field === "event") this.#event = value;
            else if (field === "id") this.#id = value;
            else if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
        }
        return messages;
    }
}
