// facts.js - the facts of the user, now or as of a time, and why each has its value.
import { useEffect, useMemo, useState } from "preact/hooks";
import { call } from "../api.js";
import { useCall, usePages, useSettled } from "../data.js";
import { BOX_TEXT, fit, Graph, useWidth } from "../graph.js";
import { changes } from "../live.js";
import { go, link, route, scoped, setQuery } from "../route.js";
import {
    act,
    Authority,
    Badge,
    Dialog,
    Empty,
    ForgetDialog,
    isTime,
    Loading,
    Pairs,
    plain,
    Problem,
    Split,
    Stale,
    Time,
    Value,
    VirtualList,
    withAuthority,
} from "../ui.js";

/* ---- The list ------------------------------------------------------------ */

// From the first event of the user until now; the right end is "now".
function AsOf({ at }) {
    const first = useCall("event.list", { limit: 1 });
    const from = first.data?.events[0] && Date.parse(first.data.events[0].recorded_at);
    const now = useMemo(() => Date.now(), [first.data]);
    if (!from) return null;
    const value = isTime(at) ? Date.parse(at) : now;
    const set = (ms) => setQuery({ as_of: ms >= now ? "" : new Date(ms).toISOString() });
    return (
        <div class="as-of">
            <label for="as-of">As of</label>
            <input
                id="as-of"
                type="range"
                min={from}
                max={now}
                value={value}
                step={Math.max(1, Math.floor((now - from) / 1000))}
                aria-valuetext={at ? new Date(value).toLocaleString("en-GB") : "now"}
                onInput={(event) => set(Number(event.currentTarget.value))}
            />
            <output for="as-of">{at ? <Time at={at} isLong /> : "now"}</output>
            {at && (
                <button type="button" onClick={() => setQuery({ as_of: "" })}>
                    Now
                </button>
            )}
        </div>
    );
}

const toneOf = {
    valid: "good",
    superseded: "",
    retracted: "bad",
    expired: "warn",
    claim: "warn",
    erased: "bad",
};

const nameOf = (status) => (status === "valid" ? "current" : status);

const Status = ({ of }) => (
    <Badge tone={toneOf[of.status]}>{nameOf(of.status)}</Badge>
);

function FactList() {
    const { rest, query } = route.value;
    const prefix = query.get("q") || "";
    const asOf = query.get("as_of") || "";
    const settled = useSettled(prefix);
    const settledAt = useSettled(asOf);
    const pages = usePages(
        "fact.list",
        "facts",
        { ...(settled && { prefix: settled }), ...(settledAt && { as_of: settledAt }) },
        { rooms: ["fact"] },
    );
    const keep = { q: prefix, as_of: asOf };
    return (
        <>
            <div class="tools">
                <input
                    type="search"
                    data-search
                    aria-label="Keys that begin with"
                    value={prefix}
                    placeholder="Keys that begin with …"
                    onInput={(event) => setQuery({ q: event.currentTarget.value })}
                />
            </div>
            <AsOf at={asOf} />
            <Problem error={pages.error} />
            <Stale pages={pages} />
            <Loading when={pages.isLoading} />
            {!pages.isLoading && !pages.error && pages.rows.length === 0 && (
                <Empty>
                    {prefix || asOf ? (
                        "No fact matches."
                    ) : (
                        <>
                            No facts yet.
                            <code>loci fact write city Oslo</code> writes one.
                        </>
                    )}
                </Empty>
            )}
            <VirtualList
                rows={pages.rows}
                height={52}
                label="Facts"
                of={`${settled} ${settledAt}`}
                rowKey={(f) => f.id}
                onEnd={pages.more}
                isBusy={pages.isLoading}
                render={(fact) => (
                    <a
                        class="row"
                        href={link("facts", fact.key, keep)}
                        aria-current={rest[0] === fact.key ? "true" : undefined}
                    >
                        <span class="row-main">
                            <b class="one-line">{fact.key}</b>
                            <span class="row-badges">
                                {fact.needs_review && <Badge tone="warn">needs review</Badge>}
                                {fact.is_constraint && <Badge>rule</Badge>}
                                {fact.scope !== "global" && <Badge>{fact.scope}</Badge>}
                            </span>
                        </span>
                        <span class="row-sub">
                            <span class="one-line">{plain(fact.value)}</span>
                            <span class="muted">{fact.source || fact.trust}</span>
                        </span>
                    </a>
                )}
            />
        </>
    );
}

