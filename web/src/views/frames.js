// frames.js - the tasks of agents as trees, each with its budget, handles and results, and the text
// that a model would get for one.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { call, epoch } from "../api.js";
import { useCall, usePages, useSettled } from "../data.js";
import { changes } from "../live.js";
import { link, route, scoped, setQuery } from "../route.js";
import {
    Badge,
    count,
    Empty,
    Legend,
    Loading,
    number,
    Pairs,
    plain,
    Problem,
    Ref,
    Split,
    Stale,
    Time,
    Tokens,
    VirtualList,
} from "../ui.js";

const PAGE = 1000; // The first page is shown while the others are read.
const INDENTED_MAX = 8; // Deeper levels are numbers.
const toneOf = { active: "good", waiting: "warn", suspended: "warn", failed: "bad" };
const statuses = [
    "open",
    "active",
    "waiting",
    "suspended",
    "completed",
    "failed",
    "cancelled",
    "any",
];

/* ---- Budgets ------------------------------------------------------------- */

const parts = [
    ["used", "used", "share-0"],
    ["reserved", "reserved", "share-2"],
    ["subcall_allocation", "handed on", "share-1"],
    ["available", "available", "free"],
];
const OVER = ["share-3", "over the budget"];

// What was used over the budget is the end of the bar, in the place of what was used within it.
function Budget({ of }) {
    const text =
        parts.map(([member, name]) => `${number(of[member])} ${name}`).join(", ") +
        ` of ${number(of.total)} tokens` +
        (of.over > 0 ? `, ${number(of.over)} over the budget` : "");
    const lengths = { ...of, used: of.used - of.over };
    return (
        <span class="shares budget" role="img" aria-label={text} title={text}>
            {parts.map(([member, , look]) => (
                <span class={look} style={{ flexGrow: Math.max(0, lengths[member]) }} />
            ))}
            <span class={OVER[0]} style={{ flexGrow: of.over }} />
        </span>
    );
}

/* ---- The tree ------------------------------------------------------------ */

// Frames in the order of a tree: newest root first, children in the order of their creation. A
// frame whose parent is not in the list, because it has another status, is at the top. While older
// frames are still being read (`isPart`) its parent may be one of them, so it is left out: nothing
// in the list changes its place later.
export function inOrder(frames, isPart = false) {
    const ids = new Set(frames.map((frame) => frame.id));
    const children = new Map();
    const roots = [];
    for (const frame of frames) {
        if (ids.has(frame.parent_id)) {
            if (children.has(frame.parent_id)) children.get(frame.parent_id).push(frame);
            else children.set(frame.parent_id, [frame]);
        } else if (!isPart || !frame.parent_id) roots.push(frame);
    }
    const rows = [];
    const stack = roots.reverse().map((frame) => [frame, 0]);
    while (stack.length > 0) {
        const [frame, level] = stack.pop();
        rows.push({ frame, level });
        // The list is newest first, so the oldest child is the next one on the stack.
        for (const child of children.get(frame.id) ?? []) stack.push([child, level + 1]);
    }
    return rows;
}

function FrameList({ pages, reasons }) {
    const { rest, query } = route.value;
    const text = query.get("q") || "";
    const status = query.get("status") || "open";
    const tree = useMemo(() => inOrder(pages.rows, pages.hasMore), [pages.rows, pages.hasMore]);
    const wanted = text.trim().toLowerCase();
    const rows = useMemo(
        () =>
            wanted ? tree.filter(({ frame }) => frame.goal.toLowerCase().includes(wanted)) : tree,
        [tree, wanted],
    );
    const row = useCallback(
        ({ frame, level }) => (
            <a
                class="row"
                href={link("frames", frame.id, { q: text, status: query.get("status") })}
                aria-current={rest[0] === frame.id ? "true" : undefined}
                style={{ paddingLeft: `${0.8 + Math.min(level, INDENTED_MAX) * 1.2}rem` }}
            >
                <span class="row-main">
                    <span class="one-line">
                        {level > 0 && (
                            <span class="muted" aria-hidden="true">
                                └ {level > INDENTED_MAX && `${level} `}
                            </span>
                        )}
                        <b>{frame.goal}</b>
                        {level > 0 && <span class="visually-hidden"> (level {level})</span>}
                    </span>
                    <Badge tone={toneOf[frame.status]}>{frame.status}</Badge>
                </span>
                <span class="row-sub">
                    <Budget of={frame.budget} />
                    {frame.budget.over > 0 && (
                        <Badge tone="bad">{number(frame.budget.over)} over</Badge>
                    )}
                    <span class="muted one-line">
                        {frame.status === "suspended" && reasons.get(frame.id)}
                        {frame.status === "waiting" && `for ${frame.waiting_for}`}
                        {frame.error}
                    </span>
                    <Time at={frame.updated_at} />
                </span>
            </a>
        ),
        [text, status, rest[0], reasons],
    );
    return (
        <>
            <div class="tools">
                <input
                    type="search"
                    data-search
                    aria-label="Frames whose goal contains"
                    placeholder="Goals that contain …"
                    value={text}
                    onInput={(event) => setQuery({ q: event.currentTarget.value })}
                />
                <label>
                    Status{" "}
                    <select
                        value={status}
                        onChange={(event) => setQuery({ status: event.currentTarget.value })}
                    >
                        {statuses.map((s) => (
                            <option>{s}</option>
                        ))}
                    </select>
                </label>
            </div>
            <Legend of={[...parts.map(([, name, look]) => [look, name]), OVER]}>
                <span class="frame-count">
                    {count(pages.hasMore ? pages.rows.length : rows.length, "frame")}
                    {pages.hasMore && " so far"}
                </span>
            </Legend>
            <Problem error={pages.error} />
            <Stale pages={pages} />
            <Loading when={pages.isLoading} />
            {!pages.isLoading && !pages.error && rows.length === 0 && (
                <Empty>
                    {text || status !== "open" ? (
                        "No frame matches."
                    ) : (
                        <>
                            No frame is open.
                            <code>loci frame push "Find the cause of the timeout"</code> pushes one.
                        </>
                    )}
                </Empty>
            )}
            <VirtualList
                rows={rows}
                height={56}
                label="Frames"
                of={`${wanted} ${status}`}
                rowKey={({ frame }) => frame.id}
                isBusy={pages.isLoading}
                render={row}
            />
        </>
    );
}

