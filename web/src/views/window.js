// window.js - the window of the agent: which resources it has loaded, what each of them costs, and
// which would be paged out first. The graph and the list show the same resources; the list is the
// one for the keyboard and for screen readers.
import { forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useCall, usePages } from "../data.js";
import { fit, Graph, useWidth } from "../graph.js";
import { go, link, route, setQuery } from "../route.js";
import {
    act,
    ago,
    Badge,
    Empty,
    ForgetDialog,
    Loading,
    number,
    Pairs,
    Problem,
    Split,
    Time,
    VirtualList,
} from "../ui.js";

const ROOMS = ["window", "resource"];
const symbols = { unknown: "—", cold: "○", loaded: "✓", hot: "◆", indexed: "●", offline: "✗" };
const regions = ["active", "indexed", "cold", "offline"];
const toneOf = { low: "good", medium: "", high: "warn", critical: "bad" };

const shortName = (uri) => uri.replace(/\/+$/, "").split("/").at(-1).replace(/^\w+:/, "") || uri;

/* ---- The graph ----------------------------------------------------------- */

const NODES_MAX = 120;
const CELL_MIN = 100; // Width of a resource with its name.
const ROWS_MIN = 3;
const NARROW = 560; // Less room has its regions below each other.
const TITLE = 24; // Height of the name of a region.
const NAME = 26; // Height of the name of a resource, with some room.
const RADIUS_MAX = 20;
const TICKS = 150;

// The place of each region: {x, y, width, height, cells per row}. Beside each other, a region gets
// as many columns of cells as its resources need in `rows` rows; there are as few rows as possible.
function placeRegions(counts, width, row) {
    const heightOf = (rows) => TITLE + rows * row;
    if (width < NARROW) {
        const cells = Math.max(2, Math.floor(width / CELL_MIN));
        let y = 0;
        return counts.map((n) => {
            const box = { x: 0, y, width, height: heightOf(Math.ceil(n / cells)), cells };
            y += box.height;
            return box;
        });
    }
    const most = Math.max(ROWS_MIN, ...counts);
    const columnsIn = (rows) => counts.map((n) => Math.max(1, Math.ceil(n / rows)));
    const isTooWide = (rows) => columnsIn(rows).reduce((a, b) => a + b) * CELL_MIN > width;
    let rows = ROWS_MIN;
    while (rows < most && isTooWide(rows)) rows++;
    const columns = columnsIn(rows);
    const column = width / columns.reduce((a, b) => a + b);
    const used = Math.max(...counts.map((n, i) => Math.ceil(n / columns[i])));
    let x = 0;
    return columns.map((cells) => {
        const box = { x, y: 0, width: cells * column, height: heightOf(used), cells };
        x += box.width;
        return box;
    });
}

// Resources that are linked should be near each other: d3-force pulls them together, and then each
// gets a cell, row by row, in the order of its place.
function order(nodes, links, boxes) {
    if (links.length === 0) return;
    nodes.forEach((n, i) => {
        const box = boxes[regions.indexOf(n.resource.region)];
        Object.assign(n, {
            middleX: box.x + box.width / 2,
            middleY: box.y + box.height / 2,
            x: box.x + box.width / 2 + ((i % 3) - 1) * 12,
            y: box.y + box.height / 2 + ((i * 37) % 80) - 40,
        });
    });
    forceSimulation(nodes)
        .force("charge", forceManyBody().strength(-30))
        .force("x", forceX((n) => n.middleX).strength(0.25))
        .force("y", forceY((n) => n.middleY).strength(0.06))
        .force("link", forceLink(links).strength(0.03))
        .stop()
        .tick(TICKS);
}

// A slightly bent line: one that is straight would run through what is between its ends.
function bent({ source, target }) {
    const [dx, dy] = [target.x - source.x, target.y - source.y];
    const [x, y] = [(source.x + target.x) / 2 - dy / 6, (source.y + target.y) / 2 + dx / 6];
    return `M${source.x} ${source.y}Q${x} ${y} ${target.x} ${target.y}`;
}

