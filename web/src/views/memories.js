// memories.js - what is remembered: found as one types, with the parts of each score.
import { useCallback, useEffect, useState } from "preact/hooks";
import { useCall, usePages, useSettled } from "../data.js";
import { go, link, route, setQuery } from "../route.js";
import {
    act,
    Badge,
    Dialog,
    Empty,
    ForgetDialog,
    Legend,
    Loading,
    Pairs,
    Problem,
    Score,
    Split,
    Stale,
    Time,
    VirtualList,
} from "../ui.js";

/* ---- Scores -------------------------------------------------------------- */

// memory.recall weighs them so (docs/memories.md): the score is the weighted sum, times the boost.
const parts = [
    ["similarity", "similarity", (p) => p.similarity * 0.4],
    ["recency", "recency", (p) => p.recency * p.similarity * 0.3],
    ["frequency", "frequency", (p) => p.frequency * p.similarity * 0.3],
];

// One bar per part; together they are as long as the score.
function ScoreBar({ score, of }) {
    const text =
        `Score ${score.toFixed(2)}` +
        (of
            ? `: similarity ${of.similarity.toFixed(2)}, recency ${of.recency.toFixed(2)}, ` +
              `frequency ${of.frequency.toFixed(2)}, factor ${of.boost.toFixed(2)}`
            : "");
    let x = 0;
    const bars = of
        ? parts.map(([look, , share]) => {
              const width = share(of) * of.boost * 100;
              x += width;
              return [look, x - width, 0, width, 8];
          })
        : [];
    return <Score score={score} bars={bars} text={text} />;
}

const partNames = {
    similarity: "Similarity to the question",
    recency: "Recency",
    frequency: "Frequency of its entity",
};

// What each part is, and what it adds to the score.
function ScoreTable({ score, of }) {
    const sources = [
        ["by meaning", of.meaning],
        ["by words", of.words],
        ["by its neighbours in the session", of.neighbours],
    ].filter(([, value]) => value > 0);
    return (
        <table class="score-table">
            <caption>How the score of this search is made</caption>
            <thead>
                <tr>
                    <th>Part</th>
                    <th>Value</th>
                    <th>Adds</th>
                </tr>
            </thead>
            <tbody>
                {parts.map(([look, , share]) => (
                    <tr>
                        <th scope="row">
                            <i class={look} /> {partNames[look]}
                            {look === "similarity" && (
                                <span class="of">
                                    {sources
                                        .map(([name, value]) => `${name} ${value.toFixed(2)}`)
                                        .join(", ")}
                                </span>
                            )}
                        </th>
                        <td>{of[look].toFixed(2)}</td>
                        <td>{(share(of) * of.boost).toFixed(2)}</td>
                    </tr>
                ))}
                {of.boost !== 1 && (
                    <tr>
                        <th scope="row">Factor for importance, in all of them</th>
                        <td>{of.boost.toFixed(2)}</td>
                        <td />
                    </tr>
                )}
                <tr>
                    <th scope="row">Score</th>
                    <td />
                    <td>{score.toFixed(2)}</td>
                </tr>
            </tbody>
        </table>
    );
}

/* ---- The list ------------------------------------------------------------ */

const NONE = [];
// memory.recall answers so many results by default; the next ones were nearly among them.
const RESULTS = 10;
const NEAR_MISSES = 5;
// Rows of the list move with their memory. Those of a search are by place: each key has other
// results, and changing the texts of a row takes half as long as making another one.
const byId = (memory) => memory.id;
const statuses = ["active", "archived", "superseded", "claimed", "any"];

