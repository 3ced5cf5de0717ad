// ui.js - the parts that views are made of. Texts of users only ever become text nodes.
import { signal } from "@preact/signals";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { call } from "./api.js";
import { isForgetting, noteAct } from "./live.js";
import { link, scoped } from "./route.js";

/* ---- Words and numbers --------------------------------------------------- */

// Made once: toLocaleString() with options makes a formatter for each call, which takes longer than
// the rest of a row of a list.
const numbers = new Intl.NumberFormat("en");
const times = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export const number = (n) => numbers.format(n);

// "1 memory", "2 memories".
export const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

// The same for a kind of thing that the daemon names, such as memory or entity_alias.
function countOf(n, kind) {
    const one = kind.replaceAll("_", " ");
    return count(n, one, one.endsWith("y") ? `${one.slice(0, -1)}ies` : `${one}s`);
}

export function bytes(n) {
    const units = ["B", "KB", "MB", "GB", "TB"];
    let at = 0;
    while (n >= 1000 && at < units.length - 1) {
        n /= 1000;
        at++;
    }
    return `${at && n < 100 ? n.toFixed(1) : Math.round(n)} ${units[at]}`;
}

export const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));

export function ago(at) {
    const seconds = (Date.now() - Date.parse(at)) / 1000;
    const steps = [
        [60, "second", 1],
        [3600, "minute", 60],
        [86400, "hour", 3600],
        [Infinity, "day", 86400],
    ];
    if (seconds < 2) return "just now";
    const [, unit, size] = steps.find(([limit]) => seconds < limit);
    return `${count(Math.floor(seconds / size), unit)} ago`;
}

// A time from an address may be any text; it is shown as it is.
export const isTime = (at) => !Number.isNaN(Date.parse(at));

export function Time({ at, isLong = false }) {
    if (!isTime(at)) return <span>{at}</span>;
    const text = times.format(new Date(at));
    return (
        <time dateTime={at} title={text}>
            {isLong ? text : ago(at)}
        </time>
    );
}

export function Value({ value }) {
    if (typeof value === "string") return <span class="value">{value}</span>;
    return (
        <code class="value">{JSON.stringify(value, null, typeof value === "object" ? 1 : 0)}</code>
    );
}

// tone: good, warn, bad or none.
export const Badge = ({ tone = "", children }) => <span class={`badge ${tone}`}>{children}</span>;

// A score with bars for its parts: bars are [look, x, y, width, height], of 100 x 8.
export const Score = ({ score, bars, text }) => (
    <span class="score" role="img" aria-label={text} title={text}>
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
            <rect class="track" width="100" height="8" />
            {bars.map(([look, x, y, width, height]) => (
                <rect class={look} {...{ x, y, width, height }} />
            ))}
        </svg>
        <span class="muted">{score.toFixed(2)}</span>
    </span>
);

// What the colours of bars mean: [look, name, …].
export const Legend = ({ of, children }) => (
    <p class="legend muted">
        {children}
        {of.map(([look, name]) => (
            <span>
                <i class={look} /> {name}
            </span>
        ))}
    </p>
);

// A field for a number of tokens. While it is being changed it may be empty: then `set` gets "".
export function Tokens({ value, set, ...rest }) {
    const [typed, setTyped] = useState(null);
    return (
        <input
            type="number"
            min="1"
            max="100000000"
            value={typed ?? value}
            onInput={(event) => {
                setTyped(event.currentTarget.value);
                set(event.currentTarget.value);
            }}
            onBlur={() => setTyped(null)}
            {...rest}
        />
    );
}

/* ---- States of a view ---------------------------------------------------- */

export function Problem({ error }) {
    if (!error) return null;
    return (
        <p class="problem" role="alert">
            {error.message}
        </p>
    );
}

export const Empty = ({ children }) => <div class="empty">{children}</div>;

export function Loading({ when }) {
    // A short wait shows nothing, so that fast answers do not flicker.
    const [isSlow, setSlow] = useState(false);
    useEffect(() => {
        setSlow(false);
        if (!when) return undefined;
        const timer = setTimeout(() => setSlow(true), 300);
        return () => clearTimeout(timer);
    }, [when]);
    return when && isSlow ? (
        <p class="muted" role="status">
            Loading…
        </p>
    ) : null;
}

const notes = signal([]);
export function say(text, tone = "good") {
    const note = { text, tone };
    notes.value = [...notes.value, note];
    setTimeout(
        () => (notes.value = notes.value.filter((n) => n !== note)),
        tone === "bad" ? 8000 : 4000,
    );
}
export const Notes = () => (
    <div class="notes" role="status" aria-live="polite">
        {notes.value.map((n) => (
            <div class={`note ${n.tone}`}>{n.text}</div>
        ))}
    </div>
);

