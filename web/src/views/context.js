// context.js - the text that a model would get for a question, and what lost its place in it. Two
// budgets can be compared side by side.
import { useEffect, useState } from "preact/hooks";
import { call } from "../api.js";
import { useCall, useSettled } from "../data.js";
import { events } from "../live.js";
import { link, route, scoped, setQuery } from "../route.js";
import {
    Badge,
    Empty,
    Legend,
    Loading,
    number,
    plain,
    Problem,
    Score,
    Tokens,
    useStepKeys,
} from "../ui.js";
import { about } from "./live.js";

const BUDGET = 2000;

const reasons = {
    superseded: "another value replaced it",
    retracted: "it was retracted",
    restricted: "the reader may not see it",
    scope: "it belongs to another scope",
    expired: "it has expired",
    needs_review: "it is in doubt",
    claim: "it is only a claim",
    duplicate: "the text has it already",
    irrelevant: "the question is not about it",
    budget: "the budget was used up",
};

const sections = {
    identity: "who the user is",
    constraints: "a rule that always holds",
    foundation: "pinned, or the foundation of the profile",
    facts: "a current fact",
    cards: "a card of an entity in the question",
    memories: "a memory",
    todos: "open and due",
    summaries: "a summary",
    conversation: "said in a conversation",
    frame: "the task of the agent",
    map: "in the window",
    working: "working memory of the session",
    environment: "the state of the world now",
};

// A section has the same colour in each budget. Steps of 137.5 degrees keep neighbours apart.
const order = Object.keys(sections);
const hueOf = (section) => 215 + (order.indexOf(section) + 1) * 137.5;

// Why one item of a section is in the text; for the others, the section is the reason.
const whys = { relevant: "near the question", recent: "room was left" };

const whyOf = (item) =>
    [sections[item.section] ?? item.section, item.score && whys[item.why]]
        .filter(Boolean)
        .join(", ");

const parts = [
    ["similarity", "meaning"],
    ["recency", "words"],
];

// One bar per part, below each other: the score is made of both (docs/context.md).
function ScoreOf({ item }) {
    if (item.score === undefined) return <span class="muted">–</span>;
    const text =
        `Score ${item.score.toFixed(2)}: meaning ${item.meaning.toFixed(2)}, ` +
        `words ${item.words.toFixed(2)}`;
    const bars = parts.map(([look, name], i) => [look, 0, i * 4, item[name] * 100, 4]);
    return <Score score={item.score} bars={bars} text={text} />;
}

// Which operation reads the thing behind an id, and how it becomes a line.
const readers = {
    fact: ["fact.get", (f) => `${f.key}: ${plain(f.value)}`, (f) => link("facts", f.key)],
    mem: ["memory.get", (m) => m.text, (m) => link("memories", m.id)],
    frm: ["frame.get", (f) => f.goal, (f) => link("frames", f.id)],
    win: ["window.get", () => "the map of the window", () => link("window")],
};

// Texts of the ids; a thing that cannot be read keeps its id.
function useNames(ids) {
    const [names, setNames] = useState(new Map());
    const key = ids.join();
    useEffect(() => {
        const controller = new AbortController();
        for (const id of ids) {
            const reader = readers[id.split("_")[0]];
            if (!reader || names.has(id)) continue;
            const args = id.startsWith("win_") ? {} : { id };
            call(reader[0], scoped(args), controller.signal).then(
                (thing) =>
                    setNames((old) => new Map(old).set(id, [reader[1](thing), reader[2](thing)])),
                () => {},
            );
        }
        return () => controller.abort();
    }, [key]);
    return names;
}

// What has no operation of its own, such as a message, may be one of the latest events.
function Thing({ id, names }) {
    const event = events.value.find((e) => e.refs?.id === id);
    const session = event?.type === "session.message" && event.refs.session_id;
    const name =
        names.get(id) ??
        (event && [
            about(event),
            session ? link("sessions", session, { at: id }) : link("live", String(event.seq)),
        ]);
    return name ? (
        <a class="one-line" href={name[1]}>
            {name[0]}
        </a>
    ) : (
        <code class="one-line">{id}</code>
    );
}

