// live.js - the events of the user, as they come. One stream for the whole page; views read the
// newest events from `events` and use `changes` to read again what has changed.
//
// The stream begins with events of the past, so that there is something to see. They are no news
// to a view: what it reads includes them. Therefore the number of the last event is read first,
// calls of views wait for it (isReady), and only later events are in `changes`.
import { effect, signal } from "@preact/signals";
import { ApiError, call, epoch, isLoggedIn, noteDown, stream } from "./api.js";
import { user } from "./route.js";

const KEPT = 1000;
const PAST = 500; // Events before now that are shown at once.
const RETRY_MS = 1000;

export const events = signal([]); // Newest first.
export const state = signal("off"); // off, connecting or live
export const changes = signal({}); // Room of a type ("fact") -> number (seq) of its newest event.
// Something on the screen is being forgotten: nothing is read again until its view is left, because
// the event may come long before the answer, and reading a forgotten thing fails.
export const isForgetting = signal(false);

// Whether the user of this page has changed something just now: then lists follow by themselves.
const OWN_MS = 1500;
let actedAt = -OWN_MS;
export const noteAct = () => (actedAt = performance.now());
export const hasActed = () => performance.now() - actedAt < OWN_MS;

// Where the stream is. Everything that is read from now on includes the events up to `newest`.
// Those up to `head` were there before the views read anything. `last` is the last event that the
// stream has sent.
let place = null;
let ready = Promise.resolve();

export const isReady = () => ready;
export const newestSeq = () => place?.newest ?? 0;

let pending = [];
let timer;

// Many events may come at once; the page is drawn at most ten times per second.
function flush() {
    timer = undefined;
    const found = { ...changes.value };
    for (const event of pending)
        if (event.seq > place.head) found[event.type.split(".")[0]] = event.seq;
    events.value = [...pending.reverse(), ...events.value].slice(0, KEPT);
    pending = [];
    changes.value = found;
}

// Finds out which events are of the past. If that fails, views do not wait any longer, and all
// events that the stream sends are news: one read too many is better than one too few.
async function findHead(here, signal) {
    try {
        const { head_seq: head } = await call(
            "event.list",
            { user_id: here.name, limit: 1 },
            signal,
        );
        here.head = head;
        here.newest = head;
        here.last ??= Math.max(0, head - PAST);
    } catch {
        here.head = here.last ?? 0; // The stream reports the same problem.
    }
}

// Reads the stream once.
async function follow(here, signal) {
    if (here.last === null) {
        const first = await call("event.list", { user_id: here.name, limit: 1 }, signal);
        here.last = Math.max(0, first.head_seq - PAST);
    }
    const path = `/v1/events?stream=1&user_id=${encodeURIComponent(here.name)}`;
    await stream(path, here.last, {
        signal,
        onOpen: () => (state.value = "live"),
        onMessage(message) {
            if (signal.aborted) return;
            if (message.event === "reset") {
                place = null;
                epoch.value++;
            } else if (message.id) {
                here.last = Number(message.id);
                here.newest = Math.max(here.newest, here.last);
                pending.push(JSON.parse(message.data));
                if (!timer) timer = setTimeout(flush, 100);
            }
        },
    });
}

async function keepFollowing(here, signal) {
    while (!signal.aborted) {
        state.value = "connecting";
        try {
            await follow(here, signal);
        } catch (error) {
            if (signal.aborted) return;
            if (!(error instanceof ApiError)) noteDown();
            else if (error.status < 500) break; // It may not read this user.
        }
        await new Promise((done) => setTimeout(done, RETRY_MS));
    }
    if (!signal.aborted) state.value = "off";
}

// Another user, or another login, begins with an empty page; a daemon that is back sends what was
// missed.
effect(() => {
    const name = isLoggedIn.value ? user.value : null;
    void epoch.value; // It is read again when the daemon is back.
    if (place?.name !== name) {
        timer = clearTimeout(timer);
        pending = [];
        events.value = [];
        changes.value = {};
        place = name === null ? null : { name, head: 0, newest: 0, last: null };
    }
    if (place === null) return undefined;
    const here = place;
    const controller = new AbortController();
    ready = findHead(here, controller.signal);
    ready.then(() => keepFollowing(here, controller.signal));
    return () => controller.abort();
});
