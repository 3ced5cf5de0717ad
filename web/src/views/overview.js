// overview.js - how large the store is, what it does, and what was written of late.
import { useEffect, useRef, useState } from "preact/hooks";
import { call, epoch } from "../api.js";
import { events } from "../live.js";
import { useCall } from "../data.js";
import { link, user } from "../route.js";
import {
    Badge,
    bytes,
    count,
    Empty,
    Loading,
    number,
    Pairs,
    Problem,
    Time,
    useStepKeys,
} from "../ui.js";
import { EventLine } from "./live.js";

const BARS = 60;

const Tile = ({ name, value, note, href }) => (
    <a class="tile" href={href}>
        <span class="tile-name">{name}</span>
        <span class="tile-value">{value}</span>
        {note && <span class="muted">{note}</span>}
    </a>
);

// Events per slice of time, as bars.
function Writes({ list }) {
    if (list.length < 2) return <Empty>Too few events for a chart yet.</Empty>;
    const to = Date.parse(list[0].recorded_at);
    const from = Date.parse(list.at(-1).recorded_at);
    const span = Math.max(1, to - from);
    const counts = new Array(BARS).fill(0);
    for (const event of list)
        counts[
            Math.min(BARS - 1, Math.floor(((Date.parse(event.recorded_at) - from) / span) * BARS))
        ]++;
    const most = Math.max(...counts);
    const text = `${count(list.length, "event")}, at most ${number(most)} per bar`;
    return (
        <figure class="chart">
            <svg
                viewBox={`0 0 ${BARS * 10} 100`}
                preserveAspectRatio="none"
                role="img"
                aria-label={text}
            >
                {counts.map((n, i) => (
                    <rect
                        x={i * 10 + 1}
                        width="8"
                        y={100 - (n / most) * 100}
                        height={(n / most) * 100}
                    >
                        <title>{n}</title>
                    </rect>
                ))}
            </svg>
            <figcaption class="muted">
                <Time at={list.at(-1).recorded_at} isLong />
                <span>{text}</span>
                <Time at={list[0].recorded_at} isLong />
            </figcaption>
        </figure>
    );
}

/* ---- Over time ----------------------------------------------------------- */

const SAMPLE_MS = 5000; // The daemon takes one as often,
const SAMPLES_MAX = 720; // and keeps as many.

// The samples of the daemon: those of its last hour, then those that came since.
function useSamples(isWanted) {
    const [samples, setSamples] = useState([]);
    const last = useRef("");
    const began = epoch.value; // A daemon that was started again has counters from zero.
    useEffect(() => {
        if (!isWanted) return undefined;
        const controller = new AbortController();
        last.current = "";
        const read = async () => {
            const args = last.current ? { since: last.current } : {};
            const { samples: more } = await call("store.activity", args, controller.signal);
            if (more.length === 0) return;
            const isFirst = last.current === "";
            last.current = more.at(-1).at;
            const points = more.map((sample) => ({ ...sample, at: Date.parse(sample.at) }));
            setSamples((old) => [...(isFirst ? [] : old), ...points].slice(-SAMPLES_MAX));
        };
        const tryRead = () => read().catch(() => {}); // The frame says what is wrong.
        tryRead();
        const timer = setInterval(tryRead, SAMPLE_MS);
        return () => {
            clearInterval(timer);
            controller.abort();
        };
    }, [isWanted, began]);
    return samples;
}

// Calls per second between two samples.
const rates = (samples, member) =>
    samples.slice(1).map((sample, i) => {
        const before = samples[i];
        const count = Math.max(0, sample[member] - before[member]);
        return { at: sample.at, value: count / Math.max(0.001, (sample.at - before.at) / 1000) };
    });

// Tokens of the window after each of the latest events that changed it, and now.
function tokensOver(list, w) {
    const points = list
        .filter((e) => e.refs?.window?.id === w.id)
        .map((e) => ({ at: Date.parse(e.recorded_at), value: e.refs.window.active_tokens ?? 0 }))
        .reverse();
    const value = w.pressure.active_tokens;
    return [...points, { at: Math.max(Date.now(), points.at(-1)?.at ?? 0), value }];
}

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });

// A curve from its first to its last point; its highest point is `most`, or the highest there is.
// `isStep`: a value lasts until the next one.
function Trend({ name, points, text, most = 0, isStep = false }) {
    const from = points[0]?.at ?? 0;
    const span = Math.max(1, (points.at(-1)?.at ?? 0) - from);
    const high = Math.max(most, ...points.map((p) => p.value)) || 1;
    const x = (p) => ((p.at - from) / span) * 300;
    const y = (p) => 49 - (p.value / high) * 47;
    const line = points
        .map((p, i) => `${isStep && i > 0 ? `${x(p)},${y(points[i - 1])} ` : ""}${x(p)},${y(p)}`)
        .join(" ");
    return (
        <div class="trend">
            <p>
                {name} <b>{text}</b>
            </p>
            <svg viewBox="0 0 300 50" preserveAspectRatio="none" aria-hidden="true">
                {points.length > 1 && <polygon points={`0,50 ${line} 300,50`} />}
                {points.length > 1 && <polyline points={line} />}
            </svg>
            {points.length > 1 && <p class="since">since {clock.format(from)}</p>}
        </div>
    );
}

const toneOf = { normal: "good", elevated: "warn", high: "warn", critical: "bad" };