/* ---- One key ------------------------------------------------------------- */

const who = (fact) => fact.source || fact.client?.name || fact.trust;

const said = (fact) => `${who(fact)}, with the authority "${fact.authority}"`;

const short = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
const brief = (fact) => short(plain(fact.value), 100); // In a sentence.

// Why a version has the place that it has.
function why(fact, byId) {
    const before = fact.supersedes.map((id) => byId.get(id)).find(Boolean);
    if (fact.status === "claim")
        return (
            `Said by ${said(fact)} and the trust "${fact.trust}". That is too little to replace ` +
            "the current value, so it waits in the inbox."
        );
    if (fact.is_late)
        return `Said by ${said(fact)}, about an earlier time than the value that was current then.`;
    if (before)
        return (
            `Said by ${said(fact)}. ` +
            `It replaced "${brief(before)}", said by ${said(before)}.`
        );
    return (
        `Said by ${said(fact)}. ` +
        (fact.supersedes.length ? "The value before was forgotten." : "There was no value before.")
    );
}

// How a version ended; "" if it has not.
function ended(fact, byId) {
    const next = byId.get(fact.superseded_by);
    if (fact.status === "retracted")
        return `It was retracted${fact.reason ? `: ${fact.reason}` : " without a reason"}.`;
    if (fact.status === "expired") return "It expired.";
    if (next) return `It ended when ${who(next)} said "${brief(next)}".`;
    return fact.status === "superseded" ? "Another fact replaced it." : "";
}

// The facts behind ids such as those in depends_on, as links.
function Sources({ ids, name }) {
    if (!ids?.length) return null;
    return (
        <p>
            <b>{name}</b>{" "}
            {ids.map((id) => (
                <Source id={id} />
            ))}
        </p>
    );
}
function Source({ id }) {
    const { data } = useCall("fact.get", { id });
    if (!data) return <code>{id} </code>;
    return (
        <a class="chip" href={link("facts", data.key)}>
            {data.key} = {plain(data.value)}
        </a>
    );
}

/* ---- Dependencies -------------------------------------------------------- */

const DEPTH_MAX = 6;
const NODES_MAX = 60;
const COLUMN_MIN = 170; // A drawing that needs more room than there is can be scrolled.
const COLUMN_MAX = 300;
const GAP = 44; // Between two columns, for the arrows,
const ROW_GAP = 12; // and between two rows.
const BOX_HEIGHT = 40;
const SWEEPS = 8;

// The facts that `fact` was derived from and those that were derived from it, level by level:
// {facts: id -> fact with its level, isCut}. Sources have levels below 0. Facts that cannot be read
// are left out.
function useDependencies(fact) {
    const [found, setFound] = useState({ facts: new Map(), isCut: false });
    const seen = changes.value.fact;
    useEffect(() => {
        const controller = new AbortController();
        const facts = new Map([[fact.id, { ...fact, level: 0 }]]);
        let isCut = false;
        const readLevel = async (ids, level) => {
            const left = [...new Set(ids)].filter((id) => !facts.has(id));
            const wanted = left.slice(0, Math.max(0, NODES_MAX - facts.size));
            isCut ||= wanted.length < left.length;
            const answers = await Promise.allSettled(
                wanted.map((id) => call("fact.get", scoped({ id }), controller.signal)),
            );
            const read = answers.filter((a) => a.status === "fulfilled").map((a) => a.value);
            for (const one of read) facts.set(one.id, { ...one, level });
            return read;
        };
        const follow = async (member, step) => {
            let ids = fact[member];
            for (let level = step; ids.length > 0; level += step) {
                if (Math.abs(level) > DEPTH_MAX) {
                    isCut ||= ids.some((id) => !facts.has(id));
                    return;
                }
                ids = (await readLevel(ids, level)).flatMap((one) => one[member]);
            }
        };
        (async () => {
            await follow("depends_on", -1);
            await follow("derived_facts", 1);
            if (!controller.signal.aborted) setFound({ facts, isCut });
        })();
        return () => controller.abort();
    }, [fact.id, seen]);
    return found;
}

const lookOf = (fact) => (fact.needs_review ? "doubt" : fact.status);
const symbolOf = { valid: "✓", doubt: "?", retracted: "✗", superseded: "·", expired: "·" };