// Runs an operation that changes something; says what came of it.
export async function act(operation, args, done) {
    try {
        const answer = await call(operation, scoped(args));
        noteAct();
        if (done) say(done);
        return answer;
    } catch (error) {
        say(error.message, "bad");
        return null;
    }
}

// Authority of the user of this page, for decisions about facts; the token limits it.
export const authority = signal("");
export const withAuthority = (args) =>
    authority.value ? { ...args, authority: authority.value } : args;

const ranks = ["policy", "executive", "admin", "manager", "employee", "intern", "guest"];

export const Authority = () => (
    <label>
        Decide as{" "}
        <select
            id="authority"
            value={authority.value}
            onChange={(event) => (authority.value = event.currentTarget.value)}
        >
            <option value="">default authority</option>
            {ranks.map((rank) => (
                <option>{rank}</option>
            ))}
        </select>
    </label>
);

/* ---- Keys ---------------------------------------------------------------- */

// Keys of the views on the screen, such as "j" or "g f"; the last one added is asked first.
const handlers = [];
export function useKeys(keys) {
    const current = useRef(keys);
    current.current = keys;
    useEffect(() => {
        const entry = (key) => current.current[key];
        handlers.push(entry);
        return () => handlers.splice(handlers.indexOf(entry), 1);
    }, []);
}

// j and k for a list that is not virtual: they move the focus between its items, which are the
// elements `selector` finds, to the first link or button of each. No more than a few hundred.
export function useStepKeys(selector) {
    const step = (by) => {
        const items = [...document.querySelectorAll(selector)];
        const at = items.findIndex((item) => item.contains(document.activeElement));
        const next = items[at < 0 ? 0 : Math.max(0, Math.min(items.length - 1, at + by))];
        const target = next?.querySelector("a, button, summary") ?? next;
        target?.focus();
        next?.scrollIntoView({ block: "nearest" });
    };
    useKeys({ j: () => step(1), k: () => step(-1) });
}

const CHORD_MS = 1500;
let lead = { key: "", at: -CHORD_MS };

addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]"))
        return;
    if (event.target.closest("input, textarea, select")) {
        if (event.key === "Escape") event.target.blur();
        return;
    }
    const chord = event.timeStamp - lead.at < CHORD_MS ? `${lead.key} ${event.key}` : "";
    lead = { key: event.key, at: event.timeStamp };
    for (const name of [chord, event.key]) {
        const run = handlers.map((entry) => entry(name)).findLast(Boolean);
        if (run) {
            event.preventDefault();
            run();
            return;
        }
    }
});

/* ---- Dialogs ------------------------------------------------------------- */

export function Dialog({ title, onClose, children, actions }) {
    const dialog = useRef(null);
    useEffect(() => dialog.current.showModal(), []);
    return (
        <dialog
            ref={dialog}
            onClose={onClose}
            aria-labelledby="dialog-title"
            onClick={(event) => event.target === dialog.current && dialog.current.close()}
        >
            <div class="dialog-body">
                <h2 id="dialog-title">{title}</h2>
                {children}
                <div class="actions">
                    <button type="button" onClick={() => dialog.current.close()}>
                        Close
                    </button>
                    {actions}
                </div>
            </div>
        </dialog>
    );
}

// Shows what forgetting removes before it is done.
export function ForgetDialog({ operation, args, name, hasAuthority, onClose, onDone }) {
    const [plan, setPlan] = useState(null);
    const [error, setError] = useState(null);
    const [isBusy, setBusy] = useState(false);
    const all = hasAuthority ? withAuthority(args) : args;
    useEffect(() => {
        setError(null);
        call(operation, scoped({ ...all, dry_run: true })).then(setPlan, setError);
    }, [authority.value]);
    const forget = async () => {
        setBusy(true);
        isForgetting.value = true;
        const answer = await act(operation, all, `Forgotten: ${name}`);
        setBusy(false);
        if (answer) onDone();
        isForgetting.value = false;
    };
    const counts = plan ? Object.entries(plan.removed).filter(([, n]) => n > 0) : [];
    return (
        <Dialog
            title="Forget for good?"
            onClose={onClose}
            actions={
                <button type="button" class="danger" disabled={!plan || isBusy} onClick={forget}>
                    Forget for good
                </button>
            }
        >
            <p>
                This removes the text from the log, the indexes and the files. It cannot be undone.
            </p>
            {hasAuthority && <Authority />}
            <Problem error={error} />
            {hasAuthority && error?.code === "forbidden" && (
                <p>Choose a higher authority, if the token may use it.</p>
            )}
            <Loading when={!plan && !error} />
            {plan && (
                <p class="removed">
                    {counts.map(([kind, n]) => (
                        <Badge tone="bad">
                            {countOf(n, kind)}
                        </Badge>
                    ))}
                </p>
            )}
            {plan && (
                <ul class="items">
                    {plan.items.slice(0, 50).map((item) => (
                        <li>
                            <Badge>{item.kind}</Badge> {item.text || item.id}
                        </li>
                    ))}
                    {plan.items.length + plan.items_left_out > 50 && (
                        <li class="muted">
                            and {number(plan.items.length + plan.items_left_out - 50)} more
                        </li>
                    )}
                </ul>
            )}
            {plan && plan.needs_review > 0 && (
                <p>{number(plan.needs_review)} facts that were derived from it will need review.</p>
            )}
        </Dialog>
    );
}