function Pulse({ guard, samples, window: w }) {
    const perSecond = (list) =>
        list.length > 0 ? `${number(Math.round(list.at(-1).value * 10) / 10)} per s` : "–";
    const curves = [
        ["Reads", "reads"],
        ["Recalls", "recalls"],
        ["Writes of all users", "writes"],
    ];
    return (
        <section class="card">
            <h2>
                Now <Badge tone={toneOf[guard.level]}>guard {guard.level}</Badge>
                {w && <Badge>window {w.pressure.level}</Badge>}
            </h2>
            <div class="trends">
                <Trend
                    name="Memory"
                    points={samples.map((p) => ({ at: p.at, value: p.used_bytes }))}
                    text={
                        bytes(guard.used_bytes) +
                        (guard.limit_bytes ? ` of ${bytes(guard.limit_bytes)}` : "")
                    }
                />
                {w && (
                    <Trend
                        name="Tokens in the window"
                        points={tokensOver(events.value, w)}
                        text={`${number(w.pressure.active_tokens)} of ${number(w.pressure.limit)}`}
                        most={w.pressure.limit}
                        isStep
                    />
                )}
                {curves.map(([name, member]) => {
                    const points = rates(samples, member);
                    return <Trend name={name} points={points} text={perSecond(points)} />;
                })}
            </div>
        </section>
    );
}

/* ---- The view ------------------------------------------------------------ */

function Jobs({ jobs }) {
    const shown = Object.entries(jobs).filter(([, n]) => n > 0);
    if (!shown.length) return <>none</>;
    return (
        <>
            {shown.map(([status, n]) => (
                <Badge tone={status === "failed" ? "bad" : ""}>
                    {number(n)} {status}
                </Badge>
            ))}
        </>
    );
}

function Store({ store }) {
    return (
        <section class="card">
            <h2>Store</h2>
            <Pairs
                of={[
                    ["Database", `${store.driver}, ${store.store}`],
                    ["Size", `${bytes(store.bytes)}, log ${bytes(store.wal_bytes)}`],
                    ["Users", number(store.users)],
                    ["Jobs of users", <Jobs jobs={store.jobs} />],
                    ["Jobs of the store", <Jobs jobs={store.store_jobs} />],
                    ["Last backup", store.backup_at ? <Time at={store.backup_at} /> : "never"],
                    [
                        "Forgotten bytes",
                        store.scrub_pending ? "still in the files" : "none in the files",
                    ],
                    [
                        "Memory in use",
                        bytes(Object.values(store.memory).reduce((a, b) => a + b, 0)),
                    ],
                    [
                        "Since the start",
                        `${number(store.counters.writes)} writes, ` +
                            `${number(store.counters.reads)} reads, ` +
                            `${number(store.counters.recalls)} of them recalls`,
                    ],
                    ["Version", store.version],
                ]}
            />
        </section>
    );
}

export function Overview() {
    useStepKeys(".overview .plain li");
    const rooms = ["fact", "memory", "session", "review"];
    const store = useCall("store.status", { user_id: undefined }, rooms);
    const log = useCall("event.list", { limit: 1 }, rooms);
    const inbox = useCall("review.list", { limit: 1000 }, rooms);
    const jobs = useCall("job.list", { limit: 1000 }, rooms);
    // The guard is for administrators, like the store.
    const guard = useCall(store.data ? "guard.status" : null, { user_id: undefined });
    // Reading a window that is not open is an error: only one that was used of late is read.
    const hasWindow = events.value.some((e) => /^(window|resource)\./.test(e.type));
    const window = useCall(hasWindow ? "window.get" : null, {}, ["window", "resource"]);
    const samples = useSamples(Boolean(store.data));
    useEffect(() => {
        if (!store.data) return undefined;
        const timer = setInterval(() => {
            store.reload();
            guard.reload();
        }, SAMPLE_MS);
        return () => clearInterval(timer);
    }, [Boolean(store.data)]);
    const waiting = inbox.data?.items.length ?? 0;
    const active = jobs.data?.jobs.filter((j) => j.status === "running" || j.status === "queued");
    const failed = jobs.data?.jobs.filter((j) => j.status === "failed").length ?? 0;
    return (
        <div class="overview">
            <Problem error={log.error} />
            <Loading when={log.isLoading && !log.data} />
            <div class="tiles">
                {log.data && (
                    <Tile
                        name={`Events of user ${user.value}`}
                        value={number(log.data.head_seq)}
                        note={
                            events.value[0] && (
                                <>
                                    last <Time at={events.value[0].recorded_at} />
                                </>
                            )
                        }
                        href={link("live")}
                    />
                )}
                {store.data && (
                    <Tile
                        name="Events of all users"
                        value={number(store.data.events)}
                        note={bytes(store.data.bytes)}
                        href={link("system")}
                    />
                )}
                {inbox.data && (
                    <Tile
                        name="Inbox"
                        value={number(waiting) + (inbox.data.next_cursor ? "+" : "")}
                        note={waiting ? "waiting for a decision" : "nothing is waiting"}
                        href={link("inbox")}
                    />
                )}
                {active && (
                    <Tile
                        name="Jobs"
                        value={number(active.length)}
                        note={failed ? `${failed} failed` : "queued or running"}
                        href={link("system", "jobs")}
                    />
                )}
            </div>
            {guard.data && <Pulse guard={guard.data} samples={samples} window={window.data} />}
            <section class="card">
                <h2>Writes of user {user.value}</h2>
                <Writes list={events.value} />
            </section>
            <div class="columns">
                <section class="card">
                    <h2>Latest events</h2>
                    {events.value.length === 0 && <Empty>Nothing was written yet.</Empty>}
                    <ul class="plain">
                        {events.value.slice(0, 12).map((e) => (
                            <li key={e.seq}>
                                <EventLine event={e} />
                            </li>
                        ))}
                    </ul>
                </section>
                {store.data && <Store store={store.data} />}
            </div>
        </div>
    );
}
