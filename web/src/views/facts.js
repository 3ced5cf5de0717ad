// facts.js - the facts of the user, now or as of a time, and why each has its value.
import { useMemo, useState } from "preact/hooks";
import { useCall, usePages, useSettled } from "../data.js";
import { link, route, setQuery, go } from "../route.js";
import {
    act,
    Authority,
    Badge,
    Dialog,
    Empty,
    ForgetDialog,
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
    const value = at ? Date.parse(at) : now;
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
            `It replaced "${plain(before.value)}", said by ${said(before)}.`
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
    if (next) return `It ended when ${who(next)} said "${plain(next.value)}".`;
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

// The facts that a fact was derived from, or that were derived from it, as an indented tree: the
// member is depends_on or derived_facts. A fact that is its own ancestor is not followed again.
const DEPTH_MAX = 6;

function Branch({ id, member, path }) {
    const { data, error } = useCall("fact.get", { id }, ["fact"]);
    if (error)
        return (
            <li>
                <code>{id}</code> <span class="muted">cannot be read</span>
            </li>
        );
    if (!data) return null;
    return (
        <li>
            <a href={link("facts", data.key)}>{data.key}</a> ={" "}
            <span class="value">{plain(data.value)}</span>{" "}
            <Badge tone={toneOf[data.status]}>
                {data.status === "valid" ? "current" : data.status}
            </Badge>
            {data.needs_review && <Badge tone="warn">needs review</Badge>}
            <Branches ids={data[member]} member={member} path={[...path, id]} />
        </li>
    );
}

function Branches({ ids, member, path, label }) {
    const left = ids.filter((id) => !path.includes(id));
    if (left.length === 0 || path.length > DEPTH_MAX) return null;
    return (
        <ul class="tree" aria-label={label}>
            {left.map((id) => (
                <Branch key={id} id={id} member={member} path={path} />
            ))}
        </ul>
    );
}

function Dependencies({ fact }) {
    if (fact.depends_on.length + fact.derived_facts.length === 0) return null;
    return (
        <section aria-label="Dependencies">
            <h3>Dependencies</h3>
            {[
                ["depends_on", "Derived from"],
                ["derived_facts", "Facts derived from it"],
            ]
                .filter(([member]) => fact[member].length > 0)
                .map(([member, label]) => (
                    <>
                        <p class="muted">{label}</p>
                        <Branches
                            ids={fact[member]}
                            member={member}
                            path={[fact.id]}
                            label={label}
                        />
                    </>
                ))}
        </section>
    );
}

function Version({ fact, byId, isOpen }) {
    const client = fact.client;
    const session = client?.session_id;
    return (
        <li class={`version ${fact.status}`}>
            <details open={isOpen}>
                <summary>
                    <Badge tone={toneOf[fact.status]}>
                        {fact.status === "valid" ? "current" : fact.status}
                    </Badge>
                    <Value value={fact.value} />
                    <Time at={fact.observed_at} />
                </summary>
                {!fact.is_valid && (
                    <p>
                        {why(fact, byId)} {ended(fact, byId)}
                    </p>
                )}
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

function Fact({ name }) {
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
                    {current.map((fact) => (
                        <Dependencies key={fact.id} fact={fact} />
                    ))}
                    <h3>How it came to this</h3>
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
            detail={rest[0] && <Fact key={rest[0]} name={rest[0]} />}
        />
    );
}
