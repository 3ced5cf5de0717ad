// main.js - the frame: logging in, the navigation, the user, the keys that work everywhere.
import { render } from "preact";
import { useEffect, useErrorBoundary, useState } from "preact/hooks";
import { isDown, isLoggedIn, logIn, logInByLink, loginNote, logOut } from "./api.js";
import { usePages } from "./data.js";
import { events, state } from "./live.js";
import { go, link, persona, route, user } from "./route.js";
import { Badge, Dialog, Notes, number, Problem, useKeys } from "./ui.js";
import { Context } from "./views/context.js";
import { Entities } from "./views/entities.js";
import { Facts } from "./views/facts.js";
import { Frames } from "./views/frames.js";
import { Inbox } from "./views/inbox.js";
import { Live } from "./views/live.js";
import { Memories } from "./views/memories.js";
import { Overview } from "./views/overview.js";
import { Sessions } from "./views/sessions.js";
import { System } from "./views/system.js";
import { Window } from "./views/window.js";

// Name in the address, title, key after "g", view.
const views = [
    ["overview", "Overview", "o", Overview],
    ["facts", "Facts", "f", Facts],
    ["memories", "Memories", "m", Memories],
    ["entities", "Entities", "e", Entities],
    ["inbox", "Inbox", "i", Inbox],
    ["sessions", "Sessions", "s", Sessions],
    ["window", "Window", "w", Window],
    ["frames", "Frames", "r", Frames],
    ["context", "Context", "c", Context],
    ["live", "Live", "l", Live],
    ["system", "System", "y", System],
];

/* ---- Logging in ---------------------------------------------------------- */

const LOGIN = "#login=";

function Login() {
    const [error, setError] = useState(null);
    const [isBusy, setBusy] = useState(false);
    const attempt = async (how) => {
        setBusy(true);
        setError(null);
        try {
            await how();
        } catch (problem) {
            setError(
                problem.status === 401
                    ? new Error("The daemon does not accept this token.")
                    : problem,
            );
        }
        setBusy(false);
    };
    useEffect(() => {
        if (!location.hash.startsWith(LOGIN)) return;
        const secret = decodeURIComponent(location.hash.slice(LOGIN.length));
        go("#/overview", { replace: true }); // Before anything else: the secret leaves the address.
        attempt(() =>
            logInByLink(secret).catch((problem) => {
                throw problem.status === 401
                    ? new Error("This link was used before, or it has expired.")
                    : problem;
            }),
        );
    }, []);
    const submit = (event) => {
        event.preventDefault();
        attempt(() => logIn(new FormData(event.currentTarget).get("token")));
    };
    return (
        <main class="login">
            <form onSubmit={submit}>
                <h1>loci</h1>
                {loginNote.value && (
                    <p class="problem" role="alert">
                        {loginNote.value}
                    </p>
                )}
                <Problem error={error} />
                <label for="token">Token</label>
                <input
                    id="token"
                    name="token"
                    type="password"
                    required
                    autocomplete="off"
                    spellcheck={false}
                    autofocus
                    placeholder="loci_…"
                />
                <button type="submit" class="primary" disabled={isBusy}>
                    Log in
                </button>
                <p class="muted">
                    <code>loci token create dashboard</code> prints a token. This page keeps it in
                    memory only, until it is closed or loaded again.
                </p>
                <p class="muted">
                    <a href="/start">How to call loci</a> · <a href="/docs">Reference</a>
                </p>
            </form>
        </main>
    );
}

/* ---- The user ------------------------------------------------------------ */

// Suggests the users whose ids begin with the typed text.
function Users() {
    const [typed, setTyped] = useState(null); // null = the name is not being changed.
    const args = { user_id: undefined, prefix: typed?.trim() || undefined };
    const users = usePages("user.list", "users", args, { limit: 100 });
    const choose = (event) => {
        const name = event.currentTarget.value.trim() || "default";
        if (name !== user.value)
            go(link(route.value.view, { user: name === "default" ? "" : name, persona: "" }));
    };
    return (
        <label class="users">
            User
            <input
                list="users"
                value={typed ?? user.value}
                onInput={(event) => setTyped(event.currentTarget.value)}
                onChange={choose}
                onBlur={() => setTyped(null)}
                aria-label="User"
                onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
                onFocus={(event) => event.currentTarget.select()}
            />
            <datalist id="users">
                {users.rows.map((u) => (
                    <option value={u.user_id}>{number(u.events)} events</option>
                ))}
            </datalist>
        </label>
    );
}