function MemoryList({ onHits }) {
    const { rest, query } = route.value;
    const text = query.get("q") || "";
    const status = query.get("status") || "active";
    const type = query.get("type") || "";
    const settled = useSettled(text.trim());
    const isSearch = settled !== "";
    const pages = usePages(
        isSearch ? "memory.recall" : "memory.list",
        isSearch ? "results" : "memories",
        isSearch
            ? { query: settled, explain: true, ...(type && { types: [type] }) }
            : { status, ...(type && { type }) },
        { rooms: ["memory"], limit: isSearch ? 30 : 100 },
    );
    useEffect(() => onHits(isSearch ? pages.rows : NONE), [isSearch, pages.rows]);
    const keep = { q: settled, status: query.get("status"), type };
    const row = useCallback(
        (memory, i) => (
            <a
                class="row"
                href={link("memories", memory.id, keep)}
                aria-current={rest[0] === memory.id ? "true" : undefined}
            >
                <span class="row-main">
                    <span class="one-line">{memory.text}</span>
                </span>
                <span class="row-sub">
                    {memory.score !== undefined && (
                        <ScoreBar score={memory.score} of={memory.parts} />
                    )}
                    {isSearch && i >= RESULTS && i < RESULTS + NEAR_MISSES && (
                        <span title={`memory.recall answers ${RESULTS} results by default`}>
                            <Badge>near miss</Badge>
                        </span>
                    )}
                    {memory.pinned && <Badge tone="good">pinned</Badge>}
                    {memory.status && memory.status !== "active" && (
                        <Badge tone="warn">{memory.status}</Badge>
                    )}
                    <span class="muted one-line">
                        {memory.entity_refs.join(", ")}
                    </span>
                    <Time at={memory.observed_at} />
                </span>
            </a>
        ),
        [isSearch, settled, status, type, rest[0]],
    );
    return (
        <>
            <div class="tools">
                <input
                    type="search"
                    data-search
                    aria-label="Search memories"
                    value={text}
                    placeholder="Search by words and meaning"
                    onInput={(event) => setQuery({ q: event.currentTarget.value })}
                />
                <label>
                    Type{" "}
                    <select
                        value={type}
                        onChange={(event) => setQuery({ type: event.currentTarget.value })}
                    >
                        <option value="">all</option>
                        {["profile", "people", "project"].map((t) => (
                            <option>{t}</option>
                        ))}
                    </select>
                </label>
                {!isSearch && (
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
                )}
            </div>
            {isSearch && <Legend of={parts} />}
            <Problem error={pages.error} />
            {!isSearch && <Stale pages={pages} />}
            <Loading when={pages.isLoading} />
            {!pages.isLoading && !pages.error && pages.rows.length === 0 && (
                <Empty>
                    {isSearch || type ? (
                        "No memory matches."
                    ) : (
                        <>
                            No memories here.
                            <code>loci memory store "Ann likes tea"</code> stores one.
                        </>
                    )}
                </Empty>
            )}
            <VirtualList
                rows={pages.rows}
                height={56}
                label="Memories"
                of={`${settled} ${status} ${type}`}
                rowKey={isSearch ? undefined : byId}
                onEnd={pages.more}
                isBusy={pages.isLoading}
                render={row}
            />
        </>
    );
}

/* ---- One memory ---------------------------------------------------------- */

function EditDialog({ memory, onClose }) {
    const submit = async (event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        const changes = { id: memory.id, importance: Number(form.get("importance")) };
        if (form.get("text") !== memory.text) changes.text = form.get("text");
        const answer = await act("memory.update", changes, "Saved");
        if (!answer) return;
        onClose();
        if (answer.id !== memory.id) go(link("memories", answer.id));
    };
    return (
        <Dialog
            title="Edit"
            onClose={onClose}
            actions={
                <button type="submit" form="edit" class="primary">
                    Save
                </button>
            }
        >
            <form id="edit" onSubmit={submit}>
                <label for="text">Text (another text supersedes this one)</label>
                <textarea id="text" name="text" rows={4} required autofocus>
                    {memory.text}
                </textarea>
                <label for="importance">Importance</label>
                <select id="importance" name="importance" defaultValue={String(memory.importance)}>
                    {[0, 1, 2, 3].map((n) => (
                        <option selected={n === memory.importance}>{n}</option>
                    ))}
                </select>
            </form>
        </Dialog>
    );
}

