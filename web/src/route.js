// route.js - the address of a view: "#/facts/city?user=anna". The fragment is the whole state of a
// view, so every view can be shared, and the browser's back and forward work.
import { computed, signal } from "@preact/signals";

const hash = signal(location.hash);

// The address follows `hash` some time after setQuery(), and before the next entry in the history.
const REST_MS = 300;
let pending = 0;

function settle() {
    if (pending) history.replaceState(null, "", hash.value);
    pending = clearTimeout(pending);
}

addEventListener("click", settle, true); // On a link.
addEventListener("hashchange", () => {
    pending = clearTimeout(pending);
    hash.value = location.hash;
});

function decode(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text; // A bare "%" is not an encoded character.
    }
}

export const route = computed(() => {
    const [path, query = ""] = hash.value.replace(/^#?\/?/, "").split("?", 2);
    const parts = path.split("/").map(decode);
    return {
        view: parts[0] || "overview",
        rest: parts.slice(1),
        query: new URLSearchParams(query),
    };
});

export const user = computed(() => route.value.query.get("user") || "default");
export const persona = computed(() => route.value.query.get("persona") || ""); // "": no persona.

// Adds the user and the persona to the arguments of a call. An operation that takes no user
// (store.status) is called with the argument user_id undefined.
export function scoped(args = {}) {
    if ("user_id" in args && args.user_id === undefined) return args;
    return {
        user_id: user.value,
        ...(persona.value && { persona_id: persona.value }),
        ...args,
    };
}

// link("facts", "city", {as_of: …}) - an address that keeps the user and the persona.
export function link(view, ...rest) {
    const query = typeof rest.at(-1) === "object" ? rest.pop() : {};
    const all = new URLSearchParams();
    for (const [name, value] of Object.entries({
        user: user.value === "default" ? "" : user.value,
        persona: persona.value,
        ...query,
    }))
        if (value) all.set(name, value);
    const text = all.toString();
    return "#/" + [view, ...rest].map(encodeURIComponent).join("/") + (text ? "?" + text : "");
}

export function go(address, { replace = false } = {}) {
    if (replace) {
        pending = clearTimeout(pending);
        history.replaceState(null, "", address);
        hash.value = address;
    } else if (hash.value !== address) {
        settle();
        location.hash = address;
    }
}

// Changes members of the query without a new entry in the history: for what is typed or dragged.
// The view changes at once, the address a little later: browsers take milliseconds for it, and read
// the icon of the page again.
export function setQuery(changes) {
    const { view, rest, query } = route.value;
    hash.value = link(view, ...rest, { ...Object.fromEntries(query), ...changes });
    clearTimeout(pending);
    pending = setTimeout(settle, REST_MS);
}
