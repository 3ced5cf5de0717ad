// system.js - health, jobs, tokens and settings. Tokens and changes need an administrator's token.
import { useState } from "preact/hooks";
import { useCall, usePages } from "../data.js";
import { link, route, setQuery } from "../route.js";
import {
    act,
    Badge,
    bytes,
    Dialog,
    Empty,
    Loading,
    number,
    Pairs,
    plain,
    Problem,
    Time,
    useStepKeys,
    VirtualList,
} from "../ui.js";
import { parse } from "./inbox.js";

/* ---- Health -------------------------------------------------------------- */

function Health() {
    const store = useCall("store.status", { user_id: undefined });
    const models = useCall("model.status");
    const m = models.data;
    const s = store.data;
    const usage = m?.usage;
    return (
        <div class="columns">
            <section class="card">
                <h2>Store</h2>
                <Problem error={store.error} />
                {s && (
                    <Pairs
                        of={[
                            [
                                "State",
                                s.read_only ? (
                                    <Badge tone="bad">read-only</Badge>
                                ) : (
                                    <Badge tone="good">writable</Badge>
                                ),
                            ],
                            ["Store", `${s.driver}, ${s.store}`],
                            ["Size", bytes(s.bytes)],
                            ["Events", number(s.events)],
                            ["Schema", s.schema_version],
                            [
                                "Last backup",
                                s.backup_at ? <Time at={s.backup_at} isLong /> : "never",
                            ],
                            [
                                "Forgotten bytes",
                                s.scrub_blocked_by ||
                                    (s.scrub_pending
                                        ? "still in the files"
                                        : "none in the files"),
                            ],
                            ["Queue of writes", number(s.counters.queue_length)],
                            ["Jobs failed", number(s.counters.jobs_failed)],
                            ...Object.entries(s.memory).map(([name, n]) => [
                                `Memory: ${name.replaceAll("_", " ")}`,
                                bytes(n),
                            ]),
                        ]}
                    />
                )}
            </section>
            <section class="card">
                <h2>Models</h2>
                <Problem error={models.error} />
                {m && (
                    <Pairs
                        of={[
                            [
                                "Embedder",
                                m.embedder ? (
                                    `${m.embedder}, ${m.model}`
                                ) : (
                                    <Badge tone="bad">unavailable</Badge>
                                ),
                            ],
                            ["Missing", m.missing],
                            ["Vectors", number(m.vectors)],
                            ["Stale vectors", m.vectors_stale ? number(m.vectors_stale) : ""],
                            ["Warning", m.vectors_warning],
                            ["Chat provider", m.chat.configured ? m.chat.model : "not configured"],
                            ["Chat calls", number(usage.chat_calls)],
                            ["Chat failures", number(usage.chat_failures)],
                            ...m.data.map((file) => [
                                file.name,
                                <Badge tone={file.state === "present" ? "good" : "warn"}>
                                    {file.state}
                                </Badge>,
                            ]),
                        ]}
                    />
                )}
            </section>
        </div>
    );
}

/* ---- Jobs ---------------------------------------------------------------- */

const jobTone = { done: "good", failed: "bad", running: "warn", queued: "", cancelled: "" };

function Jobs() {
    useStepKeys("#main .card");
    const scope = route.value.query.get("scope") || "user";
    const pages = usePages("job.list", "jobs", { scope }, { rooms: ["job"] });
    const cancel = async (job) => {
        if (await act("job.cancel", { id: job.id, scope }, "Asked to stop")) pages.reload();
    };
    return (
        <>
            <div class="tools">
                <label>
                    Owner{" "}
                    <select
                        data-search
                        value={scope}
                        onChange={(event) => setQuery({ scope: event.currentTarget.value })}
                    >
                        <option value="user">the user</option>
                        <option value="store">the store</option>
                    </select>
                </label>
                <button type="button" onClick={pages.reload}>
                    Refresh
                </button>
            </div>
            <Problem error={pages.error} />
            <Loading when={pages.isLoading} />
            {!pages.isLoading && !pages.error && pages.rows.length === 0 && <Empty>No jobs.</Empty>}
            <ul class="plain cards">
                {pages.rows.map((job) => (
                    <li class="card" key={job.id} tabIndex={-1}>
                        <p>
                            <Badge tone={jobTone[job.status]}>{job.status}</Badge>
                            <b>{job.kind}</b> <span class="muted">made </span>
                            <Time at={job.created_at} />
                        </p>
                        <p class="muted">
                            {job.attempts === 0
                                ? "not started yet"
                                : `attempt ${number(job.attempts)}`}
                            {job.attempts > 0 &&
                                job.attempts_max < 1000 &&
                                ` of ${number(job.attempts_max)}`}
                            {job.progress.total
                                ? `, ${number(job.progress.done)} of ${number(job.progress.total)}`
                                : ""}{" "}
                            <code>{job.id}</code>
                        </p>
                        {job.error && (
                            <p class="problem">
                                {job.error.code}: {job.error.message}
                            </p>
                        )}
                        {(job.status === "queued" || job.status === "running") && (
                            <button type="button" onClick={() => cancel(job)}>
                                Cancel
                            </button>
                        )}
                    </li>
                ))}
            </ul>
            {pages.hasMore && (
                <button type="button" onClick={pages.more}>
                    Show more
                </button>
            )}
        </>
    );
}

