// api.js - calls of the daemon. The token is a variable of this module and nowhere else: a page
// that is closed or loaded again has forgotten it.
//
// Everything is an operation of the table, called by name: POST /v1/call/fact.list. A request that
// the daemon refused is an ApiError. One that did not reach it sets `isDown`; once the daemon
// answers again, `epoch` changes, and everything on the screen is read again.
import { signal } from "@preact/signals";
import { go, link, route } from "./route.js";

let token = "";
export const isLoggedIn = signal(false);
export const loginNote = signal("");
export const isDown = signal(false);
export const epoch = signal(0);

export class ApiError extends Error {
    constructor(problem, status) {
        super(problem.detail || problem.title || `the daemon answered ${status}`);
        this.code = problem.code || "internal";
        this.status = status;
        this.data = problem;
    }
}

export function logOut(note = "") {
    token = "";
    isLoggedIn.value = false;
    loginNote.value = note;
}

function request(path, options) {
    const headers = {
        Authorization: `Bearer ${token}`,
        "Loci-Client": "dashboard",
        ...options.headers,
    };
    return fetch(path, { cache: "no-store", credentials: "omit", ...options, headers });
}

// Resolves when the daemon answers again; asks once per second.
async function waitUntilUp() {
    for (;;) {
        await new Promise((done) => setTimeout(done, 1000));
        try {
            if ((await fetch("/readyz", { cache: "no-store" })).ok) break;
        } catch {
            // It is still down.
        }
    }
    isDown.value = false;
    epoch.value++;
}

export function noteDown() {
    if (isDown.value) return;
    isDown.value = true;
    waitUntilUp();
}

async function refuse(answer) {
    let problem = {};
    try {
        problem = await answer.json();
    } catch {
        // The status says enough.
    }
    const error = new ApiError(problem, answer.status);
    if (answer.status === 401 && isLoggedIn.value)
        logOut("The token is no longer accepted: it has expired or was revoked. Log in again.");
    return error;
}

// fetch() rejects with a TypeError if nothing answers.
async function send(path, options) {
    let answer;
    try {
        answer = await request(path, options);
    } catch (error) {
        if (error.name !== "AbortError") noteDown();
        throw error;
    }
    if (!answer.ok) throw await refuse(answer);
    return answer;
}

export async function call(operation, args = {}, signal = undefined) {
    const answer = await send(`/v1/call/${operation}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(args),
        signal,
    });
    return answer.json();
}

// A call that names no user is about the user of the token. If the address names none, that one is
// chosen.
function choose(name) {
    const { view, rest, query } = route.value;
    if (!name || name === "default" || query.get("user")) return;
    go(link(view, ...rest, { ...Object.fromEntries(query), user: name }), { replace: true });
}

// Tries a token by reading one event. A token for one user may not read that of others, and is
// accepted nevertheless.
export async function logIn(candidate) {
    token = candidate.trim();
    try {
        const { events } = await call("event.list", { limit: 1 });
        choose(events[0]?.user_id);
    } catch (error) {
        if (!(error instanceof ApiError) || error.code !== "forbidden") {
            token = "";
            throw error;
        }
    }
    loginNote.value = "";
    isLoggedIn.value = true;
}

// A link of script/server ends with #login=ID:TOKEN. The token is replaced at once, without an
// overlap, so the link opens the dashboard only once.
export async function logInByLink(link) {
    const at = link.indexOf(":");
    token = link.slice(at + 1);
    try {
        const next = await call("token.rotate", { id: link.slice(0, at), overlap_s: 0 });
        await logIn(next.token);
    } catch (error) {
        token = "";
        throw error;
    }
}

// Reads server-sent events after event `lastId` until the stream ends or `signal` aborts it:
// EventSource cannot send a token. `onMessage` gets {id, event, data}.
export async function stream(path, lastId, { signal, onOpen, onMessage }) {
    const headers = { Accept: "text/event-stream", "Last-Event-ID": String(lastId) };
    const answer = await send(path, { headers, signal });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    onOpen();
    for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        const messages = (rest + value).split("\n\n");
        rest = messages.pop();
        for (const message of messages) {
            const fields = { id: "", event: "message", data: "" };
            for (const line of message.split("\n")) {
                const colon = line.indexOf(":");
                const name = line.slice(0, colon);
                const text = line.slice(colon + 1).replace(/^ /, "");
                if (name === "data") fields.data += (fields.data ? "\n" : "") + text;
                else if (name in fields) fields[name] = text;
            }
            if (fields.data) onMessage(fields);
        }
    }
}