// Places the resources, the area of a circle by its tokens.
function place(resources, width) {
    const nodes = resources.map((r) => ({
        id: r.id,
        uri: r.uri,
        r: 9 + Math.min(RADIUS_MAX - 9, Math.sqrt(r.size_tokens || 0) / 4),
        resource: r,
    }));
    const row = 2 * Math.max(...nodes.map((n) => n.r)) + NAME;
    const groups = regions.map((region) => nodes.filter((n) => n.resource.region === region));
    const boxes = placeRegions(
        groups.map((group) => group.length),
        width,
        row,
    );
    const byName = new Map(nodes.flatMap((n) => [[n.id, n], [n.uri, n]]));
    const links = nodes.flatMap((n) =>
        n.resource.links
            .filter((l) => byName.has(l.to))
            .map((l) => ({ source: n, target: byName.get(l.to), title: l.label || "link" })),
    );
    order(nodes, links, boxes);
    groups.forEach((group, i) => {
        const { x, y, width: room, height, cells } = boxes[i];
        if (links.length > 0) group.sort((a, b) => a.y - b.y);
        const rows = Math.ceil(group.length / cells);
        const step = (height - TITLE) / rows;
        for (let at = 0; at < rows; at++) {
            const line = group.slice(at * cells, (at + 1) * cells);
            if (links.length > 0) line.sort((a, b) => a.x - b.x);
            line.forEach((n, j) => {
                n.x = x + ((j + 0.5) * room) / line.length;
                n.y = y + TITLE + (at + 0.5) * step - NAME / 2 + 6;
                n.name = fit(shortName(n.uri), room / line.length - 8, { isMiddle: true });
            });
        }
    });
    return {
        nodes,
        links: links.map((l) => ({ d: bent(l), title: l.title })),
        boxes,
        height: Math.max(...boxes.map((box) => box.y + box.height)),
    };
}

function MindMap({ resources, chosen, candidates, query }) {
    const [box, width] = useWidth();
    const shown = resources
        .toSorted((a, b) => b.window_tokens - a.window_tokens || b.attention - a.attention)
        .slice(0, NODES_MAX);
    const key = JSON.stringify([
        width,
        shown.map((r) => [r.id, r.region, r.state, r.attention, r.size_tokens, r.links]),
    ]);
    const { nodes, links, boxes, height } = useMemo(() => place(shown, width), [key]);
    const next = new Set(candidates.map((c) => c.id));
    const drawn = nodes.map((n) =>
        Object.assign(n, {
            href: link("window", n.id, query),
            symbol: symbols[n.resource.state],
            look:
                `${n.resource.state} ${n.id === chosen ? "chosen" : ""} ` +
                (next.has(n.id) ? "next" : ""),
            title:
                `${n.uri}: ${n.resource.state}, ${number(n.resource.size_tokens ?? 0)} tokens, ` +
                `attention ${n.resource.attention}`,
        }),
    );
    return (
        <figure class="graph">
            <div ref={box}>
                <Graph
                    nodes={drawn}
                    links={links}
                    width={width}
                    height={height}
                    current={chosen}
                    label={
                        `Mind map of ${number(nodes.length)} resources and ` +
                        `${number(links.length)} links; the list below has the same resources`
                    }
                    below={boxes.map(({ x, y, width: w }, i) => (
                        <>
                            {x > 0 && <line class="border" x1={x} x2={x} y1="0" y2={height} />}
                            {y > 0 && <line class="border" x1={x} x2={x + w} y1={y} y2={y} />}
                            <text class="region" x={x + 8} y={y + 16}>
                                {regions[i]}
                            </text>
                        </>
                    ))}
                />
            </div>
            <figcaption class="muted">
                A larger circle has more tokens; a dashed one can be paged out. Active resources are
                in the context, indexed ones with their summary only in the map; cold ones were not
                read or are outdated, offline ones cannot be read.
                {resources.length > NODES_MAX &&
                    ` The ${NODES_MAX} largest of ${number(resources.length)} are drawn.`}
            </figcaption>
        </figure>
    );
}

/* ---- Pressure and candidates --------------------------------------------- */

function Pressure({ window: w }) {
    const p = w.pressure;
    const text =
        `${number(p.active_tokens)} of ${number(p.limit)} tokens are in use, ` +
        `${number(p.available)} are free`;
    return (
        <div class="pressure">
            <p>
                <Badge tone={toneOf[p.level]}>pressure {p.level}</Badge> {text}
                {w.reserve_output > 0 &&
                    `; ${number(w.reserve_output)} more are kept for the answer`}
            </p>
            <div class="shares" role="img" aria-label={text}>
                <span
                    class={p.level === "critical" ? "share-3" : "share-0"}
                    style={{ flexGrow: p.active_tokens }}
                />
                <span class="free" style={{ flexGrow: Math.max(0, p.available) }} />
            </div>
            {p.warning && <p class="problem warn">{p.warning}</p>}
        </div>
    );
}

// A reason with its times, such as 2026-01-12T09:05:00Z, in words.
const readable = (reason) => reason.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, ago);