/* ---- Lists --------------------------------------------------------------- */

// Draws only the rows that can be seen; every row is `height` pixels high. `render(row, i)` returns
// the content of a row, with one link or button that takes the focus. j and k move the focus. A
// list `of` something else begins at its top. Rows are drawn again when `rows` or `render` is
// another object: a view that is drawn with every keystroke keeps both.
export function VirtualList({ rows, height, render, onEnd, label, rowKey, isBusy, of = "" }) {
    const box = useRef(null);
    const [top, setTop] = useState(0);
    const [seen, setSeen] = useState(600);
    const [target, setTarget] = useState(null);
    useLayoutEffect(() => {
        const observer = new ResizeObserver(() => setSeen(box.current?.clientHeight || 600));
        observer.observe(box.current);
        return () => observer.disconnect();
    }, []);
    useLayoutEffect(() => {
        if (top === 0) return; // Even reading scrollTop makes the browser compute the layout.
        box.current.scrollTop = 0;
        setTop(0);
    }, [of]);
    const first = Math.max(0, Math.floor(top / height) - 6);
    const last = Math.min(rows.length, Math.ceil((top + seen) / height) + 6);
    useEffect(() => {
        if (onEnd && last >= rows.length - 10) onEnd();
    }, [last, rows.length, onEnd]);

    const move = useCallback(
        (step) => {
            const focused = document.activeElement?.closest("[data-row]");
            const isOurs = focused && box.current.contains(focused);
            const at = isOurs
                ? Number(focused.dataset.row) + step
                : Math.floor(box.current.scrollTop / height);
            const next = Math.max(0, Math.min(rows.length - 1, at));
            const place = next * height;
            if (place < box.current.scrollTop) box.current.scrollTop = place;
            if (place + height > box.current.scrollTop + box.current.clientHeight)
                box.current.scrollTop = place + height - box.current.clientHeight;
            setTop(box.current.scrollTop);
            setTarget({ row: next });
        },
        [rows.length, height],
    );
    useEffect(() => {
        if (target) box.current.querySelector(`[data-row="${target.row}"] :is(a, button)`)?.focus();
    }, [target, first]);
    useKeys(rows.length ? { j: () => move(1), k: () => move(-1) } : {});

    const visible = useMemo(
        () =>
            rows.slice(first, last).map((row, i) => (
                <li
                    key={rowKey ? rowKey(row) : first + i}
                    data-row={first + i}
                    aria-setsize={rows.length}
                    aria-posinset={first + i + 1}
                    style={{ top: `${(first + i) * height}px`, height: `${height}px` }}
                >
                    {render(row, first + i)}
                </li>
            )),
        [rows, first, last, height, render],
    );
    return (
        <div class="list" ref={box} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
            <ul
                aria-label={label}
                aria-busy={Boolean(isBusy)}
                style={{ height: `${rows.length * height}px` }}
            >
                {visible}
            </ul>
        </div>
    );
}

// A list on the left, and the chosen thing on the right; on a phone one or the other.
export function Split({ list, detail, back }) {
    return (
        <div class={`split ${detail ? "has-detail" : ""}`}>
            <section class="pane-list">{list}</section>
            {detail && (
                <section class="pane-detail">
                    <a class="back" href={back}>
                        ‹ Back to the list
                    </a>
                    {detail}
                </section>
            )}
        </div>
    );
}

export const Stale = ({ pages }) =>
    pages.isStale ? (
        <button type="button" class="stale" onClick={pages.reload}>
            Something changed: show it
        </button>
    ) : null;

// The id of anything, as a link to the view that shows it if there is one.
export function Ref({ id, children }) {
    const views = { mem: "memories", ses: "sessions" };
    const view = views[id.split("_")[0]];
    if (view) return <a href={link(view, id)}>{children || <code>{id}</code>}</a>;
    return <code>{children || id}</code>;
}

// Name and value pairs; what has no value is left out.
export const Pairs = ({ of }) => (
    <dl class="pairs">
        {of
            .filter(([, value]) => ![undefined, null, false, ""].includes(value))
            .map(([name, value]) => (
                <div>
                    <dt>{name}</dt>
                    <dd>{value}</dd>
                </div>
            ))}
    </dl>
);