/* ---- One frame ----------------------------------------------------------- */

function Handles({ of, title }) {
    if (of.length === 0) return null;
    return (
        <>
            <h3>{title}</h3>
            <table class="items-table" aria-label={title}>
                <thead>
                    <tr>
                        <th>What</th>
                        <th>Kind</th>
                        <th>Tokens</th>
                    </tr>
                </thead>
                <tbody>
                    {of.map((handle) => (
                        <tr key={handle.id}>
                            <td class="text">
                                {handle.title}
                                {handle.ref && <Ref id={handle.ref} />}
                                {!handle.title && !handle.ref && <code>{handle.id}</code>}
                            </td>
                            <td>
                                {handle.type.replaceAll("_", " ")}{" "}
                                <Badge tone={handle.priority === "critical" ? "bad" : ""}>
                                    {handle.priority}
                                </Badge>
                            </td>
                            <td>{number(handle.tokens)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </>
    );
}

const BUDGET = 1000;
const dropReasons = {
    excluded: "the call excludes it",
    duplicate: "another handle has the same text",
    compaction: "its priority is too low for the level of compaction",
    budget: "it did not fit into the budget",
};

function Pack({ id, handles }) {
    const budget = Number(route.value.query.get("budget")) || BUDGET;
    const settled = useSettled(budget, 200);
    const pack = useCall("frame.pack", { frame_id: id, budget: settled }, ["frame"]);
    const p = pack.data;
    const nameOf = (handle) => handles.find((h) => h.id === handle)?.title || handle;
    return (
        <section aria-label="Pack" class="pack">
            <h3>Pack</h3>
            <label>
                Budget{" "}
                <Tokens
                    id="pack-budget"
                    value={budget}
                    set={(text) => setQuery({ budget: text })}
                />
            </label>
            <Problem error={pack.error} />
            {p && (
                <>
                    <p>
                        {number(p.tokens.used)} of {number(p.tokens.budget)} tokens, compaction{" "}
                        {p.tokens.compaction_level}
                    </p>
                    <pre tabIndex={0} aria-label="Text for the model">
                        {p.text}
                    </pre>
                    {p.dropped.length + p.missing.length > 0 && <h4>Left out</h4>}
                    {p.dropped.length + p.missing.length > 0 && (
                        <ul aria-label="Left out">
                            {p.dropped.map((d) => (
                                <li>
                                    {nameOf(d.id)}: {dropReasons[d.reason] ?? d.reason}
                                </li>
                            ))}
                            {p.missing.map((m) => (
                                <li>
                                    {nameOf(m.id)}: no text ({m.reason.replaceAll("_", " ")})
                                </li>
                            ))}
                        </ul>
                    )}
                </>
            )}
        </section>
    );
}

function Parent({ id }) {
    const { data } = useCall("frame.get", { id });
    return <a href={link("frames", id)}>{data?.goal ?? <code>{id}</code>}</a>;
}

function Frame({ id, reasons }) {
    const frame = useCall("frame.get", { id }, ["frame"]);
    const f = frame.data;
    return (
        <article class="detail">
            <h2>{f?.goal || id}</h2>
            <Problem error={frame.error} />
            <Loading when={frame.isLoading && !f} />
            {f && (
                <>
                    <p>
                        <Badge tone={toneOf[f.status]}>{f.status}</Badge>
                        {f.waiting_for && `waits for ${f.waiting_for}`}
                        {f.status === "suspended" && (
                            <span class="suspended">
                                <Time at={f.updated_at} />
                                {reasons.has(f.id) && `: ${reasons.get(f.id)}`}
                            </span>
                        )}
                    </p>
                    {f.error && <p class="problem">{f.error}</p>}
                    <Budget of={f.budget} />
                    <Pairs
                        of={[
                            ["Budget", `${number(f.budget.total)} tokens`],
                            ...parts.map(([member, name]) => [
                                name[0].toUpperCase() + name.slice(1),
                                number(f.budget[member]),
                            ]),
                            ["Over the budget", f.budget.over > 0 ? number(f.budget.over) : ""],
                            ["Part of", f.parent_id && <Parent id={f.parent_id} />],
                            ["Open children", f.open_children && number(f.open_children)],
                            ["Agent", f.scope.actor_id],
                            ["Thread", f.scope.thread_id],
                            [
                                "Session",
                                f.scope.session_id && (
                                    <a href={link("sessions", f.scope.session_id)}>
                                        <code>{f.scope.session_id}</code>
                                    </a>
                                ),
                            ],
                            ["Inputs", f.inputs !== undefined && <code>{plain(f.inputs)}</code>],
                            ["Metadata", f.metadata && <code>{plain(f.metadata)}</code>],
                            ["Tool calls", f.tool_calls && number(f.tool_calls)],
                            ["Deadline", f.deadline_at && <Time at={f.deadline_at} isLong />],
                            ["Pushed", <Time at={f.created_at} isLong />],
                            ["Changed", <Time at={f.updated_at} isLong />],
                            ["Ended", f.completed_at && <Time at={f.completed_at} isLong />],
                            ["Id", <code>{f.id}</code>],
                        ].filter(([, value]) => value !== false && value !== 0)}
                    />
                    {f.running_tools.length > 0 && (
                        <>
                            <h3>Running tools</h3>
                            <ul>
                                {f.running_tools.map((tool) => (
                                    <li key={tool.call_id}>
                                        {tool.name} <Time at={tool.started_at} />
                                    </li>
                                ))}
                            </ul>
                        </>
                    )}
                    {f.reservations.length > 0 && (
                        <>
                            <h3>Reservations</h3>
                            <ul>
                                {f.reservations.map((r) => (
                                    <li key={r.id}>
                                        {number(r.left)} of {number(r.tokens)} tokens
                                        {r.purpose && `: ${r.purpose}`}
                                    </li>
                                ))}
                            </ul>
                        </>
                    )}
                    <Handles of={f.handles} title="Handles" />
                    <Handles of={f.results} title="Results" />
                    <Pack id={id} handles={[...f.handles, ...f.results]} />
                </>
            )}
        </article>
    );
}

// A frame does not have the reason of its suspension, the event does. event.list checks `limit`
// events per page, so the newest EVENTS_MAX events are read, and later only those that came since.
// Frame id -> latest reason.
const EVENTS_MAX = 20000;

function useReasons(isWanted) {
    const [reasons, setReasons] = useState(new Map());
    const place = useRef({ epoch: -1, seq: 0 }); // Events up to here were read.
    const count = changes.value.frame;
    useEffect(() => {
        if (!isWanted) return undefined;
        const controller = new AbortController();
        const read = (args) => call("event.list", scoped(args), controller.signal);
        const readNew = async () => {
            const found = new Map();
            const { head_seq: head } = await read({ limit: 1 });
            const isNew = place.current.epoch !== epoch.value;
            const after = Math.max(0, isNew ? 0 : place.current.seq, head - EVENTS_MAX);
            for (let at = { after_seq: after }; at; ) {
                const page = await read({ type: "frame.suspended", limit: 1000, ...at });
                for (const { refs, payload } of page.events)
                    if (payload?.reason) found.set(refs.frame_id, payload.reason);
                at = page.next_cursor && { cursor: page.next_cursor };
            }
            place.current = { epoch: epoch.value, seq: head };
            if (found.size > 0) setReasons((old) => new Map([...old, ...found]));
        };
        readNew().catch(() => {}); // The list of frames reports the same problem.
        return () => controller.abort();
    }, [count, epoch.value, isWanted]);
    return reasons;
}

export function Frames() {
    const { rest, query } = route.value;
    const status = query.get("status") || "open";
    // A tree needs all of its frames.
    const pages = usePages(
        "frame.list",
        "frames",
        { status },
        { rooms: ["frame"], limit: PAGE, isAll: true },
    );
    const hasSuspended = useMemo(
        () => pages.rows.some((frame) => frame.status === "suspended"),
        [pages.rows],
    );
    const reasons = useReasons(hasSuspended || Boolean(rest[0]));
    return (
        <Split
            list={<FrameList pages={pages} reasons={reasons} />}
            back={link("frames", { q: query.get("q"), status: query.get("status") })}
            detail={rest[0] && <Frame key={rest[0]} id={rest[0]} reasons={reasons} />}
        />
    );
}