function Candidates({ answer, error, isOpen }) {
    return (
        <details class="candidates" open={isOpen}>
            <summary>Next to be paged out</summary>
            {error && <p class="muted">{error.message}</p>}
            {answer?.candidates.length === 0 && <p class="muted">Nothing is loaded.</p>}
            <ol>
                {answer?.candidates.map((c) => (
                    <li key={c.id}>
                        <a href={link("window", c.id)}>{c.uri}</a>{" "}
                        <span class="muted">
                            {number(c.tokens)} tokens: {readable(c.reason)}
                        </span>
                    </li>
                ))}
            </ol>
        </details>
    );
}

function Resources() {
    const { rest, query } = route.value;
    const text = query.get("q") || "";
    const region = query.get("region") || "";
    const window = useCall("window.get", {}, ROOMS);
    const candidates = useCall(window.data ? "window.candidates" : null, { limit: 10 }, ROOMS);
    const pages = usePages(
        window.data ? "resource.list" : null,
        "resources",
        {},
        { rooms: ROOMS, limit: 1000 },
    );
    useEffect(() => {
        if (pages.isStale) pages.reload();
    }, [pages.isStale]);
    const wanted = text.trim().toLowerCase();
    const rows = pages.rows.filter(
        (r) => (!region || r.region === region) && r.uri.toLowerCase().includes(wanted),
    );
    if (!window.data)
        return (
            <>
                <Loading when={window.isLoading} />
                {window.error && window.error.code !== "not_found" && (
                    <Problem error={window.error} />
                )}
                {window.error?.code === "not_found" && (
                    <Empty>
                        No window is open.
                        <code>loci window open 8000</code> opens one.
                    </Empty>
                )}
            </>
        );
    const w = window.data;
    return (
        <>
            <Pressure window={w} />
            <div class="tools">
                <input
                    type="search"
                    data-search
                    aria-label="Resources whose URI contains"
                    placeholder="URIs that contain …"
                    value={text}
                    onInput={(event) => setQuery({ q: event.currentTarget.value })}
                />
                <label>
                    Region{" "}
                    <select
                        value={region}
                        onChange={(event) => setQuery({ region: event.currentTarget.value })}
                    >
                        <option value="">all</option>
                        {regions.map((name) => (
                            <option>{name}</option>
                        ))}
                    </select>
                </label>
                <label>
                    Policy{" "}
                    <select
                        id="policy"
                        value={w.policy}
                        onChange={(event) =>
                            act(
                                "window.policy",
                                { policy: event.currentTarget.value },
                                "The policy was changed",
                            )
                        }
                    >
                        {["lru", "size_first", "keep_relational", "keep_technical"].map((p) => (
                            <option>{p}</option>
                        ))}
                    </select>
                </label>
            </div>
            <Candidates
                answer={candidates.data}
                error={candidates.error}
                isOpen={!rest[0]}
            />
            <Problem error={pages.error} />
            {rows.length > 0 && (
                <MindMap
                    resources={rows}
                    query={{ q: text, region }}
                    chosen={rest[0]}
                    candidates={candidates.data?.candidates ?? []}
                />
            )}
            {!pages.isLoading && rows.length === 0 && (
                <Empty>
                    {text || region ? (
                        "No resource matches."
                    ) : (
                        <>
                            The window is empty.
                            <code>loci resource discover --name rules --text "…"</code> adds a text.
                        </>
                    )}
                </Empty>
            )}
            <VirtualList
                rows={rows}
                height={52}
                label="Resources"
                of={`${wanted} ${region}`}
                rowKey={(r) => r.id}
                onEnd={pages.more}
                isBusy={pages.isLoading}
                render={(r) => (
                    <a
                        class="row"
                        href={link("window", r.id, { q: text, region })}
                        aria-current={rest[0] === r.id ? "true" : undefined}
                    >
                        <span class="row-main">
                            <span class="one-line">
                                <span aria-hidden="true">{symbols[r.state]}</span> <b>{r.uri}</b>
                            </span>
                            <span class="row-badges">
                                {r.stale && <Badge tone="warn">stale</Badge>}
                                {r.tags.includes("protected") && <Badge>protected</Badge>}
                                <Badge tone={r.region === "active" ? "good" : ""}>{r.state}</Badge>
                            </span>
                        </span>
                        <span class="row-sub">
                            <span class="muted one-line">
                                {r.kind}, attention {r.attention}
                                {r.annotations.length > 0 && `: ${r.annotations.at(-1).text}`}
                            </span>
                            <span class="muted">
                                {r.size_tokens === null
                                    ? "not read"
                                    : `${number(r.size_tokens)} tokens`}
                            </span>
                        </span>
                    </a>
                )}
            />
        </>
    );
}

/* ---- One resource -------------------------------------------------------- */

