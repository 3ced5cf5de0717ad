// live.js - the events of the user, as they come. One stream for the whole page; views read the
// newest events from `events` and use `changes` to read again what has changed.
import { effect, signal } from "@preact/signals";
import { ApiError, call, epoch, isLoggedIn, noteDown, stream } from "./api.js";
import { user } from "./route.js";

const KEPT = 1000;
const PAST = 500; // Events before now that are shown at once.
const RETRY_MS = 1000;

export const events = signal([]); // Newest first.
export const state = signal("off"); // off, connecting or live
export const changes = signal({}); // Room of a type ("fact") -> number of events so far.
// Something on the screen is being forgotten: nothing is read again until its view is left, because
// the event may come long before the answer, and reading a forgotten thing fails.
export const isForgetting = signal(false);

let pending = [];
let timer = 0;

// Many events may come at once; the page is drawn at most ten times per second.
function flush() {
    timer = 0;
    const counts = { ...changes.value };
    for (const event of pending) {
        const room = event.type.split(".")[0];
        counts[room] = (counts[room] || 0) + 1;
    }
    events.value = [...pending.reverse(), ...events.value].slice(0, KEPT);
    pending = [];
    changes.value = counts;
}

// Reads the stream once. `place.last` is the last event that was seen, or null in the beginning.
async function follow(name, place, signal) {
    if (place.last === null) {
        const first = await call("event.list", { user_id: name, limit: 1 }, signal);
        place.last = Math.max(0, first.head_seq - PAST);
    }
    const path = `/v1/events?stream=1&user_id=${encodeURIComponent(name)}`;
    await stream(path, place.last, {
        signal,
        onOpen: () => (state.value = "live"),
        onMessage(message) {
            if (message.event === "reset") {
                place.last = null;
                epoch.value++;
            } else if (message.id) {
                place.last = Number(message.id);
                pending.push(JSON.parse(message.data));
                if (!timer) timer = setTimeout(flush, 100);
            }
        },
    });
}

async function keepFollowing(name, signal) {
    const place = { last: null };
    while (!signal.aborted) {
        state.value = "connecting";
        try {
            await follow(name, place, signal);
        } catch (error) {
            if (signal.aborted) return;
            if (!(error instanceof ApiError)) noteDown();
            else if (error.status < 500) break; // It may not read this user.
        }
        await new Promise((done) => setTimeout(done, RETRY_MS));
    }
    if (!signal.aborted) state.value = "off";
}

effect(() => {
    const name = user.value;
    if (!isLoggedIn.value) return;
    const controller = new AbortController();
    pending = [];
    events.value = [];
    keepFollowing(name, controller.signal);
    return () => controller.abort();
});