function Memory({ id, hits }) {
    const [dialog, setDialog] = useState("");
    const memory = useCall("memory.get", { id }, ["memory"]);
    const history = useCall("memory.history", { id, limit: 1000 }, ["memory"]);
    const m = memory.data;
    const hit = hits.find((r) => r.id === id);
    const close = () => setDialog("");
    const run = async (operation, done) => {
        if (await act(operation, { id }, done)) memory.reload();
    };
    return (
        <article class="detail">
            <h2 class="visually-hidden">Memory</h2>
            <Problem error={memory.error} />
            <Loading when={memory.isLoading && !m} />
            {m && (
                <>
                    <p class="headline">{m.text}</p>
                    <div class="actions">
                        <button
                            type="button"
                            aria-pressed={m.pinned}
                            onClick={() =>
                                run(
                                    m.pinned ? "memory.unpin" : "memory.pin",
                                    m.pinned ? "Unpinned" : "Pinned",
                                )
                            }
                        >
                            {m.pinned ? "Unpin" : "Pin"}
                        </button>
                        <button type="button" onClick={() => setDialog("edit")}>
                            Edit …
                        </button>
                        {m.status === "active" && (
                            <button type="button" onClick={() => run("memory.archive", "Archived")}>
                                Archive
                            </button>
                        )}
                        <button type="button" onClick={() => setDialog("forget")}>
                            Forget …
                        </button>
                    </div>
                    {hit?.parts && <ScoreTable score={hit.score} of={hit.parts} />}
                    <Pairs
                        of={[
                            ["Status", m.status],
                            [
                                "About",
                                m.entity_refs.length > 0 &&
                                    m.entity_refs.map((ref) => (
                                        <a class="chip" href={link("entities", ref)}>
                                            {ref}
                                        </a>
                                    )),
                            ],
                            ["Kind", `${m.type}, ${m.subtype.fact_type}`],
                            ["Origin", m.source.replaceAll("_", " ")],
                            ["Trust", m.trust],
                            ["Confidence", m.confidence.toFixed(2)],
                            ["Importance", m.importance],
                            ["Stored", m.mentions === 1 ? "once" : `${m.mentions} times`],
                            ["True since", <Time at={m.observed_at} isLong />],
                            ["Recorded", <Time at={m.recorded_at} isLong />],
                            ["Ended", m.ended_at && <Time at={m.ended_at} isLong />],
                            ["Confirmed", m.confirmed_at && <Time at={m.confirmed_at} isLong />],
                            [
                                "Program",
                                m.client &&
                                    [m.client.name, m.client.version, m.client.model]
                                        .filter(Boolean)
                                        .join(" "),
                            ],
                            [
                                "Session",
                                m.client?.session_id && (
                                    <a href={link("sessions", m.client.session_id)}>
                                        <code>{m.client.session_id}</code>
                                    </a>
                                ),
                            ],
                            ["Metadata", m.metadata && <code>{JSON.stringify(m.metadata)}</code>],
                            ["Id", <code>{m.id}</code>],
                        ]}
                    />
                    {history.data?.memories.length > 1 && (
                        <>
                            <h3>Versions</h3>
                            <ol class="timeline">
                                {history.data.memories.toReversed().map((v) => (
                                    <li class={`version ${v.status}`}>
                                        <Badge
                                            tone={
                                                v.status === "active"
                                                    ? "good"
                                                    : v.status === "claimed"
                                                      ? "warn"
                                                      : ""
                                            }
                                        >
                                            {v.status}
                                        </Badge>{" "}
                                        {v.id === id ? (
                                            <b>{v.text}</b>
                                        ) : (
                                            <a href={link("memories", v.id)}>{v.text}</a>
                                        )}{" "}
                                        <Time at={v.observed_at} />
                                    </li>
                                ))}
                            </ol>
                        </>
                    )}
                    {dialog === "edit" && <EditDialog memory={m} onClose={close} />}
                    {dialog === "forget" && (
                        <ForgetDialog
                            operation="memory.forget"
                            args={{ id }}
                            name="the memory"
                            onClose={close}
                            onDone={() => go(link("memories"))}
                        />
                    )}
                </>
            )}
        </article>
    );
}

export function Memories() {
    const { rest, query } = route.value;
    const [hits, setHits] = useState([]); // Results of the search, near misses last.
    const keep = { q: query.get("q"), status: query.get("status"), type: query.get("type") };
    return (
        <Split
            list={<MemoryList onHits={setHits} />}
            back={link("memories", keep)}
            detail={rest[0] && <Memory key={rest[0]} id={rest[0]} hits={hits} />}
        />
    );
}