// The column of each fact: one more than the last of its sources, so that all arrows lead to the
// right. Facts that are in a circle of dependencies stop somewhere.
function columnsOf(links, ids) {
    const columns = new Map(ids.map((id) => [id, 0]));
    for (let round = 0; round < ids.length; round++) {
        let isDone = true;
        for (const { source, target } of links)
            if (columns.get(target) <= columns.get(source)) {
                columns.set(target, columns.get(source) + 1);
                isDone = false;
            }
        if (isDone) return columns;
    }
    return columns;
}

// One column per level, sources on the left. An arrow that passes a column has a place of its own
// in it (a bend), so that it does not run through a box. Each sweep puts the things of a column in
// the order of their neighbours in the column before.
function place(facts, width) {
    const all = [...facts.values()];
    const links = all.flatMap((fact) =>
        fact.depends_on
            .filter((id) => facts.has(id) && id !== fact.id)
            .map((id) => ({ source: id, target: fact.id })),
    );
    const columnOf = columnsOf(links, [...facts.keys()]);
    // A fact without sources is beside what was derived from it, not at the far left.
    for (const fact of all) {
        const next = links.filter((l) => l.source === fact.id).map((l) => columnOf.get(l.target));
        if (next.length > 0 && !links.some((l) => l.target === fact.id))
            columnOf.set(fact.id, Math.min(...next) - 1);
    }
    const first = Math.min(...columnOf.values());
    const count = Math.max(...columnOf.values()) - first + 1;
    const column = Math.min(COLUMN_MAX, Math.max(COLUMN_MIN, width / count));
    const total = Math.max(width, column * count);
    const left = (total - column * count) / 2;
    const columns = Array.from({ length: count }, () => []);
    const add = (item, at) => {
        item.x = left + (at + 0.5) * column;
        item.before = [];
        item.after = [];
        columns[at].push(item);
        return item;
    };
    const w = column - GAP;
    const nodes = all.map((fact) =>
        add(
            {
                id: fact.id,
                w,
                h: BOX_HEIGHT,
                href: link("facts", fact.key),
                look: `${lookOf(fact)} ${fact.level === 0 ? "chosen" : ""}`,
                symbol: symbolOf[lookOf(fact)] ?? "·",
                name: fit(fact.key, w - BOX_TEXT - 8, { isMiddle: true, weight: 600 }),
                second: fit(plain(fact.value), w - BOX_TEXT - 8),
                title:
                    `${fact.key} = ${short(plain(fact.value), 200)}, ` +
                    (fact.needs_review ? "needs review" : nameOf(fact.status)),
            },
            columnOf.get(fact.id) - first,
        ),
    );
    const byId = new Map(nodes.map((n) => [n.id, n]));
    const paths = links.map(({ source, target }) => {
        const path = [byId.get(source)];
        for (let at = columnOf.get(source) + 1; at < columnOf.get(target); at++)
            path.push(add({ w: w / 2, h: 0 }, at - first));
        path.push(byId.get(target));
        for (let i = 1; i < path.length; i++) {
            path[i].before.push(path[i - 1]);
            path[i - 1].after.push(path[i]);
        }
        return path;
    });
    const heightOf = (items) =>
        items.reduce((sum, item) => sum + item.h + ROW_GAP, ROW_GAP);
    const height = Math.max(...columns.map(heightOf));
    const stack = (items) => {
        let y = (height - heightOf(items)) / 2 + ROW_GAP;
        for (const item of items) {
            item.y = y + item.h / 2;
            y += item.h + ROW_GAP;
        }
    };
    const sortBy = (member) => (items) => {
        for (const item of items) {
            const near = item[member];
            const sum = near.reduce((y, n) => y + n.y, 0);
            item.wanted = near.length ? sum / near.length : item.y;
        }
        stack(items.sort((a, b) => a.wanted - b.wanted));
    };
    columns.forEach(stack);
    for (let i = 0; i < SWEEPS; i++) {
        columns.forEach(sortBy("before"));
        columns.toReversed().forEach(sortBy("after"));
    }
    return { nodes, links: paths.map((path) => ({ d: curve(path) })), width: total, height };
}

// A line through the things of a path, level where it leaves and enters a box.
function curve(path) {
    let d = `M${path[0].x + path[0].w / 2} ${path[0].y}`;
    for (let i = 1; i < path.length; i++) {
        const from = path[i - 1].x + path[i - 1].w / 2;
        const to = path[i].x - path[i].w / 2;
        const middle = (from + to) / 2;
        d += `C${middle} ${path[i - 1].y} ${middle} ${path[i].y} ${to} ${path[i].y}`;
        if (path[i].h === 0) d += `H${path[i].x + path[i].w / 2}`;
    }
    return d;
}

