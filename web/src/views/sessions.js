// sessions.js - conversations: their messages, their summaries, and what each message led to.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { call, epoch } from "../api.js";
import { SETTLE_MS, useCall, usePages, useSettled } from "../data.js";
import { changes } from "../live.js";
import { link, route, scoped, setQuery } from "../route.js";
import {
    Badge,
    Empty,
    Loading,
    number,
    Pairs,
    Problem,
    Split,
    Stale,
    Time,
    VirtualList,
} from "../ui.js";
import { about } from "./live.js";

/* ---- The list ------------------------------------------------------------ */

function SessionList() {
    const { rest, query } = route.value;
    const text = query.get("q") || "";
    const settled = useSettled(text.trim());
    const isSearch = settled !== "";
    const sessions = usePages("session.list", "sessions", {}, { rooms: ["session"] });
    const found = useCall(isSearch ? "session.search" : null, { query: settled, limit: 50 });
    const row = (session) => (
        <a
            class="row"
            href={link("sessions", session.id, { q: text })}
            aria-current={rest[0] === session.id ? "true" : undefined}
        >
            <span class="row-main">
                <b class="one-line">{session.external_id || session.id}</b>
                <Badge tone={session.state === "ended" ? "" : "good"}>{session.state}</Badge>
            </span>
            <span class="row-sub">
                <span class="muted">{number(session.turn_count)} turns</span>
                <Time at={session.last_activity} />
            </span>
        </a>
    );
    const hit = (message) => (
        <a
            class="row"
            href={link("sessions", message.session_id, { q: text, at: message.message_id })}
            aria-current={query.get("at") === message.message_id ? "true" : undefined}
        >
            <span class="row-main">
                <span class="one-line">{message.text}</span>
            </span>
            <span class="row-sub">
                <span class="muted">
                    {message.speaker || message.role}, score {message.score.toFixed(2)}
                </span>
                <Time at={message.at} />
            </span>
        </a>
    );
    const list = isSearch ? (found.data?.results ?? []) : sessions.rows;
    const isLoading = isSearch ? found.isLoading : sessions.isLoading;
    return (
        <>
            <div class="tools">
                <input
                    type="search"
                    data-search
                    aria-label="Search messages"
                    value={text}
                    placeholder="Search all messages"
                    onInput={(event) => setQuery({ q: event.currentTarget.value })}
                />
            </div>
            <Problem error={isSearch ? found.error : sessions.error} />
            {!isSearch && <Stale pages={sessions} />}
            <Loading when={isLoading} />
            {!isLoading && list.length === 0 && (
                <Empty>{isSearch ? "No message matches." : "No conversations yet."}</Empty>
            )}
            <VirtualList
                rows={list}
                height={52}
                label={isSearch ? "Messages" : "Sessions"}
                of={settled}
                rowKey={(s) => s.message_id ?? s.id}
                onEnd={isSearch ? undefined : sessions.more}
                render={isSearch ? hit : row}
            />
        </>
    );
}

/* ---- One session --------------------------------------------------------- */

const NOT_LED = /^(session|summary)\./;
const NONE = { led: [], meanwhile: [] };

// The daemon looks for the events of a session in at most 10,000 events of the user per page.
const PAGES_MAX = 20;

// The events of a session from event `from` on; later only those that came since are read.
function useEvents(id, from) {
    const [found, setFound] = useState([]);
    const place = useRef({ epoch: -1, seq: 0 }); // Events up to here were read.
    const newest = ["session", "fact", "memory", "todo"].map((room) => changes.value[room]).join();
    useEffect(() => {
        if (from === undefined) return undefined;
        const controller = new AbortController();
        const read = (args) => call("event.list", scoped(args), controller.signal);
        const readNew = async () => {
            const isNew = place.current.epoch !== epoch.value;
            const more = [];
            let head = 0;
            let at = { after_seq: isNew ? from - 1 : place.current.seq };
            for (let i = 0; at && i < PAGES_MAX; i++) {
                const page = await read({ session_id: id, limit: 1000, ...at });
                head ||= page.head_seq;
                more.push(...page.events);
                at = page.next_cursor && { cursor: page.next_cursor };
            }
            place.current = { epoch: epoch.value, seq: head };
            const seqs = new Set(more.map((event) => event.seq));
            setFound((old) => [
                ...(isNew ? [] : old.filter((event) => !seqs.has(event.seq))),
                ...more,
            ]);
        };
        const isFirst = place.current.epoch !== epoch.value;
        const timer = setTimeout(() => readNew().catch(() => {}), isFirst ? 0 : SETTLE_MS);
        return () => {
            clearTimeout(timer);
            controller.abort();
        };
    }, [id, from, newest, epoch.value]);
    return found;
}