// There is no list of personas: the names come from the sessions and from the latest events. Any
// other name can be typed.
function Personas() {
    const args = { persona_id: undefined };
    const sessions = usePages("session.list", "sessions", args, { limit: 1000 });
    const names = new Set(
        [...sessions.rows, ...events.value.map((e) => ({ ...e.payload, ...e.refs }))]
            .map((thing) => thing.persona_id)
            .filter((name) => typeof name === "string" && name),
    );
    const choose = (event) => {
        const name = event.currentTarget.value.trim();
        if (name !== persona.value) go(link(route.value.view, { persona: name }));
    };
    return (
        <label class="users">
            Persona
            <input
                id="persona"
                list="personas"
                value={persona.value}
                placeholder="none"
                onChange={choose}
                onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
                onFocus={(event) => event.currentTarget.select()}
            />
            <datalist id="personas">
                {[...names].sort().map((name) => (
                    <option value={name} />
                ))}
            </datalist>
        </label>
    );
}

/* ---- The frame ----------------------------------------------------------- */

const keys = [
    ["?", "Show this list"],
    ["/", "Search"],
    ["j k", "Move down and up in a list"],
    ["Enter", "Open what has the focus"],
    ["← →", "Move between the nodes of a graph that has the focus"],
    ["Escape", "Leave a field, or close what is open"],
    ["a c d", "Inbox: accept, correct, dismiss"],
    ["u", "Choose the user"],
    ...views.map(([, title, key]) => [`g ${key}`, `Go to ${title}`]),
];

const Help = ({ onClose }) => (
    <Dialog title="Keys" onClose={onClose}>
        <dl class="keys">
            {keys.map(([key, text]) => (
                <div>
                    <dt>
                        {key.split(" ").map((k) => (
                            <kbd>{k}</kbd>
                        ))}
                    </dt>
                    <dd>{text}</dd>
                </div>
            ))}
        </dl>
    </Dialog>
);

// A view that fails leaves the frame around it usable.
function Guarded({ of: View }) {
    const [error, clear] = useErrorBoundary((fault) => console.error(fault));
    if (!error) return <View />;
    return (
        <>
            <Problem error={new Error(`This view failed: ${error.message}`)} />
            <p>
                <button type="button" onClick={clear}>
                    Try again
                </button>
            </p>
        </>
    );
}

function Frame() {
    const [isHelp, setHelp] = useState(false);
    const { view } = route.value;
    const known = views.find(([name]) => name === view);
    const View = known?.[3];
    const title = known?.[1] ?? "Nothing here";
    useEffect(() => {
        document.title = `${title} · loci`;
        const current = document.querySelector("nav [aria-current]");
        current?.scrollIntoView({ block: "nearest", inline: "center" });
    }, [title]);
    useKeys({
        "?": () => setHelp(true),
        "/": () => document.querySelector("[data-search]")?.focus(),
        u: () => document.querySelector(".users input").focus(),
        ...Object.fromEntries(views.map(([name, , key]) => [`g ${key}`, () => go(link(name))])),
        Escape: () => {
            const { rest, query } = route.value; // It may be newer than what is drawn.
            if (rest.length > 0) go(link(view, Object.fromEntries(query)));
        },
    });
    return (
        <div class="frame">
            <a
                class="skip"
                href="#main"
                onClick={(event) => {
                    event.preventDefault();
                    document.getElementById("main").focus();
                }}
            >
                Skip to the content
            </a>
            <header class="bar">
                <strong class="brand">loci</strong>
                <nav aria-label="Views">
                    {views.map(([name, text]) => (
                        <a href={link(name)} aria-current={name === view ? "page" : undefined}>
                            {text}
                        </a>
                    ))}
                </nav>
                <div class="bar-end">
                    <Users />
                    <Personas key={user.value} />
                    <Badge tone={state.value === "live" ? "good" : "warn"}>{state.value}</Badge>
                    <button type="button" onClick={() => setHelp(true)} aria-label="Keys">
                        ?
                    </button>
                    <button type="button" onClick={() => logOut()}>
                        Log out
                    </button>
                </div>
            </header>
            {isDown.value && (
                <p class="down" role="alert">
                    The daemon does not answer. This page continues when it does.
                </p>
            )}
            <main id="main" tabIndex={-1}>
                <h1 class="title">{title}</h1>
                {View ? (
                    <Guarded key={JSON.stringify([view, user.value, persona.value])} of={View} />
                ) : (
                    <p>There is no view of this name.</p>
                )}
            </main>
            {isHelp && <Help onClose={() => setHelp(false)} />}
        </div>
    );
}

const App = () => (
    <>
        {isLoggedIn.value ? <Frame /> : <Login />}
        <Notes />
    </>
);

const root = document.getElementById("app");
root.replaceChildren();
render(<App />, root);