// The same facts as an indented tree, with all of each value. A fact that is its own ancestor is
// not followed again.
function Tree({ ids, facts, member, path, label }) {
    const left = ids.filter((id) => facts.has(id) && !path.includes(id));
    if (left.length === 0) return null;
    return (
        <ul class="tree" aria-label={label}>
            {left.map((id) => {
                const fact = facts.get(id);
                return (
                    <li key={id}>
                        <a href={link("facts", fact.key)}>{fact.key}</a> ={" "}
                        <span class="value">{plain(fact.value)}</span> <Status of={fact} />
                        {fact.needs_review && <Badge tone="warn">needs review</Badge>}
                        <Tree
                            ids={fact[member]}
                            facts={facts}
                            member={member}
                            path={[...path, id]}
                        />
                    </li>
                );
            })}
        </ul>
    );
}

function Dependencies({ fact }) {
    const { facts, isCut } = useDependencies(fact);
    const [box, width] = useWidth();
    const { nodes, links, ...size } = useMemo(
        () => (facts.size > 1 && width > 0 ? place(facts, width) : { nodes: [] }),
        [facts, width],
    );
    return (
        <section aria-label="Dependencies">
            <h3>Dependencies</h3>
            <figure class="graph">
                <div
                    ref={box}
                    class="drawing"
                    style={{ minHeight: `${BOX_HEIGHT + 2 * ROW_GAP}px` }}
                >
                    {nodes.length > 0 && (
                        <Graph
                            nodes={nodes}
                            links={links}
                            {...size}
                            current={fact.id}
                            isDirected
                            label={
                                `Graph of ${nodes.length} facts and ` +
                                `${links.length} dependencies; the list below has the same facts`
                            }
                        />
                    )}
                </div>
                <figcaption class="muted">
                    An arrow leads from a fact to one that was derived from it.
                    {isCut && ` Facts beyond ${DEPTH_MAX} levels or ${NODES_MAX} are not drawn.`}
                </figcaption>
            </figure>
            <details class="as-list">
                <summary>The same as a list</summary>
                {[
                    ["depends_on", "Derived from"],
                    ["derived_facts", "Facts derived from it"],
                ]
                    .filter(([member]) => fact[member].length > 0)
                    .map(([member, label]) => (
                        <>
                            <p class="muted">{label}</p>
                            <Tree
                                ids={fact[member]}
                                facts={facts}
                                member={member}
                                path={[fact.id]}
                                label={label}
                            />
                        </>
                    ))}
            </details>
        </section>
    );
}

/* ---- Versions ------------------------------------------------------------ */

function Version({ fact, byId, isOpen }) {
    const client = fact.client;
    const session = client?.session_id;
    return (
        <li class={`version ${fact.status}`}>
            <p>
                <Status of={fact} /> <Value value={fact.value} />{" "}
                <Time at={fact.observed_at} />
            </p>
            <p class="muted">
                {why(fact, byId)} {ended(fact, byId)}
            </p>
            <details open={isOpen}>
                <summary>Details</summary>
                <Pairs
                    of={[
                        ["Who", who(fact)],
                        ["Authority", fact.authority],
                        ["Trust", fact.trust],
                        ["True since", <Time at={fact.observed_at} isLong />],
                        ["Recorded", <Time at={fact.recorded_at} isLong />],
                        ["Ended", fact.ended_at && <Time at={fact.ended_at} isLong />],
                        ["Expires", fact.valid_until && <Time at={fact.valid_until} isLong />],
                        [
                            "Scope",
                            fact.scope === "global" ? "" : `${fact.scope} ${fact.scope_id || ""}`,
                        ],
                        [
                            "Program",
                            client &&
                                [client.name, client.version, client.model]
                                    .filter(Boolean)
                                    .join(" "),
                        ],
                        [
                            "Session",
                            session && (
                                <a href={link("sessions", session)}>
                                    <code>{session}</code>
                                </a>
                            ),
                        ],
                        ["Event", <a href={link("live", String(fact.seq))}>{fact.seq}</a>],
                        ["Id", <code>{fact.id}</code>],
                    ]}
                />
                <Sources ids={fact.depends_on} name="Derived from" />
                <Sources ids={fact.derived_facts} name="Others derived from it" />
            </details>
        </li>
    );
}

