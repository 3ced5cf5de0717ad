// inbox.js - what waits for a decision: accept, correct or dismiss, by mouse or by keyboard.
import { useEffect, useRef, useState } from "preact/hooks";
import { usePages } from "../data.js";
import { link, route, setQuery } from "../route.js";
import {
    act,
    Authority,
    Badge,
    Dialog,
    Empty,
    Loading,
    Problem,
    Stale,
    Time,
    useKeys,
    withAuthority,
} from "../ui.js";

const kinds = {
    proposal: "Proposal",
    fact_claim: "Claim about a fact",
    fact_review: "Fact in doubt",
    memory_claim: "Claim about a memory",
    merge: "Same entity?",
};

// What accepting and dismissing do.
const effects = {
    proposal: "Accept stores it, dismiss drops it.",
    fact_claim: "Accept makes it the current value, dismiss keeps the one before.",
    fact_review: "Accept it if it is still true, dismiss it to retract it.",
    memory_claim: "Accept makes it the current memory, dismiss keeps the one before.",
    merge: "Accept makes one entity of both, dismiss keeps them apart.",
};

// Two entities are the same or not: there is no other value.
const canCorrect = (item) => item.kind !== "merge";

// A fact takes any JSON value: what can be read as one is, and all else is text.
export function parse(text) {
    try {
        return JSON.parse(text);
    } catch {
        return text;
    }
}

function CorrectDialog({ item, onClose, onSave }) {
    const submit = (event) => {
        event.preventDefault();
        const text = new FormData(event.currentTarget).get("value");
        onSave(item.kind.startsWith("fact") ? parse(text) : text);
    };
    return (
        <Dialog
            title={`What is right for ${item.about}?`}
            onClose={onClose}
            actions={
                <button type="submit" form="correct" class="primary">
                    Save
                </button>
            }
        >
            <form id="correct" onSubmit={submit}>
                <label for="value">Correct value</label>
                <textarea id="value" name="value" rows={3} required autofocus>
                    {item.proposed}
                </textarea>
            </form>
        </Dialog>
    );
}

const sentence = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

function Item({ item, onAccept, onCorrect, onDismiss, at }) {
    return (
        <li class="card decision" data-row={at} tabIndex={-1} aria-label={item.text}>
            <p>
                <Badge tone="warn">{kinds[item.kind]}</Badge>{" "}
                {item.kind === "proposal" && "about "}
                {item.kind.startsWith("fact") ? (
                    <a href={link("facts", item.about)}>{item.about}</a>
                ) : (
                    <b>{item.about}</b>
                )}{" "}
                <Time at={item.at} />
            </p>
            <div class="change">
                {item.current !== undefined && item.current !== item.proposed && (
                    <>
                        <span class="old">{item.current}</span>
                        <span aria-label="becomes">→</span>
                    </>
                )}
                <span class="new">{item.proposed}</span>
            </div>
            {item.quote && <blockquote>{item.quote}</blockquote>}
            {item.authority && (
                <p>
                    Said by {item.source || "an unnamed source"}, authority {item.authority},
                    trust {item.trust}
                </p>
            )}
            <p class="muted">
                {sentence(item.reason)}
                {item.confidence !== undefined && ` (confidence ${item.confidence.toFixed(2)})`}
                {`. ${effects[item.kind]}`}
            </p>
            <div class="actions">
                <button type="button" class="primary" onClick={onAccept}>
                    Accept <kbd>a</kbd>
                </button>
                {canCorrect(item) && (
                    <button type="button" onClick={onCorrect}>
                        Correct … <kbd>c</kbd>
                    </button>
                )}
                <button type="button" onClick={onDismiss}>
                    Dismiss <kbd>d</kbd>
                </button>
            </div>
        </li>
    );
}

export function Inbox() {
    const kind = route.value.query.get("kind") || "";
    const pages = usePages("review.list", "items", kind ? { kind } : {}, {
        rooms: ["review", "fact", "memory", "entity"],
    });
    const [correcting, setCorrecting] = useState(null);
    const list = useRef(null);

    // The place of the item that has, or last had, the focus. Keys decide about an item only while
    // it has the focus, so that one sees what they are about.
    const place = useRef(0);
    const focus = (at, options) => {
        place.current = Math.max(0, Math.min(pages.rows.length - 1, at));
        list.current?.children[place.current]?.focus(options);
    };
    const focused = () => {
        const row = document.activeElement?.closest("[data-row]");
        return row && list.current?.contains(row) ? pages.rows[Number(row.dataset.row)] : null;
    };
    const move = (step) => focus(place.current + (focused() ? step : 0));
    const onFocused = (run) => () => (focused() ? run(focused()) : focus(place.current));
    // The first item takes the focus, and the next one that of an item that was decided.
    useEffect(() => {
        if (document.activeElement === document.body)
            focus(place.current, { preventScroll: true }); // Perhaps one is reading below it.
    }, [pages.rows]);
    const decided = useRef(""); // A key may be pressed again before the item is gone.
    const decide = async (operation, args, done) => {
        if (decided.current === args.id) return;
        decided.current = args.id;
        if (!(await act(operation, withAuthority(args), done))) {
            decided.current = "";
            return;
        }
        setCorrecting(null);
        pages.reload();
    };
    const accept = (item) => decide("review.accept", { id: item.id }, `Accepted: ${item.text}`);
    const dismiss = (item) => decide("review.dismiss", { id: item.id }, `Dismissed: ${item.text}`);
    const has = pages.rows.length > 0;
    useKeys(
        has
            ? {
                  j: () => move(1),
                  k: () => move(-1),
                  a: onFocused(accept),
                  c: onFocused((item) => canCorrect(item) && setCorrecting(item)),
                  d: onFocused(dismiss),
              }
            : {},
    );
    return (
        <div class="view">
            <div class="tools">
                <label>
                    Kind{" "}
                    <select
                        data-search
                        value={kind}
                        onChange={(event) => setQuery({ kind: event.currentTarget.value })}
                    >
                        <option value="">all</option>
                        {Object.entries(kinds).map(([name, text]) => (
                            <option value={name}>{text}</option>
                        ))}
                    </select>
                </label>
                <Authority />
                <Stale pages={pages} />
            </div>
            <Problem error={pages.error} />
            <Loading when={pages.isLoading} />
            {!pages.isLoading && !pages.error && !has && (
                <Empty>Nothing waits for a decision.</Empty>
            )}
            <ul
                class="plain decisions"
                ref={list}
                aria-label="Decisions"
                onFocusIn={(event) => {
                    place.current = Number(event.target.closest("[data-row]").dataset.row);
                }}
            >
                {pages.rows.map((item, i) => (
                    <Item
                        key={item.id}
                        item={item}
                        at={i}
                        onAccept={() => accept(item)}
                        onCorrect={() => setCorrecting(item)}
                        onDismiss={() => dismiss(item)}
                    />
                ))}
            </ul>
            {pages.hasMore && (
                <button type="button" onClick={pages.more}>
                    Show more
                </button>
            )}
            {correcting && (
                <CorrectDialog
                    item={correcting}
                    onClose={() => setCorrecting(null)}
                    onSave={(value) =>
                        decide("review.correct", { id: correcting.id, value }, "Corrected")
                    }
                />
            )}
        </div>
    );
}