/* ---- Tokens -------------------------------------------------------------- */

function NewToken({ onClose, onDone }) {
    const [made, setMade] = useState(null);
    const submit = async (event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        const days = Number(form.get("days"));
        const answer = await act("token.create", {
            name: form.get("name"),
            scopes: form.getAll("scope"),
            user_id: form.get("only") || undefined,
            persona_id: undefined,
            ...(days > 0 && { ttl_s: days * 86400 }),
        });
        if (!answer) return;
        setMade(answer);
        onDone();
    };
    if (made)
        return (
            <Dialog title={`Token ${made.name}`} onClose={onClose}>
                <p>Copy it now: it is not shown again.</p>
                <pre tabIndex={0} aria-label="The token">
                    {made.token}
                </pre>
            </Dialog>
        );
    return (
        <Dialog
            title="New token"
            onClose={onClose}
            actions={
                <button type="submit" form="new-token" class="primary">
                    Create
                </button>
            }
        >
            <form id="new-token" onSubmit={submit}>
                <label for="name">Purpose</label>
                <input id="name" name="name" required maxLength={128} autofocus />
                <fieldset>
                    <legend>Scopes</legend>
                    {["read", "write", "admin", "metrics"].map((scope) => (
                        <label>
                            <input
                                type="checkbox"
                                name="scope"
                                value={scope}
                                defaultChecked={scope === "read"}
                            />{" "}
                            {scope}
                        </label>
                    ))}
                </fieldset>
                <label for="only">Only this user (empty: all)</label>
                <input id="only" name="only" />
                <label for="days">Days until it expires (empty: never)</label>
                <input id="days" name="days" type="number" min="1" max="3660" />
            </form>
        </Dialog>
    );
}

function RevokeDialog({ token, onClose, onDone }) {
    const revoke = async () => {
        if (
            await act(
                "token.revoke",
                { id: token.id, user_id: undefined },
                `Revoked: ${token.name}`,
            )
        )
            onDone();
    };
    return (
        <Dialog
            title={`Revoke ${token.name}?`}
            onClose={onClose}
            actions={
                <button type="button" class="danger" onClick={revoke}>
                    Revoke
                </button>
            }
        >
            <p>
                Programs that use it, or a token that was made with it, are refused from now on.
                That includes this page, if it uses this token.
            </p>
        </Dialog>
    );
}

function Tokens() {
    useStepKeys("#main .card");
    const pages = usePages("token.list", "tokens", { user_id: undefined });
    const [isNew, setNew] = useState(false);
    const [leaving, setLeaving] = useState(null);
    const tone = { active: "good", expired: "warn", revoked: "bad" };
    return (
        <>
            <div class="tools">
                <button type="button" class="primary" data-search onClick={() => setNew(true)}>
                    New token …
                </button>
            </div>
            <Problem error={pages.error} />
            <Loading when={pages.isLoading} />
            <ul class="plain cards">
                {pages.rows.map((token) => (
                    <li class="card" key={token.id} tabIndex={-1}>
                        <p>
                            <Badge tone={tone[token.status]}>{token.status}</Badge>{" "}
                            <b>{token.name}</b>
                        </p>
                        <p class="muted">
                            {token.scopes.join(", ")}
                            {token.user_id && ` · only ${token.user_id}`}
                            {token.authority && ` · at most ${token.authority}`}
                            {" · made "}
                            <Time at={token.created_at} />
                            {token.expires_at && (
                                <>
                                    {" "}
                                    · expires <Time at={token.expires_at} isLong />
                                </>
                            )}
                        </p>
                        <p class="muted">
                            <code>{token.id}</code>
                        </p>
                        {token.status === "active" && (
                            <button type="button" onClick={() => setLeaving(token)}>
                                Revoke …
                            </button>
                        )}
                    </li>
                ))}
            </ul>
            {pages.hasMore && (
                <button type="button" onClick={pages.more}>
                    Show more
                </button>
            )}
            {isNew && <NewToken onClose={() => setNew(false)} onDone={pages.reload} />}
            {leaving && (
                <RevokeDialog
                    token={leaving}
                    onClose={() => setLeaving(null)}
                    onDone={() => {
                        setLeaving(null);
                        pages.reload();
                    }}
                />
            )}
        </>
    );
}