function Resource({ id }) {
    const [content, setContent] = useState(null);
    const [isForgetting, setForgetting] = useState(false);
    const resource = useCall("resource.get", { id }, ROOMS);
    const r = resource.data;
    const run = async (operation, args, done) => {
        const answer = await act(operation, { id, ...args }, done);
        if (answer) resource.reload();
        return answer;
    };
    const pageIn = async (mode) => {
        const answer = await run("resource.page_in", { mode }, "Paged in");
        if (answer) setContent(answer.content);
    };
    const attend = (event) => {
        event.preventDefault();
        const attention = Number(new FormData(event.currentTarget).get("attention"));
        run("resource.attention", { attention }, "The attention was set");
    };
    const annotate = async (event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const text = new FormData(form).get("annotation");
        if (await run("resource.annotate", { text }, "The annotation was added")) form.reset();
    };
    const isActive = r?.region === "active";
    return (
        <article class="detail">
            <h2>{r?.uri || id}</h2>
            <Problem error={resource.error} />
            <Loading when={resource.isLoading && !r} />
            {r && (
                <>
                    <p>
                        <Badge tone={isActive ? "good" : r.state === "offline" ? "bad" : ""}>
                            {symbols[r.state]} {r.state}
                        </Badge>
                        {r.stale && <Badge tone="warn">stale</Badge>}
                        {r.tags.map((tag) => (
                            <Badge>{tag}</Badge>
                        ))}
                    </p>
                    {r.problem && <p class="problem">{r.problem}</p>}
                    <div class="actions">
                        <button type="button" onClick={() => pageIn("full")}>
                            Page in
                        </button>
                        <button type="button" onClick={() => pageIn("summary")}>
                            Page in the summary
                        </button>
                        {isActive && (
                            <button
                                type="button"
                                onClick={async () => {
                                    if (await run("resource.page_out", {}, "Paged out"))
                                        setContent(null);
                                }}
                            >
                                Page out
                            </button>
                        )}
                        <button type="button" onClick={() => setForgetting(true)}>
                            Forget …
                        </button>
                    </div>
                    <form class="tools" onSubmit={attend}>
                        <label for="attention">Attention</label>
                        <input
                            id="attention"
                            name="attention"
                            type="number"
                            min="0"
                            max="10"
                            step="any"
                            required
                            key={r.attention}
                            defaultValue={String(r.attention)}
                        />
                        <button type="submit">Set</button>
                    </form>
                    <form class="tools" onSubmit={annotate}>
                        <label for="annotation">Annotation</label>
                        <input id="annotation" name="annotation" required maxLength={2000} />
                        <button type="submit">Add</button>
                    </form>
                    {content !== null && (
                        <pre tabIndex={0} aria-label="Content">
                            {content}
                        </pre>
                    )}
                    {r.summary && (
                        <>
                            <h3>Summary</h3>
                            <p class="text">{r.summary}</p>
                        </>
                    )}
                    {r.annotations.length > 0 && (
                        <>
                            <h3>Annotations</h3>
                            <ul class="annotations">
                                {r.annotations.map((a) => (
                                    <li>
                                        <span class="text">{a.text}</span> <Time at={a.at} />
                                    </li>
                                ))}
                            </ul>
                        </>
                    )}
                    {r.links.length > 0 && (
                        <>
                            <h3>Links</h3>
                            <ul>
                                {r.links.map((l) => (
                                    <li>
                                        {l.label && `${l.label}: `}
                                        <Target id={l.to} />
                                    </li>
                                ))}
                            </ul>
                        </>
                    )}
                    <Pairs
                        of={[
                            ["Kind", r.kind],
                            ["In the window", r.mode && `${number(r.window_tokens)} tokens`],
                            ["Part", r.mode],
                            [
                                "Size",
                                r.size_tokens === null
                                    ? "not read yet"
                                    : `${number(r.size_tokens)} tokens`,
                            ],
                            ["Last used", <Time at={r.last_accessed} isLong />],
                            ["Read", r.read_at && <Time at={r.read_at} isLong />],
                            ["Discovered", <Time at={r.created_at} isLong />],
                            ["Id", <code>{r.id}</code>],
                        ]}
                    />
                    {isForgetting && (
                        <ForgetDialog
                            operation="resource.forget"
                            args={{ id: r.id }}
                            name={r.uri}
                            onClose={() => setForgetting(false)}
                            onDone={() => go(link("window"))}
                        />
                    )}
                </>
            )}
        </article>
    );
}

function Target({ id }) {
    const { data } = useCall("resource.get", { id });
    return <a href={link("window", data?.id ?? id)}>{data?.uri ?? id}</a>;
}

export function Window() {
    const { rest, query } = route.value;
    const keep = { q: query.get("q"), region: query.get("region") };
    return (
        <Split
            list={<Resources />}
            back={link("window", keep)}
            detail={rest[0] && <Resource key={rest[0]} id={rest[0]} />}
        />
    );
}