function Built({ query, budget }) {
    const args = { query, budget, explain: true };
    const built = useCall("context.build", args, ["fact", "memory", "session"]);
    const b = built.data;
    const excluded = b?.excluded ?? [];
    const names = useNames(b ? [...b.included, ...excluded].map((item) => item.id) : []);
    if (!b)
        return (
            <section class="card">
                <Problem error={built.error} />
                <Loading when={built.isLoading} />
            </section>
        );
    const used = Object.entries(b.tokens).filter(([name]) => name !== "total");
    return (
        <section class="card context" aria-label={`Budget of ${budget} tokens`}>
            <h2>
                {number(b.tokens.total ?? 0)} of {number(b.budget)} tokens
            </h2>
            <div class="shares" aria-hidden="true">
                {used.map(([name, n]) => (
                    <span
                        class="hue"
                        style={{ flexGrow: n, "--hue": hueOf(name) }}
                        title={`${name}: ${n}`}
                    />
                ))}
                <span
                    class="free"
                    style={{ flexGrow: Math.max(0, b.budget - (b.tokens.total ?? 0)) }}
                />
            </div>
            <p>
                {used.map(([name, n]) => (
                    <Badge>
                        <i class="hue" style={{ "--hue": hueOf(name) }} /> {name} {number(n)}
                    </Badge>
                ))}
            </p>
            {b.warnings.map((w) => (
                <p class="problem warn">{w}</p>
            ))}
            {b.text ? (
                <pre tabIndex={0} aria-label="Text for the model">
                    {b.text}
                </pre>
            ) : (
                <Empty>The text is empty.</Empty>
            )}
            <h3>In the text</h3>
            <Legend of={parts} />
            <table class="items-table scored">
                <thead>
                    <tr>
                        <th>What</th>
                        <th>Why</th>
                        <th>Score</th>
                        <th>Tokens</th>
                    </tr>
                </thead>
                <tbody>
                    {b.included.map((item) => (
                        <tr key={item.id}>
                            <td>
                                <Thing id={item.id} names={names} />
                            </td>
                            <td>{whyOf(item)}</td>
                            <td>
                                <ScoreOf item={item} />
                            </td>
                            <td>{number(item.tokens)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            <h3>Left out</h3>
            <p>
                {Object.entries(b.excluded_counts).map(([reason, n]) => (
                    <Badge tone={reason === "budget" ? "warn" : ""}>
                        {number(n)} {reason.replaceAll("_", " ")}
                    </Badge>
                ))}
                {excluded.length === 0 && "nothing"}
            </p>
            {excluded.length > 0 && (
                <table class="items-table scored">
                    <thead>
                        <tr>
                            <th>What</th>
                            <th>Why</th>
                            <th>Score</th>
                        </tr>
                    </thead>
                    <tbody>
                        {excluded.map((item) => (
                            <tr key={item.id}>
                                <td>
                                    <Thing id={item.id} names={names} />
                                </td>
                                <td>{reasons[item.reason] ?? item.reason}</td>
                                <td>
                                    <ScoreOf item={item} />
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            )}
        </section>
    );
}

export function Context() {
    useStepKeys(".context tbody tr:has(a)");
    const { query } = route.value;
    const text = query.get("q") || "";
    const budget = Number(query.get("budget")) || BUDGET;
    const second = Number(query.get("budget2")) || 0;
    const settled = useSettled(text, 200);
    const settledBudget = useSettled(budget, 200);
    const settledSecond = useSettled(second, 200);
    return (
        <div class="view scroll">
            <div class="tools">
                <input
                    type="search"
                    data-search
                    aria-label="Question"
                    placeholder="What will the model be asked?"
                    value={text}
                    onInput={(event) => setQuery({ q: event.currentTarget.value })}
                />
                <label>
                    Budget{" "}
                    <Tokens value={budget} set={(text) => setQuery({ budget: text })} />
                </label>
                <label>
                    Compare with{" "}
                    <Tokens
                        value={second || ""}
                        placeholder="none"
                        set={(text) => setQuery({ budget2: text })}
                    />
                </label>
            </div>
            {!settled.trim() && (
                <Empty>Type a question to see the text that a model would get for it.</Empty>
            )}
            {settled.trim() && (
                <div class="columns">
                    <Built query={settled} budget={settledBudget} />
                    {settledSecond > 0 && <Built query={settled} budget={settledSecond} />}
                </div>
            )}
        </div>
    );
}
