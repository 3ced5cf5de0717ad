// live.js - the events of the user as they come, newest first.
import { useState } from "preact/hooks";
import { useCall } from "../data.js";
import { events, state } from "../live.js";
import { go, link, route, setQuery } from "../route.js";
import {
    Badge,
    bytes,
    Dialog,
    Empty,
    number,
    Pairs,
    plain,
    Problem,
    Time,
    VirtualList,
} from "../ui.js";

const names = "text title key ref name uri path goal reason purpose external_id".split(" ");

// What an event is about, in a few words.
export function about(event) {
    const p = event.payload;
    if (event.erased || p === null) return "erased";
    if (event.restricted || p === undefined) return "restricted";
    if (p.key !== undefined && p.value !== undefined) return `${p.key} = ${plain(p.value)}`;
    const name = names.map((member) => p[member]).find((value) => typeof value === "string");
    if (name) return name;
    if (p.frame?.used_tokens !== undefined) return `${number(p.frame.used_tokens)} tokens are used`;
    return event.refs?.id ?? (p.bytes === undefined ? "" : bytes(p.bytes));
}

const tones = { fact: "good", memory: "good", review: "warn" };

export function EventLine({ event }) {
    const room = event.type.split(".")[0];
    return (
        <a class="event" href={link("live", String(event.seq))}>
            <span class="muted seq">{event.seq}</span>
            <Badge tone={tones[room] ?? ""}>{event.type}</Badge>
            <span class="one-line">{about(event)}</span>
            <Time at={event.recorded_at} />
        </a>
    );
}

// An event of the past is read from the log.
function EventDialog({ seq, onClose }) {
    const near = events.value.find((e) => e.seq === seq);
    const { data, error } = useCall(near ? null : "event.list", { after_seq: seq - 1, limit: 1 });
    const event = near ?? data?.events[0];
    if (!event)
        return (
            <Dialog title={`Event ${seq}`} onClose={onClose}>
                <Problem error={error} />
                {data && <p>There is no such event.</p>}
            </Dialog>
        );
    const client = event.refs?.client;
    return (
        <Dialog title={`Event ${event.seq}`} onClose={onClose}>
            <Pairs
                of={[
                    ["Type", event.type],
                    ["Recorded", <Time at={event.recorded_at} isLong />],
                    ["Object", event.refs?.id && <code>{event.refs.id}</code>],
                    [
                        "Program",
                        client &&
                            [client.name, client.version, client.model].filter(Boolean).join(" "),
                    ],
                    [
                        "Session",
                        client?.session_id && (
                            <a href={link("sessions", client.session_id)}>
                                <code>{client.session_id}</code>
                            </a>
                        ),
                    ],
                ]}
            />
            <pre tabIndex={0} aria-label="Content of the event">
                {JSON.stringify({ refs: event.refs, payload: event.payload }, null, 2)}
            </pre>
        </Dialog>
    );
}

export function Live() {
    const { rest, query } = route.value;
    const wanted = query.get("type") || "";
    const text = query.get("q") || "";
    const [frozen, setFrozen] = useState(null);
    const source = frozen ?? events.value;
    const rooms = [...new Set(source.map((e) => e.type.split(".")[0]))].sort();
    const rows = source.filter(
        (e) =>
            (!wanted || e.type.split(".")[0] === wanted) &&
            (!text ||
                JSON.stringify([e.type, e.refs, e.payload])
                    .toLowerCase()
                    .includes(text.toLowerCase())),
    );
    const open = Number(rest[0]);
    return (
        <div class="view">
            <div class="tools">
                <input
                    type="search"
                    data-search
                    aria-label="Search these events"
                    placeholder="Search these events"
                    value={text}
                    onInput={(event) => setQuery({ q: event.currentTarget.value })}
                />
                <label>
                    Kind{" "}
                    <select
                        value={wanted}
                        onChange={(event) => setQuery({ type: event.currentTarget.value })}
                    >
                        <option value="">all</option>
                        {[...new Set([...rooms, ...(wanted ? [wanted] : [])])].map((r) => (
                            <option value={r}>{r}</option>
                        ))}
                    </select>
                </label>
                <button
                    type="button"
                    aria-pressed={frozen !== null}
                    onClick={() => setFrozen(frozen ? null : events.value)}
                >
                    {frozen ? "Resume" : "Pause"}
                </button>
                <span class="muted">
                    {state.value === "live" ? "connected" : "connecting …"}, {rows.length} shown
                </span>
            </div>
            {rows.length === 0 && <Empty>No events {text || wanted ? "match" : "yet"}.</Empty>}
            <VirtualList
                rows={rows}
                height={36}
                label="Events"
                of={`${text} ${wanted}`}
                rowKey={(e) => e.seq}
                render={(event) => <EventLine event={event} />}
            />
            {open > 0 && (
                <EventDialog
                    key={open}
                    seq={open}
                    onClose={() =>
                        go(link("live", { q: text, type: wanted }), { replace: true })
                    }
                />
            )}
        </div>
    );
}
