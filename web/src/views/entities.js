// entities.js - the people, places and projects that memories are about, each with its card.
import { useCall, usePages } from "../data.js";
import { link, route, setQuery } from "../route.js";
import {
    Badge,
    count,
    Empty,
    Loading,
    Pairs,
    Problem,
    Split,
    Stale,
    Time,
    VirtualList,
} from "../ui.js";

// memory.cards finds an entity by its name in a question: "John Doe" for person:john_doe.
const nameOf = (entity) =>
    entity.label ||
    entity.ref
        .replace(/^[^:]*:/, "")
        .split("_")
        .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
        .join(" ");

function EntityList() {
    const { rest, query } = route.value;
    const text = query.get("q") || "";
    const pages = usePages("entity.list", "entities", {}, { rooms: ["memory"], limit: 1000 });
    const wanted = text.trim().toLowerCase();
    const rows = pages.rows.filter((entity) =>
        [entity.ref, entity.label ?? "", ...entity.aliases].some((name) =>
            name.toLowerCase().includes(wanted),
        ),
    );
    return (
        <>
            <div class="tools">
                <input
                    type="search"
                    data-search
                    aria-label="Entities whose name contains"
                    placeholder="Names that contain …"
                    value={text}
                    onInput={(event) => setQuery({ q: event.currentTarget.value })}
                />
            </div>
            <Problem error={pages.error} />
            <Stale pages={pages} />
            <Loading when={pages.isLoading} />
            {!pages.isLoading && !pages.error && rows.length === 0 && (
                <Empty>{text ? "No entity matches." : "No memory names an entity yet."}</Empty>
            )}
            <VirtualList
                rows={rows}
                height={52}
                label="Entities"
                of={wanted}
                rowKey={(entity) => entity.id}
                onEnd={pages.more}
                render={(entity) => (
                    <a
                        class="row"
                        href={link("entities", entity.ref, { q: text })}
                        aria-current={rest[0] === entity.ref ? "true" : undefined}
                    >
                        <span class="row-main">
                            <b class="one-line">{nameOf(entity)}</b>
                            {entity.merged_into && <Badge>merged</Badge>}
                        </span>
                        <span class="row-sub">
                            <span class="muted one-line">{entity.ref}</span>
                            <span class="muted">
                                {count(entity.memories, "memory", "memories")}
                            </span>
                        </span>
                    </a>
                )}
            />
        </>
    );
}

function Entity({ name }) {
    const entity = useCall("entity.get", { entity: name }, ["memory"]);
    const e = entity.data;
    const cards = useCall(
        e ? "memory.cards" : null,
        e ? { query: nameOf(e), entities: [e.ref] } : {},
        ["memory"],
    );
    const memories = usePages(
        e ? "memory.list" : null,
        "memories",
        { entity: e?.ref },
        { rooms: ["memory"], limit: 50 },
    );
    return (
        <article class="detail">
            <h2>{e ? nameOf(e) : name}</h2>
            <Problem error={entity.error || cards.error || memories.error} />
            <Loading when={entity.isLoading && !e} />
            {e && (
                <>
                    {cards.data?.cards.map((card) => (
                        <p class="entity-card" key={card.ref}>
                            {card.text}
                        </p>
                    ))}
                    <Pairs
                        of={[
                            ["Ref", <code>{e.ref}</code>],
                            ["Aliases", e.aliases.join(", ")],
                            [
                                "Named in",
                                `${count(e.memories, "memory", "memories")}, former ones included`,
                            ],
                            ["First named", <Time at={e.created_at} isLong />],
                            ["Persona", e.persona_id],
                            ["Id", <code>{e.id}</code>],
                        ]}
                    />
                    <h3>Memories about it</h3>
                    <Stale pages={memories} />
                    <ul class="plain cards">
                        {memories.rows.map((memory) => (
                            <li key={memory.id}>
                                <a href={link("memories", memory.id)}>{memory.text}</a>{" "}
                                {memory.pinned && <Badge tone="good">pinned</Badge>}
                                <Time at={memory.observed_at} />
                            </li>
                        ))}
                    </ul>
                    {!memories.isLoading && memories.rows.length === 0 && (
                        <Empty>No current memory is about it.</Empty>
                    )}
                    {memories.hasMore && (
                        <button type="button" onClick={memories.more}>
                            Show older memories
                        </button>
                    )}
                </>
            )}
        </article>
    );
}

export function Entities() {
    const { rest, query } = route.value;
    return (
        <Split
            list={<EntityList />}
            back={link("entities", { q: query.get("q") })}
            detail={rest[0] && <Entity key={rest[0]} name={rest[0]} />}
        />
    );
}