/* ---- Settings ------------------------------------------------------------ */

function SettingDialog({ setting, onClose, onDone }) {
    const save = async (value) => {
        const answer = await act(
            "config.set",
            { name: setting.name, value, user_id: undefined },
            `Saved: ${setting.name}`,
        );
        if (answer) onDone();
    };
    const submit = (event) => {
        event.preventDefault();
        const text = new FormData(event.currentTarget).get("value");
        save(setting.kind === "integer" || setting.kind === "boolean" ? parse(text) : text);
    };
    return (
        <Dialog
            title={setting.name}
            onClose={onClose}
            actions={
                <>
                    <button type="button" onClick={() => save(null)}>
                        Use the default
                    </button>
                    <button type="submit" form="setting" class="primary">
                        Save
                    </button>
                </>
            }
        >
            <form id="setting" onSubmit={submit}>
                <p>{setting.help}</p>
                <Pairs
                    of={[
                        ["Default", plain(setting.default)],
                        ["Origin", setting.origin],
                        ["Takes effect", setting.live ? "at once" : "at the next start"],
                        [
                            "Range",
                            setting.min !== undefined
                                ? `${number(setting.min)} to ${number(setting.max)}`
                                : "",
                        ],
                    ]}
                />
                <label for="value">Value</label>
                {setting.kind === "choice" || setting.kind === "boolean" ? (
                    <select id="value" name="value">
                        {(setting.choices ?? ["true", "false"]).map((c) => (
                            <option selected={c === plain(setting.value)}>{c}</option>
                        ))}
                    </select>
                ) : (
                    <input
                        id="value"
                        name="value"
                        defaultValue={plain(setting.value ?? "")}
                        autofocus
                    />
                )}
            </form>
        </Dialog>
    );
}

function Settings() {
    const text = route.value.query.get("q") || "";
    const pages = usePages("config.list", "settings", { user_id: undefined }, { limit: 1000 });
    const [open, setOpen] = useState(null);
    const rows = pages.rows.filter((s) =>
        `${s.name} ${s.help}`.toLowerCase().includes(text.toLowerCase()),
    );
    return (
        <div class="fill">
            <div class="tools">
                <input
                    type="search"
                    data-search
                    aria-label="Search settings"
                    placeholder="Search settings"
                    value={text}
                    onInput={(event) => setQuery({ q: event.currentTarget.value })}
                />
            </div>
            <Problem error={pages.error} />
            <Loading when={pages.isLoading} />
            {!pages.isLoading && rows.length === 0 && <Empty>No setting matches.</Empty>}
            <VirtualList
                rows={rows}
                height={56}
                label="Settings"
                of={text}
                rowKey={(s) => s.name}
                render={(s) => (
                    <button type="button" class="row" onClick={() => setOpen(s)}>
                        <span class="row-main">
                            <b class="one-line">{s.name}</b>
                            <span>
                                <code>{plain(s.value)}</code>{" "}
                                {s.origin !== "default" && <Badge tone="good">{s.origin}</Badge>}
                                {s.pending !== undefined && (
                                    <Badge tone="warn">at the next start: {plain(s.pending)}</Badge>
                                )}
                            </span>
                        </span>
                        <span class="row-sub muted">
                            <span class="one-line">{s.help}</span>
                        </span>
                    </button>
                )}
            />
            {open && (
                <SettingDialog
                    setting={open}
                    onClose={() => setOpen(null)}
                    onDone={() => {
                        setOpen(null);
                        pages.reload();
                    }}
                />
            )}
        </div>
    );
}

const tabs = {
    health: ["Health", Health],
    jobs: ["Jobs", Jobs],
    tokens: ["Tokens", Tokens],
    settings: ["Settings", Settings],
};

export function System() {
    const tab = tabs[route.value.rest[0]] ? route.value.rest[0] : "health";
    const Tab = tabs[tab][1];
    return (
        <div class="view scroll">
            <nav class="tabs" aria-label="Parts">
                {Object.entries(tabs).map(([name, [title]]) => (
                    <a href={link("system", name)} aria-current={name === tab ? "page" : undefined}>
                        {title}
                    </a>
                ))}
            </nav>
            <Tab key={tab} />
        </div>
    );
}