// For each message, by its seq: the events that were made from it, which name it, and the others
// that programs wrote in this session before the next message.
function useResults(id, messages) {
    const found = useEvents(id, messages[0]?.seq);
    return useMemo(() => {
        const results = new Map(messages.map((m) => [m.seq, { led: [], meanwhile: [] }]));
        const seqs = new Map(messages.map((m) => [m.id, m.seq]));
        const starts = messages.map((m) => m.seq);
        for (const event of found) {
            if (NOT_LED.test(event.type)) continue;
            const from = seqs.get(event.refs?.message_id);
            const before = starts.findLast((seq) => seq < event.seq);
            if (from !== undefined) results.get(from).led.push(event);
            else if (before !== undefined && !event.refs?.message_id)
                results.get(before).meanwhile.push(event);
        }
        return results;
    }, [found, messages]);
}

const Results = ({ of, label }) =>
    of.length > 0 && (
        <ul class="plain led" aria-label={label}>
            {of.map((event) => (
                <Result key={event.seq} event={event} />
            ))}
        </ul>
    );

function Result({ event }) {
    const room = event.type.split(".")[0];
    const id = event.refs?.id ?? "";
    const href =
        room === "fact" && event.payload?.key
            ? link("facts", event.payload.key)
            : room === "memory" && id.startsWith("mem_")
              ? link("memories", id)
              : link("live", String(event.seq));
    return (
        <li>
            <a class="chip" href={href}>
                <Badge tone={event.refs?.claim ? "warn" : "good"}>
                    {event.refs?.claim ? "claim" : event.type}
                </Badge>{" "}
                {about(event)}
            </a>
        </li>
    );
}

function Session({ id }) {
    const at = route.value.query.get("at");
    const session = useCall("session.get", { session_id: id }, ["session"]);
    const pages = usePages(
        "session.messages",
        "messages",
        { session_id: id },
        { rooms: ["session"], limit: 200 },
    );
    const summaries = useCall("summary.list", { session_id: id, limit: 20 }, ["summary"]);
    const results = useResults(id, pages.rows);
    const s = session.data;
    // A message that was found may be on a later page.
    const sought = useRef(null);
    const isThere = pages.rows.some((message) => message.id === at);
    useEffect(() => {
        if (isThere) sought.current?.scrollIntoView({ block: "center" });
        else if (at) pages.more();
    }, [at, isThere, pages.rows]);
    return (
        <article class="detail">
            <h2>{s?.external_id || id}</h2>
            <Problem error={session.error || pages.error} />
            {s && (
                <Pairs
                    of={[
                        ["State", s.state + (s.end_reason ? ` (${s.end_reason})` : "")],
                        ["Opened", <Time at={s.opened_at} isLong />],
                        ["Ended", s.ended_at && <Time at={s.ended_at} isLong />],
                        ["Turns", number(s.turn_count)],
                        ["Persona", s.persona_id],
                        [
                            "Identity",
                            s.identity && `${s.identity.user_name}, ${s.identity.authority}`,
                        ],
                        ["Id", <code>{s.id}</code>],
                    ]}
                />
            )}
            {summaries.data?.summaries
                .filter((x) => x.session_id === s?.id)
                .map((summary) => (
                    <details class="summary">
                        <summary>
                            {summary.kind === "rolling"
                                ? "Summary so far"
                                : "Summary of the session"}
                            , version {summary.version}
                        </summary>
                        <p class="text">{summary.text}</p>
                        <p class="muted">
                            made from {number(summary.message_count)} messages by{" "}
                            {summary.method === "model" ? "a model" : "extraction"},{" "}
                            <Time at={summary.recorded_at} />
                        </p>
                    </details>
                ))}
            <Stale pages={pages} />
            <Loading when={pages.isLoading} />
            {!pages.isLoading && pages.rows.length === 0 && <Empty>No messages.</Empty>}
            <ol class="messages">
                {pages.rows.map((message) => (
                    <li
                        key={message.id}
                        class={`message ${message.role} ${message.id === at ? "found" : ""}`}
                        ref={message.id === at ? sought : undefined}
                    >
                        <p class="muted">
                            <b>{message.speaker || message.role}</b> <Time at={message.at} />
                        </p>
                        <p class="text">{message.text}</p>
                        <Results
                            of={(results.get(message.seq) ?? NONE).led}
                            label="What it led to"
                        />
                        {results.get(message.seq)?.meanwhile.length > 0 && (
                            <details class="meanwhile">
                                <summary class="muted">
                                    {number(results.get(message.seq).meanwhile.length)} written
                                    after it in this session
                                </summary>
                                <Results
                                    of={results.get(message.seq).meanwhile}
                                    label="Written after it"
                                />
                            </details>
                        )}
                    </li>
                ))}
            </ol>
            {pages.hasMore && (
                <button type="button" onClick={pages.more}>
                    Show later messages
                </button>
            )}
        </article>
    );
}

export function Sessions() {
    const { rest, query } = route.value;
    return (
        <Split
            list={<SessionList />}
            back={link("sessions", { q: query.get("q") })}
            detail={rest[0] && <Session key={rest[0]} id={rest[0]} />}
        />
    );
}