function RetractDialog({ name, onClose, onDone }) {
    const submit = async (event) => {
        event.preventDefault();
        const reason = new FormData(event.currentTarget).get("reason");
        if (
            await act(
                "fact.retract",
                withAuthority({ key: name, ...(reason && { reason }) }),
                `Retracted: ${name}`,
            )
        )
            onDone();
    };
    return (
        <Dialog
            title={`Retract ${name}?`}
            onClose={onClose}
            actions={
                <button type="submit" form="retract" class="danger">
                    Retract
                </button>
            }
        >
            <form id="retract" onSubmit={submit}>
                <p>The fact has no value afterwards. Its history stays.</p>
                <label for="reason">Reason</label>
                <input id="reason" name="reason" autofocus />
                <Authority />
            </form>
        </Dialog>
    );
}

// The values at the time of the slider. Of the keys with this prefix, the key itself comes first.
function AsOfValue({ name, at }) {
    const settled = useSettled(at);
    const past = useCall("fact.list", { prefix: name, as_of: settled, limit: 10 });
    const facts = past.data?.facts.filter((fact) => fact.key === name);
    return (
        <>
            <Problem error={past.error} />
            {facts && (
                <p class="past">
                    <b>
                        On <Time at={settled} isLong />
                    </b>{" "}
                    {facts.length === 0 && "it had no value."}
                    {facts.map((fact) => (
                        <>
                            it was <Value value={fact.value} />, said by {said(fact)}.{" "}
                        </>
                    ))}
                </p>
            )}
        </>
    );
}

function Fact({ name, at }) {
    const [dialog, setDialog] = useState("");
    const history = useCall("fact.history", { key: name, limit: 1000 }, ["fact", "review"]);
    const claims = useCall("fact.claims", { key: name, limit: 1000 }, ["fact", "review"]);
    const versions = [...(history.data?.facts ?? []), ...(claims.data?.claims ?? [])].sort(
        (a, b) => b.seq - a.seq,
    );
    const byId = new Map(versions.map((fact) => [fact.id, fact]));
    const current = versions.filter((fact) => fact.is_valid);
    const close = () => setDialog("");
    return (
        <article class="detail">
            <h2>{name}</h2>
            <Problem error={history.error} />
            <Loading when={history.isLoading && !history.data} />
            {history.data && versions.length === 0 && <Empty>There is no fact of this name.</Empty>}
            {versions.length > 0 && (
                <>
                    {at && <AsOfValue name={name} at={at} />}
                    {at && <h3>Now</h3>}
                    {current.length === 0 && <p class="headline muted">No current value</p>}
                    {current.map((fact) => (
                        <div class="headline">
                            <Value value={fact.value} />
                            <p class="why">{why(fact, byId)}</p>
                            {fact.needs_review && (
                                <p>
                                    <Badge tone="warn">needs review</Badge> A fact that it was
                                    derived from is no longer valid.
                                </p>
                            )}
                        </div>
                    ))}
                    <div class="actions">
                        {current.length > 0 && (
                            <button type="button" onClick={() => setDialog("retract")}>
                                Retract …
                            </button>
                        )}
                        <button type="button" onClick={() => setDialog("forget")}>
                            Forget …
                        </button>
                    </div>
                    {current
                        .filter((fact) => fact.depends_on.length + fact.derived_facts.length > 0)
                        .map((fact) => (
                            <Dependencies key={fact.id} fact={fact} />
                        ))}
                    <h3>History</h3>
                    <ol class="timeline">
                        {versions.map((fact) => (
                            <Version
                                key={fact.id}
                                fact={fact}
                                byId={byId}
                                isOpen={fact === (current[0] ?? versions[0])}
                            />
                        ))}
                    </ol>
                </>
            )}
            {dialog === "retract" && <RetractDialog name={name} onClose={close} onDone={close} />}
            {dialog === "forget" && (
                <ForgetDialog
                    operation="fact.forget"
                    args={{ key: name }}
                    hasAuthority
                    name={name}
                    onClose={close}
                    onDone={() => go(link("facts"))}
                />
            )}
        </article>
    );
}

export function Facts() {
    const { rest, query } = route.value;
    const keep = { q: query.get("q"), as_of: query.get("as_of") };
    return (
        <Split
            list={<FactList />}
            back={link("facts", keep)}
            detail={rest[0] && <Fact key={rest[0]} name={rest[0]} at={query.get("as_of")} />}
        />
    );
}
