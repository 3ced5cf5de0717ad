// dashboard.mjs - the dashboard in a real browser: every view, each action, an expired token, a
// daemon that is started again, hostile texts. Any message on the console is a failure, and so is a
// violation of the content security policy, which Chromium reports there.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fail, finish, has, is, lacks, ok } from "../mcp/lib.mjs";
import { browse, logIn, require, seed, start } from "./daemon.mjs";
import { fill, fillFrames, fillMemories, keystrokes, loadOnce, openFrames } from "./large.mjs";

const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const BYTES_MAX = 60 * 1024;
const LOAD_MS = 100;
const TEST_MS = 180000;

let daemon = await start("main");
await seed(daemon);
let browser = await browse();
const pages = [];

// The daemon for users with many rows. It does not wait for the disk with each commit.
let large = null;
async function startLarge() {
    large ??= await start("large", undefined, { LOCI_STORE_DURABILITY: "relaxed" });
    return large;
}

// open(options) - a page whose console must stay empty; `allowed` are messages that a test causes.
async function open({ viewport = { width: 1280, height: 800 }, colorScheme = "light" } = {}) {
    const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
    const page = await context.newPage();
    page.setDefaultTimeout(30000);
    page.allowed = [];
    const note = (text) => {
        if (!page.allowed.some((pattern) => pattern.test(text))) fail("the console is empty", text);
    };
    page.on(
        "console",
        (m) =>
            ["error", "warning"].includes(m.type()) && note(`${m.text()} (${m.location().url})`),
    );
    page.on("pageerror", (error) => note(error.stack));
    page.on("dialog", (dialog) => {
        fail("no text becomes a script", dialog.message());
        dialog.dismiss();
    });
    page.calls = new Set();
    page.operations = []; // Those that were called, such as fact.list.
    page.on("request", (r) => {
        if (!r.url().includes("/v1/call/")) return;
        page.calls.add(r);
        page.operations.push(r.url().split("/").at(-1));
    });
    for (const event of ["requestfinished", "requestfailed"])
        page.on(event, (r) => page.calls.delete(r));
    pages.push(page);
    return page;
}

// Waits until a page has drawn the answers of all its calls.
async function quiet(page) {
    const draw = () => page.evaluate(() => new Promise((done) => setTimeout(done)));
    do {
        while (page.calls.size > 0) await draw();
        await draw();
    } while (page.calls.size > 0);
}

async function visit(page, address) {
    await page.evaluate((hash) => {
        location.hash = hash;
    }, address);
}

async function sees(name, page, text, selector = "body") {
    try {
        await page.locator(selector).getByText(text).filter({ visible: true }).first().waitFor();
        ok(name, true);
    } catch {
        fail(name, `"${text}" is not in: ${(await page.innerText(selector)).slice(0, 400)}`);
    }
}

// Opens the first row of the list by keyboard.
async function openFirst(page) {
    await page.waitForFunction(() => document.activeElement === document.body);
    await page.keyboard.press("j");
    await page.waitForFunction(() => document.activeElement.closest('[data-row="0"]'));
    await page.keyboard.press("Enter");
}

async function audit(name, page) {
    const found = await page.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] })
        .then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact))
            .map((v) => v.id + ": " + v.nodes[0].html.slice(0, 120) + " "
                + v.nodes[0].failureSummary))`);
    is(`${name}: axe finds nothing serious`, [], found);
}

// The things of a graph that overlap, that leave the drawing, or whose names cannot be read.
async function faultsOfGraph(page) {
    await page.locator(".graph .node").first().waitFor();
    return page.evaluate(() => {
        const svg = document.querySelector(".graph svg");
        const [width, height] = [svg.width.baseVal.value, svg.height.baseVal.value];
        const boxOf = (element) => {
            const { x, y, width: w, height: h } = element.getBBox();
            return { x, y, right: x + w, bottom: y + h, of: element.textContent };
        };
        const isInside = (inner, outer) =>
            inner.x >= outer.x - 0.5 && inner.y >= outer.y - 0.5 &&
            inner.right <= outer.right + 0.5 && inner.bottom <= outer.bottom + 0.5;
        const meet = (a, b) =>
            a.x < b.right && b.x < a.right && a.y < b.bottom && b.y < a.bottom;
        const nodes = [...svg.querySelectorAll(".node")];
        const things = [...nodes, ...svg.querySelectorAll("text.region")].map(boxOf);
        const faults = [];
        things.forEach((thing, i) => {
            if (!isInside(thing, { x: 0, y: 0, right: width, bottom: height }))
                faults.push(`${thing.of} leaves the drawing`);
            for (const other of things.slice(i + 1))
                if (meet(thing, other)) faults.push(`${thing.of} overlaps ${other.of}`);
        });
        for (const node of nodes) {
            const box = node.querySelector("rect");
            for (const text of node.querySelectorAll("text")) {
                if (box && !isInside(boxOf(text), boxOf(box)))
                    faults.push(`${text.textContent} leaves its box`);
                if (text.matches(".name") && /^.{0,4}…/u.test(text.textContent))
                    faults.push(`${text.textContent} is not readable`);
            }
        }
        return faults;
    });
}

// Texts that leave their place, and places too narrow for their text.
const faultsOfLayout = (page) =>
    page.evaluate(() => {
        const faults = [];
        for (const element of document.querySelectorAll("#app *")) {
            const { clientWidth, scrollWidth } = element;
            const { display, overflowX, textOverflow } = getComputedStyle(element);
            if (!element.checkVisibility() || element.closest("svg, nav")) continue;
            if (display === "inline" || element.matches(".visually-hidden")) continue;
            const name = `${element.localName}.${element.className}`;
            const text = element.textContent.trim().slice(0, 40);
            const isCut = clientWidth > 0 && scrollWidth > clientWidth + 1;
            if (isCut && overflowX === "visible") faults.push(`${name} is too narrow: ${text}`);
            if (isCut && textOverflow === "ellipsis" && clientWidth < 40)
                faults.push(`${name} shows nothing of: ${text}`);
            if (element.matches("td") && text.includes(" ") && clientWidth < 70)
                faults.push(`${name} has ${clientWidth} pixels for: ${text}`);
        }
        return faults.slice(0, 5);
    });

const pick = (object, names) => Object.fromEntries(names.map((name) => [name, object[name]]));

const idOf = async (operation, args) => (await daemon.call(operation, args)).id;

async function idOfFrame(goal, args = {}) {
    const { frames } = await daemon.call("frame.list", { status: "any", limit: 1000, ...args });
    return frames.find((frame) => frame.goal === goal).id;
}

const views = {
    overview: ["#/overview", "Latest events"],
    facts: ["#/facts/office.city", "History"],
    memories: ["#/memories", "Carla manages"],
    search: ["#/memories?q=who%20drinks%20green%20tea", "Ann likes green tea"],
    memory: [
        `#/memories/${(await daemon.call("memory.recall", { query: "peanuts" })).results[0].id}`,
        "Ann is allergic",
    ],
    inbox: ["#/inbox", "Claim about a fact"],
    sessions: ["#/sessions/planning", "Remind me to call"],
    context: ["#/context?q=Where%20is%20the%20office%3F&budget=90&budget2=400", "Left out"],
    live: ["#/live", "frame.suspended"],
    event: ["#/live/3", "Trondheim"],
    entities: ["#/entities/person:ann", "Memories about it"],
    dependencies: ["#/facts/office.timezone", "Dependencies"],
    window: ["#/window", "text:plan.md"],
    resource: [`#/window/${await idOf("resource.get", { id: "text:plan.md" })}`, "Annotations"],
    frames: ["#/frames", "Release the importer"],
    frame: [`#/frames/${await idOfFrame("Find the cause of the timeout")}`, "compaction"],
    health: ["#/system", "Embedder"],
    jobs: ["#/system/jobs?scope=store", "scheduled|upkeep|done|queued"],
    tokens: ["#/system/tokens", "active"],
    settings: ["#/system/settings", "call.timeout_ms"],
};

const tests = {
    async "sizes and headers"() {
        let total = 0;
        for (const path of [
            "/",
            "/dashboard/app.js",
            "/dashboard/style.css",
            "/dashboard/icon.svg",
        ]) {
            const answer = await fetch(daemon.url + path);
            const tag = answer.headers.get("etag");
            total += Number(answer.headers.get("content-length"));
            is(`${path} is gzip`, "gzip", answer.headers.get("content-encoding"));
            const policy = answer.headers.get("content-security-policy");
            has(`${path} has a policy`, "script-src 'self'", policy);
            lacks(`${path} allows nothing inline`, "unsafe", policy);
            const again = await fetch(daemon.url + path, { headers: { "If-None-Match": tag } });
            is(`${path} is not sent twice`, 304, again.status);
            const bare = await fetch(daemon.url + path, {
                headers: { "Accept-Encoding": "identity" },
            });
            is(`${path} without gzip`, null, bare.headers.get("content-encoding"));
            is(`${path} is the same without gzip`, await answer.text(), await bare.text());
        }
        ok(`all of it is ${total} bytes, at most ${BYTES_MAX}`, total > 5000 && total <= BYTES_MAX);
    },

    async "the first load is light"() {
        const page = await open();
        const times = [];
        for (let i = 0; i < 3; i++) times.push(Math.round(await loadOnce(page, daemon.url)));
        console.log(`main thread until the page is ready: ${times.join(", ")} ms`);
        ok(`at most ${LOAD_MS} ms of the main thread`, Math.min(...times) <= LOAD_MS, times);
    },

    async "logging in"() {
        const page = await open();
        page.allowed = [/401/];
        await page.goto(`${daemon.url}/#/facts/office.city`);
        await page.fill("#token", "loci_wrong");
        await page.click("button[type=submit]");
        await sees("a wrong token is refused", page, "does not accept this token");
        await page.fill("#token", daemon.token);
        await page.click("button[type=submit]");
        await sees("the view of the address is shown", page, "History");
        const kept = await page.evaluate(() =>
            JSON.stringify([localStorage, sessionStorage, document.cookie, location.href]),
        );
        lacks("the token is stored nowhere", daemon.token.slice(5, 20), kept);
        await page.reload();
        ok("a page that is loaded again asks again", await page.isVisible("#token"));
    },

    async "a link logs in once"() {
        const made = await daemon.call("token.create", {
            name: "link",
            scopes: ["admin"],
            ttl_s: 600,
        });
        const address = `${daemon.url}/#login=${made.id}:${made.token}`;
        const page = await open();
        await page.goto(address);
        await page.waitForSelector(".frame");
        lacks("the secret has left the address", "login", page.url());
        const second = await open();
        second.allowed = [/401/];
        await second.goto(address);
        await sees("the second time is refused", second, "used before");
    },

    async "a broken address, and a view that fails"() {
        const page = await open();
        page.allowed = [/400/, /aliases|iterable/];
        await logIn(page, daemon, "#/facts?as_of=yesterday");
        await sees("a time that is none is refused", page, "as_of", ".problem");
        await visit(page, "#/facts/office.city?as_of=yesterday");
        await sees("beside the fact, too", page, "History", ".detail");
        await page.route("**/v1/call/entity.list", (route) =>
            route.fulfill({ json: { entities: [{ ref: "x" }], next_cursor: null } }),
        );
        await visit(page, "#/entities");
        await sees("a view that fails says so", page, "This view failed", ".problem");
        await page.unroute("**/v1/call/entity.list");
        await page.click("text=Try again");
        await sees("and can be tried again", page, "person:ann", ".list");
        await page.click("nav >> text=Facts");
        await sees("the others work", page, "office.city", ".list");
    },

    async "every view, in light and dark"() {
        for (const colorScheme of ["light", "dark"]) {
            const page = await open({ colorScheme });
            await page.goto(`${daemon.url}/`);
            await audit(`login, ${colorScheme}`, page);
            await logIn(page, daemon);
            for (const [name, [address, text]] of Object.entries(views)) {
                await visit(page, address);
                await sees(
                    `${name}, ${colorScheme}`,
                    page,
                    text.includes("|") ? new RegExp(text) : text,
                );
                await quiet(page);
                await audit(`${name}, ${colorScheme}`, page);
            }
        }
    },

    async "addresses can be shared, and go back and forward"() {
        const page = await open();
        await logIn(page, daemon);
        const seen = (name, text) =>
            sees(name, page, text.includes("|") ? new RegExp(text) : text, "#main, dialog");
        const all = Object.entries(views);
        for (const [name, [address, text]] of all) {
            await page.goto(`${daemon.url}/${address}`);
            await page.reload(); // As in the browser of another person.
            await page.fill("#token", daemon.token);
            await page.click("button[type=submit]");
            await seen(`${name} for another person`, text);
        }
        for (const [, [address]] of all) await visit(page, address);
        for (const [name, [address, text]] of all.slice(0, -1).reverse()) {
            await page.goBack();
            await seen(`back to ${name}`, text);
            is(`the address of ${name}`, address, await page.evaluate(() => location.hash));
        }
        for (const [name, [, text]] of all.slice(1)) {
            await page.goForward();
            await seen(`forward to ${name}`, text);
        }
    },

    async "a phone"() {
        const page = await open({ viewport: { width: 360, height: 740 } });
        await logIn(page, daemon);
        for (const [name, [address, text]] of Object.entries(views)) {
            await visit(page, address);
            await sees(`${name} on a phone`, page, text.includes("|") ? new RegExp(text) : text);
            const width = await page.evaluate(() => document.documentElement.scrollWidth);
            ok(`${name} fits a phone`, width <= 360, `it is ${width} pixels wide`);
            await quiet(page);
            is(`${name} cuts nothing on a phone`, [], await faultsOfLayout(page));
        }
        await visit(page, "#/system");
        await page.waitForFunction(() => {
            const { left, right } = document
                .querySelector("nav [aria-current]")
                .getBoundingClientRect();
            return left >= 0 && right <= innerWidth;
        });
        await visit(page, "#/facts/office.city");
        await page.click(".back");
        await sees("back to the list", page, "price.unit");
    },

    async "long texts stay in their places"() {
        const user_id = "u".repeat(60); // Without a place to break, as in addresses and hashes.
        const wide = "W".repeat(180);
        const name = wide.slice(0, 100);
        const call = (operation, args) => daemon.call(operation, { user_id, ...args });
        const source = "s".repeat(100);
        const fact = await call("fact.write", { key: name, value: wide, source });
        await call("fact.write", { key: name, value: "X".repeat(90), source, trust: "web" });
        await call("fact.write", { key: "derived", value: [wide], depends_on: [fact.id], source });
        const memory = await call("memory.store", {
            text: `Ann likes ${wide}`,
            metadata: { wide },
        });
        await call("session.open", { external_id: name });
        await call("session.append", { session_id: name, role: "user", text: wide });
        await call("window.open", { context_max: 10000 });
        const resource = await call("resource.discover", { name: wide, text: wide });
        await call("resource.page_in", { id: resource.id });
        const frame = await call("frame.push", { goal: wide, inputs: { wide } });
        await call("frame.handle_add", { frame_id: frame.id, title: wide, text: "x ".repeat(900) });
        await call("frame.result_add", { frame_id: frame.id, title: wide, text: wide });
        await call("frame.suspend", { id: frame.id, reason: wide });
        await call("fact.write", { key: "short", value: wide });
        await call("fact.write", { key: "short", value: "short" });
        for (const width of [1280, 360]) {
            const page = await open({ viewport: { width, height: 800 } });
            await logIn(page, daemon, `#/facts/short?user=${user_id}`);
            await sees("a long value is cut in a sentence", page, /It replaced "W{99}…"/, ".why");
            for (const address of [
                "overview",
                "facts",
                `facts/${name}`,
                "memories",
                `memories/${memory.id}`,
                "inbox",
                `sessions/${name}`,
                "window",
                `window/${resource.id}`,
                "frames",
                `frames/${frame.id}`,
                "live",
            ]) {
                await visit(page, `#/${address}?user=${user_id}`);
                await sees(`${address.slice(0, 12)} with long texts`, page, /[uW]{20}/, "#main");
                await quiet(page);
                const place = `${address.slice(0, 12)} at ${width} pixels`;
                is(place, [], await faultsOfLayout(page));
            }
        }
    },

    async "the overview follows the daemon"() {
        const page = await open();
        await logIn(page, daemon);
        await sees("the level of the guard", page, "guard normal", ".overview h2");
        await sees("the memory in use", page, / of [0-9.]+ [MG]B$/, ".trend");
        await sees("the tokens of the window", page, "of 1,000", ".trend");
        await daemon.call("resource.page_in", { id: "text:archive.md" });
        const { pressure } = await daemon.call("window.get", {});
        const tokens = pressure.active_tokens.toLocaleString("en");
        await sees("tokens change by themselves", page, `${tokens} of 1,000`, ".trend");
        await daemon.call("resource.page_out", { id: "text:archive.md" });
        // A flat curve has no height, and is not visible for Playwright.
        for (const name of ["Memory", "Tokens in the window", "Reads", "Recalls", "Writes"])
            await page
                .locator(".trend", { hasText: name })
                .locator("polyline")
                .waitFor({ state: "attached" });
        const { counters } = await daemon.call("store.status");
        await sees("recalls since the start", page, `${counters.recalls} of them recalls`);
        // The daemon has taken these samples without a page.
        const { samples } = await daemon.call("store.activity");
        const points = await page
            .locator(".trend", { hasText: "Memory" })
            .locator("polyline")
            .getAttribute("points");
        ok("the curves have a past", points.split(" ").length >= samples.length - 1, points);
        await page.route("**/v1/call/store.activity", (route) =>
            route.fulfill({ json: { samples: [] } }),
        );
        await visit(page, "#/facts");
        await visit(page, "#/overview");
        const reads = page.locator(".trend", { hasText: "Reads" });
        await reads.waitFor();
        is("a curve without a sample has a place", "–", await reads.locator("b").innerText());
        const quietUser = await open(); // Nothing is read that is not there.
        await logIn(quietUser, daemon, "#/overview?user=nobody");
        await sees("a user without a window", quietUser, "guard normal", ".overview h2");
        await quiet(quietUser);
        is("has no tokens", 4, await quietUser.locator(".trend").count());
    },

    async "three clicks to the reason"() {
        const page = await open();
        await logIn(page, daemon);
        await page.click("nav >> text=Facts");
        await page.click("text=office.city");
        await sees("who and with which authority", page, "Said by board", ".why");
        await sees("and what it replaced", page, 'It replaced "Bergen", said by hr_system', ".why");
        await sees("the versions before", page, 'Said by hr_system, with the authority "manager"');
        await sees("and why they ended", page, 'It ended when board said "Trondheim".');
        await page.click(".version.valid a[href*=live]");
        await sees("the event behind it", page, "Event 3", "dialog");
        await page.keyboard.press("Escape");
        await page.waitForFunction(() => location.hash === "#/live");
        await page.goBack();
        await sees("back goes back", page, "History");
    },

    async "facts: search, the past, retract and forget"() {
        const page = await open();
        const ends = new Date().toISOString();
        await daemon.call("fact.write", { key: "zoo.animal", value: "lion" });
        await logIn(page, daemon, "#/facts");
        await sees("a new fact is listed", page, "zoo.animal");
        await page.keyboard.press("/");
        await page.keyboard.type("price");
        await page.waitForFunction(() => document.querySelectorAll(".list li").length === 2);
        await page.waitForFunction(() => location.hash.includes("q=price"));
        await page.evaluate(() => {
            const input = document.querySelector("[data-search]");
            input.value = "team";
            input.dispatchEvent(new InputEvent("input", { bubbles: true }));
            document.querySelector(".list li a").click();
        });
        await page.waitForFunction(() => location.hash.startsWith("#/facts/price"));
        await page.goBack();
        await page.waitForFunction(() => location.hash === "#/facts?q=team");
        await sees("back leads to what was typed last", page, "team.lead", ".list");
        await visit(page, `#/facts?as_of=${ends}`);
        await visit(page, `#/facts/zoo.animal?as_of=${ends}`);
        await sees("a fact says what it was then", page, "it had no value", ".past");
        await sees("apart from what it is now", page, "Now", ".detail h3");
        await visit(page, `#/facts/team.name?as_of=${ends}`);
        await sees("and who said it", page, /it was Orion.*said by user/, ".past");
        await visit(page, `#/facts?as_of=${ends}`);
        await sees("the past is shown", page, "team.name");
        is("as it was", 0, await page.locator(".list >> text=zoo.animal").count());
        await page.click("text=Now");
        await sees("and now again", page, "zoo.animal");
        await page.locator("#as-of").focus();
        await page.keyboard.press("Home");
        await page.waitForFunction(
            () =>
                location.hash.includes("as_of") &&
                document.querySelectorAll(".list li").length <= 1,
        );
        await visit(page, "#/facts/zoo.animal");
        await page.click("text=Retract …");
        await page.fill("#reason", "it fled");
        await page.click("dialog button.danger");
        await sees("the reason of the retraction", page, "retracted: it fled", ".timeline");
        await page.click("text=Forget …");
        await sees("what will be removed is shown first", page, "lion", "dialog");
        is(
            "and is still there",
            1,
            (await daemon.call("fact.history", { key: "zoo.animal" })).facts.length,
        );
        await page.click("dialog button.danger");
        await page.waitForFunction(() => location.hash === "#/facts");
        const left = await daemon
            .call("fact.history", { key: "zoo.animal" })
            .catch((e) => e.message);
        has("it is forgotten", "there is no fact", left);
    },

    async "forgetting needs the authority"() {
        const page = await open();
        page.allowed = [/403/];
        const key = "vault.code";
        await daemon.call("fact.write", { key, value: "7", authority: "executive" });
        await logIn(page, daemon, `#/facts/${key}`);
        await page.click("text=Forget …");
        await sees("it says what to do", page, "Choose a higher authority", "dialog");
        await page.selectOption("dialog select", "executive");
        await sees("and then what will be removed", page, "1 fact", ".removed");
        await page.click("dialog button.danger");
        await page.waitForFunction(() => !location.hash.includes("vault"));
    },

    async "memories: search, pin, edit, archive, forget"() {
        const page = await open();
        await logIn(page, daemon, "#/memories");
        await sees("the newest first", page, "Carla manages");
        await page.keyboard.press("/");
        await page.keyboard.type("who drinks tea");
        await page.waitForFunction(() =>
            document.querySelector(".list li")?.textContent.includes("tea"),
        );
        ok("each score has its bars", (await page.locator(".list li >> .score rect").count()) > 3);
        await page.waitForFunction(
            () => document.querySelector(".list ul").getAttribute("aria-busy") === "false",
        );
        await page.keyboard.press("Escape");
        await openFirst(page);
        await sees("the parts of the score", page, "Frequency of its entity", ".score-table");
        const cells = await page.locator(".score-table td:last-child").allInnerTexts();
        const adds = cells.filter(Boolean).map(Number);
        const score = adds.pop();
        const sum = adds.reduce((a, b) => a + b);
        ok(`they add up to the score: ${adds} is ${score}`, Math.abs(sum - score) < 0.02);
        await page.click(".detail .chip >> text=person:ann");
        await sees("it leads to its entity", page, "Memories about it");
        await page.goBack();
        await page.click(".actions >> text=Pin");
        await sees("it is pinned", page, "Unpin");
        await page.click("text=Unpin");
        await page.locator(".detail >> text=/^Pin$/").waitFor();
        await page.click("text=Edit …");
        await page.fill("#text", "Ann likes black tea");
        await page.click("dialog button.primary");
        await sees("the edit supersedes", page, "Versions");
        await sees("the new text", page, "Ann likes black tea", ".headline");
        await page.click(".actions >> text=Archive");
        await sees("it is archived", page, "archived", ".pairs");
        await page.click("text=Forget …");
        await sees("what will be removed", page, "Ann likes black tea", "dialog");
        await sees("and how much", page, /^2 events$/, ".removed");
        // The event may come long before the answer. If the page read the memory again then, the
        // console would have a 404.
        await page.route("**/v1/call/memory.forget", async (route) => {
            const response = await route.fetch();
            await new Promise((done) => setTimeout(done, 1000));
            await route.fulfill({ response });
        });
        await page.click("dialog button.danger");
        await page.waitForFunction(() => !location.hash.includes("mem_"));
        const left = await daemon.call("memory.recall", {
            query: "Ann likes black tea",
            limit: 50,
        });
        lacks("it is forgotten", "black tea", JSON.stringify(left.results.map((r) => r.text)));
    },

    async "the graph of dependencies"() {
        const by = { user_id: "tree" };
        let last = await daemon.call("fact.write", { ...by, key: "a", value: 1 });
        for (const key of ["b", "c"])
            last = await daemon.call("fact.write", {
                ...by,
                key,
                value: `from above ${key}`,
                depends_on: [last.id],
            });
        const page = await open();
        await logIn(page, daemon, "#/facts/c?user=tree");
        const nodes = page.locator(".graph .node");
        await nodes.nth(2).waitFor();
        is(
            "each fact is drawn, from its sources on",
            ["a = 1, current", "b = from above b, current", "c = from above c, current"],
            await nodes.evaluateAll((all) =>
                all.map((n) => n.querySelector("title").textContent).sort(),
            ),
        );
        is("each dependency is an arrow", 2, await page.locator("path.link[marker-end]").count());
        const xs = await Promise.all(
            ["a", "b", "c"].map((key) =>
                page
                    .locator(`.node:has(title:text("${key} =")) rect`)
                    .evaluate((box) => Number(box.getAttribute("x"))),
            ),
        );
        ok(`arrows lead to the right: ${xs}`, xs[0] < xs[1] && xs[1] < xs[2]);
        const { nodes: all } = await (
            await page.context().newCDPSession(page)
        ).send("Accessibility.getFullAXTree");
        const names = all.filter((n) => n.role?.value === "link").map((n) => n.name?.value);
        ok("it has a name for screen readers", names.includes("a = 1, current"), names);
        is("Tab stops once", 1, await page.locator('.node[tabindex="0"]').count());
        await page.locator(".node.chosen").focus();
        await page.keyboard.press("ArrowLeft");
        await page.waitForFunction(() =>
            document.activeElement.querySelector("title").textContent.startsWith("b ="),
        );
        await page.keyboard.press("ArrowLeft");
        await page.keyboard.press("Enter");
        await sees("Enter opens a fact of the graph", page, /^a$/, ".detail h2");
        await visit(page, "#/facts/c?user=tree");
        await page.click(".as-list summary");
        const tree = (label) => page.locator(`.tree[aria-label="${label}"]`);
        await tree("Derived from").locator(".tree >> text=current").waitFor();
        is(
            "sources are nested",
            ["b", "a"],
            await tree("Derived from").locator("a").allInnerTexts(),
        );
        await tree("Derived from").locator("a", { hasText: "a" }).first().waitFor();
        await visit(page, "#/facts/a?user=tree");
        await page.click(".as-list summary");
        await tree("Facts derived from it").locator(".tree >> text=from above c").waitFor();
        is(
            "and so are derived facts",
            ["b", "c"],
            await tree("Facts derived from it").locator("a").allInnerTexts(),
        );
    },

    async "graphs do not overlap"() {
        const by = { user_id: "names" };
        const fact = (key, value, sources = []) =>
            daemon.call("fact.write", {
                ...by,
                key,
                value,
                ...(sources.length && { depends_on: sources.map((source) => source.id) }),
            });
        const long = "organisation.headquarters.municipality_of_registration";
        const town = await fact(long, "The municipality of Trondheim in Trøndelag county");
        const phone = await fact("連絡先.緊急時の電話番号.本社の受付と警備", "電話番号は部署ごとに異なる");
        const middle = [];
        for (let i = 0; i < 7; i++)
            middle.push(
                await fact(`derived.setting.with_a_rather_long_name_${i}`, `W${"W".repeat(300)}`, [
                    town,
                    ...(i % 2 ? [phone] : []),
                ]),
            );
        for (let i = 0; i < 5; i++)
            await fact(`second.level.of_derivation.with_a_long_name_${i}`, { i }, [
                town, // An arrow that passes a column.
                middle[i],
                middle[i + 1],
            ]);
        await daemon.call("window.open", { ...by, context_max: 50000 });
        for (let i = 0; i < 40; i++) {
            const name = i % 3 ? `a-quite-long-name-of-a-document-${i}.md` : `名前${i}.md`;
            const id = `text:${name}`;
            await daemon.call("resource.discover", {
                ...by,
                name,
                text: "Some words. ".repeat(3 + i * 9),
            });
            if (i % 4 < 3) await daemon.call("resource.page_in", { ...by, id, mode: "full" });
            if (i % 4 === 1) await daemon.call("resource.page_out", { ...by, id });
            if (i > 20 && i % 3)
                await daemon.call("resource.link", { ...by, id, to: "text:名前0.md" });
        }
        const addresses = [
            views.dependencies[0],
            "#/facts/office.city",
            "#/facts/support.hours",
            "#/facts/price.total",
            views.window[0],
            views.resource[0],
            `#/facts/${long}?user=names`,
            "#/facts/derived.setting.with_a_rather_long_name_3?user=names",
            "#/window?user=names",
        ];
        for (const width of [1280, 900, 390]) {
            const page = await open({ viewport: { width, height: 844 } });
            await logIn(page, daemon, "#/live");
            for (const address of addresses) {
                await visit(page, address);
                await quiet(page);
                // On a phone a resource hides the map.
                if (width < 800 && address === views.resource[0]) continue;
                is(`${address} at ${width} pixels`, [], await faultsOfGraph(page));
            }
            if (width < 800) {
                await visit(page, `#/facts/${long}?user=names`);
                await page.locator(".node.chosen rect").waitFor();
                const sight = await page.evaluate(() => {
                    const node = document.querySelector(".node.chosen rect");
                    const { left, right } = node.getBoundingClientRect();
                    return left >= 0 && right <= innerWidth;
                });
                ok("the chosen fact is in sight on a phone", sight);
            }
        }
    },

    async "entities and their cards"() {
        const page = await open();
        await logIn(page, daemon, "#/entities");
        await sees("entities are listed", page, "person:bob", ".list");
        await page.keyboard.press("/");
        await page.keyboard.type("ann");
        await page.waitForFunction(() => document.querySelectorAll(".list li").length === 1);
        await page.keyboard.press("Escape");
        await openFirst(page);
        await sees("the card", page, "[person:ann]: ", ".entity-card");
        await page.click(".cards a >> text=Ann is allergic to peanuts");
        await page.waitForFunction(() => location.hash.startsWith("#/memories/mem_"));
        await sees("a memory of the entity", page, "Ann is allergic", ".headline");
    },

    async "the window: graph, candidates, and each action"() {
        const page = await open();
        const user_id = "win";
        const call = (operation, args) => daemon.call(operation, { user_id, ...args });
        page.allowed = [/404.*window\.get/]; // It is not open yet.
        await logIn(page, daemon, "#/window?user=win");
        await sees("a window that is not open", page, "No window is open");
        await call("window.open", { context_max: 1000 });
        for (const name of ["one", "two"])
            await call("resource.discover", { name, text: `Text number ${name}. `.repeat(20) });
        await call("resource.link", { id: "text:one", to: "text:two", label: "uses" });
        const id = (await call("resource.get", { id: "text:one" })).id;
        await page.locator(`[data-node="${id}"]`).waitFor();
        is("each resource is in the graph", 2, await page.locator(".node").count());
        await page.locator(".graph path.link").waitFor({ state: "attached" });
        await page.locator(`[data-node="${id}"] circle`).click();
        await sees("a click in the graph opens it", page, "text:one", ".detail h2");
        await page.click("text=/^Page in$/");
        await sees("it is loaded", page, "✓ loaded", ".detail");
        await sees("with its content", page, "Text number one", ".detail pre");
        is("in the store, too", "loaded", (await call("resource.get", { id })).state);
        await page.locator(".candidates summary").click();
        await sees(
            "the next one to go, and why",
            page,
            /attention 1; lru: last used (just now|\d+ \w+ ago)/,
            ".candidates",
        );
        await page.locator(`[data-node="${id}"].next`).waitFor();
        await page.fill("#attention", "3");
        await page.click(".detail form >> text=Set");
        await sees("attention makes it hot", page, "◆ hot", ".detail");
        is("its attention", 3, (await call("resource.get", { id })).attention);
        await page.fill("#annotation", "read me first");
        await page.click(".detail form >> text=Add");
        await sees("the annotation", page, "read me first", ".annotations");
        await page.click("text=Page in the summary");
        await page.locator(".detail dd", { hasText: /^summary$/ }).waitFor();
        await page.click("text=Page out");
        await sees("it is paged out", page, "● indexed", ".detail");
        is("and its tokens are free", 0, (await call("window.get", {})).active_tokens);
        await page.selectOption("#policy", "size_first");
        await page.waitForFunction(() => document.querySelector(".note")?.textContent);
        await page
            .locator(".notes", { hasText: "The policy was changed" })
            .waitFor({ state: "attached" });
        is("the policy", "size_first", (await call("window.get", {})).policy);
        await page.click(".detail >> text=Forget …");
        await sees("what will be removed", page, "resource", "dialog");
        await page.click("dialog button.danger");
        await page.waitForFunction(() => location.hash === "#/window?user=win");
        await page.locator(`[data-node="${id}"]`).waitFor({ state: "detached" });
        await page.locator("dialog").waitFor({ state: "detached" });
        await openFirst(page);
        await sees("the list opens a resource by keyboard", page, "text:two", ".detail h2");
    },

    async "a context: reasons, scores, and two budgets"() {
        const query = "Where is the office?";
        const page = await open();
        await logIn(page, daemon, "#/context");
        await sees("what to do first", page, "Type a question");
        await page.keyboard.press("/");
        await page.keyboard.type(query);
        await sees("the text for the question", page, "office.city: Trondheim", ".context pre");
        const field = page.locator('[type="number"]').first();
        await field.focus();
        await page.keyboard.press("End");
        for (let i = 0; i < 4; i++) await page.keyboard.press("Backspace");
        is("a budget can be deleted", "", await field.inputValue());
        await page.keyboard.type("90");
        is("and typed", "90", await field.inputValue());
        await page.fill('[type="number"] >> nth=1', "400");
        const built = async (budget) =>
            daemon.call("context.build", { query, budget, explain: true });
        await page.waitForFunction(() => location.hash.includes("budget=90&budget2=400"));
        for (const budget of [90, 400]) {
            const card = page.locator(`.context[aria-label="Budget of ${budget} tokens"]`);
            await card.locator(".items-table a").first().waitFor();
            await quiet(page);
            const { included, excluded, tokens } = await built(budget);
            await sees(`the tokens of ${budget}`, page, `${tokens.total} of ${budget} tokens`);
            const scores = await card
                .locator(".items-table tbody tr")
                .evaluateAll((all) =>
                    all.map((row) => row.querySelector(".score")?.ariaLabel ?? ""),
                );
            is(
                `the score of each line with its parts, ${budget}`,
                [...included, ...excluded].map(({ score, meaning, words }) =>
                    score === undefined
                        ? ""
                        : `Score ${score.toFixed(2)}: meaning ${meaning.toFixed(2)}, ` +
                          `words ${words.toFixed(2)}`,
                ),
                scores,
            );
            ok(`some have one, ${budget}`, scores.filter(Boolean).length > 2, scores);
            const whys = await card.locator(".items-table tr td:nth-child(2)").allInnerTexts();
            ok(`each line has a reason, ${budget}`, whys.every(Boolean), whys);
        }
        const colours = async (budget) =>
            Object.fromEntries(
                await page
                    .locator(`.context[aria-label="Budget of ${budget} tokens"] .badge:has(.hue)`)
                    .evaluateAll((all) =>
                        all.map((badge) => [
                            badge.textContent.trim().split(" ")[0],
                            getComputedStyle(badge.querySelector("i")).backgroundColor,
                        ]),
                    ),
            );
        const [few, many] = [await colours(90), await colours(400)];
        ok("a section has a colour of its own", new Set(Object.values(many)).size > 5, many);
        is("with each budget", few, { ...few, ...pick(many, Object.keys(few)) });
        await sees("what was searched for", page, "a current fact, near the question");
        await sees("the map has a name", page, "the map of the window", ".items-table a");
        await page.click('.items-table a:has-text("Noted. Shall I")');
        await page.locator(".message.found").waitFor();
        await page.goBack();
        await page.locator(".context >> nth=1").waitFor();
        await sees("what lost its place", page, "the budget was used up");
        const city = page.locator(".context a", { hasText: "office.city" });
        await city.first().click();
        await sees("a line leads to its fact", page, "Said by board", ".why");
        await page.goBack();
        await page.locator(".context >> nth=1").waitFor();
        ok("and back to both budgets", page.url().includes("budget2=400"));
    },

    async "frames: tree, budget, pack, suspended work"() {
        const page = await open();
        await logIn(page, daemon, "#/frames");
        await sees("the reason of a suspension", page, "waits for the approval of Ann", ".list");
        const goals = await page.locator(".list li b").allInnerTexts();
        await visit(page, "#/frames?q=logs");
        await sees("one of them", page, /^1 frame$/, ".frame-count");
        await visit(page, "#/frames");
        await page.waitForFunction(() => document.querySelectorAll(".list li").length === 4);
        is(
            "a tree: children after their parent, oldest first",
            [
                "Release the importer",
                "Find the cause of the timeout",
                "Read the logs of the pool",
                "Write the release notes",
            ],
            goals,
        );
        const bars = await page
            .locator(".list .budget")
            .evaluateAll((all) => all.map((bar) => bar.getAttribute("aria-label")));
        has("the parts of a budget", "1,800 used, 1,200 reserved, 2,000 handed on", bars[1]);
        has("a budget that was exceeded", "600 over the budget", bars[2]);
        await sees("in words, too", page, "600 over", ".list .badge.bad");
        const over = await page
            .locator(".list .budget")
            .nth(2)
            .evaluate((bar) => {
                const part = bar.querySelector(".share-3").getBoundingClientRect().width;
                return part / bar.getBoundingClientRect().width;
            });
        ok(`and as a part of the bar: ${over}`, Math.abs(over - 600 / 2600) < 0.02);
        await page.click(".list >> text=Find the cause");
        await sees("what it is a part of", page, "Release the importer", ".detail .pairs a");
        await sees("its handles", page, "Size of the pool", ".items-table");
        await sees("its results", page, "First finding", ".items-table");
        await sees("what it has set aside", page, "a load test", ".detail");
        await sees("the pack", page, "40 clients", ".pack pre");
        await page.fill("#pack-budget", "130");
        await sees("a smaller pack leaves something out", page, "Chat about lunch:", ".pack li");
        await page.waitForFunction(() => location.hash.includes("budget=130"));
        await page.click(".list >> text=Write the release notes");
        await sees("the age of suspended work", page, /ago|just now/, ".suspended");
        await page.selectOption(".tools select", "suspended");
        await page.waitForFunction(() => document.querySelectorAll(".list li").length === 1);
    },

    async "a persona is part of the address"() {
        const persona_id = "project:github.com/acme/app";
        await daemon.call("fact.write", { user_id: "carl", key: "mine", value: 1 });
        await daemon.call("fact.write", { user_id: "carl", key: "ours", value: 2, persona_id });
        const page = await open();
        await logIn(page, daemon, "#/facts?user=carl");
        await sees("facts without a persona", page, "mine", ".list");
        is("and no others", 0, await page.locator(".list >> text=ours").count());
        await page
            .locator(`#personas option[value="${persona_id}"]`)
            .waitFor({ state: "attached" });
        await page.fill("#persona", persona_id);
        await page.keyboard.press("Enter");
        await sees("facts of the persona", page, "ours", ".list");
        has("it is in the address", `persona=${encodeURIComponent(persona_id)}`, page.url());
        await page.click(".list >> text=ours");
        await page.click("text=Retract …");
        await page.click("dialog button.danger");
        await sees("actions are those of the persona", page, "retracted without", ".timeline");
        await page.click("nav >> text=Memories");
        await page.waitForFunction(() => /memories.*persona=/.test(location.hash));
        await page.fill("#persona", "");
        await page.keyboard.press("Enter");
        await page.waitForFunction(() => !location.hash.includes("persona="));
    },

    async "two tenants"() {
        const made = execFileSync(
            process.env.LOCI,
            ["token", "create", "t2", "--tenant", "globex", "--store", daemon.store, "--json"],
            { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
        );
        const other = JSON.parse(made);
        const call = (operation, args) => daemon.call(operation, args, other.token);
        await call("fact.write", { key: "globex.only", value: 1 });
        await call("window.open", { context_max: 500 });
        await call("resource.discover", { name: "globex", text: "theirs" });
        await call("frame.push", { goal: "Globex goal", actor_id: "g" });
        const page = await open();
        await logIn(page, daemon, "#/facts", other.token);
        await sees("facts of the tenant", page, "globex.only", ".list");
        is("and of no other", 0, await page.locator(".list >> text=office.city").count());
        await visit(page, "#/window");
        await sees("its window", page, "text:globex", ".list");
        is("one resource", 1, await page.locator(".list li").count());
        await visit(page, "#/frames");
        await sees("its frames", page, "Globex goal", ".list");
        is("one frame", 1, await page.locator(".list li").count());
        page.allowed = [/40[34]/]; // It has no rights in the whole store.
        for (const [name, [address]] of Object.entries(views)) {
            await visit(page, address);
            await quiet(page);
            const text = await page.innerText("#main");
            const theirs = /Trondheim|peanuts|Tesco|importer|Pizza|landlord/.exec(text)?.[0] ?? "";
            is(`nothing of the other tenant: ${name}`, "", theirs);
        }
        await visit(page, views.frame[0]);
        await page.locator(".detail .problem").first().waitFor();
        lacks("a frame of another tenant", "Size of the pool", await page.innerText(".detail"));
    },

    async "a token for one user"() {
        await daemon.call("fact.write", { user_id: "solo", key: "solo.only", value: 1 });
        const made = await daemon.call("token.create", {
            name: "solo",
            scopes: ["read"],
            user_id: "solo",
        });
        const page = await open();
        page.allowed = [/403/]; // What is for administrators.
        await logIn(page, daemon, "#/facts?q=solo", made.token);
        await sees("shows this user at once", page, "solo.only", ".list");
        is("in the address, too", "#/facts?user=solo&q=solo", await page.evaluate(() => {
            return location.hash;
        }));
    },

    async "a token that really expires"() {
        const short = await daemon.call("token.create", { name: "x", scopes: ["read"], ttl_s: 2 });
        const page = await open();
        page.allowed = [/401/];
        await page.goto(`${daemon.url}/#/window`);
        await page.fill("#token", short.token);
        await page.click("button[type=submit]");
        // On a slow machine it may expire before its first use: then the login says so.
        await page.waitForSelector(".frame, .problem");
        const refused = async () =>
            daemon.call("fact.list", {}, short.token).then(
                () => false,
                () => true,
            );
        while (!(await refused())) await new Promise((done) => setTimeout(done, 100));
        if (await page.locator(".frame").count()) {
            await page.click("nav >> text=Frames");
            await sees("an expired token leads to the login", page, "no longer accepted");
            has("the address stays", "#/frames", page.url());
        }
        await page.fill("#token", daemon.token);
        await page.click("button[type=submit]");
        await page.waitForSelector(".frame");
    },

    async "the inbox by keyboard"() {
        const page = await open();
        for (const [key, value] of [
            ["box.a", 1],
            ["box.b", 2],
            ["box.c", 3],
        ]) {
            await daemon.call("fact.write", { key, value, authority: "executive" });
            await daemon.call("fact.write", { key, value: value * 10, trust: "web" });
        }
        await logIn(page, daemon, "#/inbox?kind=fact_claim");
        await sees("a claim", page, "box.c");
        await sees("and who made it", page, "Said by news site", ".decisions");
        await page.selectOption("#authority", "executive");
        const focus = async (key) => {
            for (let i = 0; i < 20; i++) await page.keyboard.press("k");
            for (let i = 0; i < 20; i++) {
                if (await page.evaluate((k) => document.activeElement.textContent.includes(k), key))
                    return;
                await page.keyboard.press("j");
            }
            fail(`j reaches ${key}`);
        };
        const gone = (key) =>
            page.waitForFunction(
                (k) => !document.querySelector(".decisions").textContent.includes(k),
                key,
            );
        await focus("box.a");
        await page.keyboard.press("a");
        await gone("box.a");
        await focus("box.b");
        await page.keyboard.press("d");
        await gone("box.b");
        await focus("box.c");
        await page.keyboard.press("c");
        await page.fill("#value", "33");
        await page.click("dialog button.primary");
        await gone("box.c");
        const values = [];
        for (const key of ["box.a", "box.b", "box.c"])
            values.push((await daemon.call("fact.current", { key })).value);
        is("accepted, dismissed, corrected", [10, 2, 33], values);
    },

    async "the inbox decides about what has the focus"() {
        const page = await open();
        const user_id = "focus";
        for (const key of ["one", "two", "three", "four"]) {
            await daemon.call("fact.write", { user_id, key, value: 1 });
            await daemon.call("fact.write", { user_id, key, value: 2, trust: "web" });
        }
        await logIn(page, daemon, "#/inbox?user=focus");
        const place = () =>
            page.waitForFunction(() => document.activeElement.closest(".decision"));
        await place();
        const text = () => page.evaluate(() => document.activeElement.ariaLabel);
        const order = await page
            .locator(".decision")
            .evaluateAll((all) => all.map((item) => item.ariaLabel));
        is("the first one has the focus", order[0], await text());
        await sees("what the keys do", page, "dismiss keeps the one before", ".decision");
        await page.route("**/v1/call/review.list", async (route) => {
            await new Promise((done) => setTimeout(done, 600)); // A busy daemon.
            await route.continue();
        });
        const left = (count) =>
            page.waitForFunction(
                (n) => document.querySelectorAll(".decision").length === n,
                count,
            );
        await page.keyboard.press("j");
        await page.keyboard.press("d");
        await page.keyboard.press("d"); // Before the item is gone.
        await left(3);
        await place();
        is("the next one takes the focus", order[2], await text());
        await page.evaluate(() => document.activeElement.blur());
        await page.keyboard.press("d");
        await place();
        is("a key without a focus only brings it back", order[2], await text());
        const dismissals = () =>
            page.operations.filter((name) => name === "review.dismiss").length;
        is("one was dismissed, once", 1, dismissals());
        await page.keyboard.press("d");
        await left(2);
        is("then another", 2, dismissals());
        is("the others wait", [order[0], order[3]], await page
            .locator(".decision")
            .evaluateAll((all) => all.map((item) => item.ariaLabel)));
    },

    async "the inbox: proposals, claims about memories, merges"() {
        const user_id = "judged";
        const call = (operation, args) => daemon.call(operation, { user_id, ...args });
        await call("session.append", { role: "user", text: "I can't stand horror movies." });
        await call("session.append", { role: "user", text: "i work at tesco." });
        await call("memory.store", { text: "Lives in Oslo", pinned: true });
        await call("memory.store", { text: "Lives in Bergen" });
        for (const name of ["Katerina", "Katarina"])
            await call("memory.store", { text: `${name} is my friend` });
        const page = await open();
        await logIn(page, daemon, "#/inbox?user=judged");
        const item = (text) => page.locator(".decision", { hasText: text });
        await item("Works at tesco").waitFor();
        is("what the judge was not sure of", 2, await item("Proposal").count());
        await audit("proposals and merges", page);
        const merge = item("Same entity?");
        is("a merge has no other value", 0, await merge.getByText("Correct").count());
        await item("Same entity?").locator("button", { hasText: "Accept" }).click();
        await item("Same entity?").waitFor({ state: "detached" });
        is("the entities are merged", [], (await call("entity.suggestions")).suggestions);
        await item("Claim about a memory").locator("button", { hasText: "Dismiss" }).click();
        await item("Claim about a memory").waitFor({ state: "detached" });
        await item("Works at tesco").locator("button", { hasText: "Accept" }).click();
        await item("Works at tesco").waitFor({ state: "detached" });
        await item("horror").locator("button", { hasText: "Correct" }).click();
        await page.fill("#value", "Dislikes horror movies");
        await page.click("dialog button.primary");
        await sees("nothing is left", page, "Nothing waits for a decision");
        const texts = (await call("memory.list")).memories.map((memory) => memory.text);
        ok("what was accepted is remembered", texts.includes("Works at tesco"), texts);
        ok("and what was corrected", texts.includes("Dislikes horror movies"), texts);
    },

    async "by keyboard alone"() {
        const page = await open();
        const { keyboard } = page;
        const goes = (address) =>
            page.waitForFunction((begin) => location.hash.startsWith(begin), address);
        await daemon.call("fact.write", { key: "zz.keys", value: "old" });
        await page.goto(`${daemon.url}/`);
        await page.waitForSelector("#token");
        await keyboard.insertText(daemon.token); // The field has the focus.
        await keyboard.press("Enter");
        await page.waitForSelector(".frame");
        await keyboard.press("g");
        await keyboard.press("f");
        await goes("#/facts");
        await sees("facts", page, "zz.keys", ".list");
        await keyboard.press("/");
        await keyboard.type("zz.");
        await page.waitForFunction(() => document.querySelectorAll(".list li").length === 1);
        await keyboard.press("Escape");
        await openFirst(page);
        await sees("a fact", page, "zz.keys", ".detail h2");
        await keyboard.press("Escape");
        await page.waitForFunction(() => location.hash === "#/facts?q=zz.");
        ok("Escape closes and keeps the search", true);
        await keyboard.press("Enter");
        await goes("#/facts/zz.keys");
        const tabTo = async (name) => {
            for (let i = 0; i < 60; i++) {
                await keyboard.press("Tab");
                const text = await page.evaluate(() => document.activeElement.textContent);
                if (text === name) return;
            }
            fail(`Tab reaches ${name}`);
        };
        await sees("the fact", page, "Retract …", ".detail");
        await tabTo("Retract …");
        await keyboard.press("Enter");
        await page.waitForSelector("dialog[open]");
        await keyboard.type("by keyboard");
        await keyboard.press("Enter");
        await sees("it is retracted", page, "retracted: by keyboard", ".timeline");
        await page.waitForSelector("dialog[open]", { state: "detached" });
        await tabTo("Forget …");
        await keyboard.press("Enter");
        await sees("what will go is shown", page, "old", "dialog");
        await audit("the dialog of forgetting", page);
        await tabTo("Forget for good");
        await keyboard.press("Enter");
        await page.waitForFunction(() => !location.hash.includes("zz.keys"));
        await keyboard.press("?");
        await sees("the list of keys", page, "Move down and up", "dialog");
        await audit("the dialog of keys", page);
        await keyboard.press("Escape");
        await keyboard.press("g");
        await keyboard.press("y");
        await goes("#/system");
        await visit(page, "#/system/tokens");
        await sees("tokens", page, "token-file");
        await page.waitForFunction(() => document.activeElement === document.body);
        await keyboard.press("j");
        await page.waitForFunction(() => document.activeElement.closest(".card"));
        ok("j and k move in lists of cards", true);
    },

    async "conversations and what came of them"() {
        const page = await open();
        await logIn(page, daemon, "#/sessions");
        await page.click("text=planning");
        await sees(
            "a message led to a memory",
            page,
            "My sister Dora works at the harbour",
            ".led",
        );
        await daemon.call("fact.write", { key: "said.later", value: 1, session_id: "planning" });
        await page.click(".meanwhile summary");
        await sees(
            "what no message led to is apart",
            page,
            "said.later",
            '[aria-label="Written after it"]',
        );
        const led = page.locator('[aria-label="What it led to"]', { hasText: "said.later" });
        is("and not called a result", 0, await led.count());
        await page.click("text=Summary so far");
        await sees("its summary", page, "made from");
        await page.fill("[data-search]", "landlord");
        await page.click(".list >> text=landlord");
        await page.locator(".message.found").waitFor();
        ok("a message that was found is marked", true);
    },

    async "a long conversation after much else"() {
        const daemon = await startLarge();
        const user_id = "talk";
        const session_id = "long";
        const call = (operation, args) => daemon.call(operation, { user_id, ...args });
        // More events than event.list looks through per page.
        await fill(daemon, "fact.write", 11000, (i) => ({ user_id, key: `k${i % 50}`, value: i }));
        await call("session.open", { external_id: session_id });
        const say = (text) => ({ user_id, session_id, role: "user", text });
        await fill(daemon, "session.append", 300, (i) => say(`Remark number ${i}.`));
        await call("session.append", say("I moved to Voss last week."));
        const page = await open();
        await logIn(page, daemon, "#/sessions?user=talk&q=Voss");
        await page.click(".list >> text=I moved to Voss");
        const found = page.locator(".message.found");
        await found.waitFor();
        await sees("what a late message led to", page, "Lives in Voss", ".message.found .led");
        const isInSight = () =>
            found.evaluate((message) => {
                const { top, bottom } = message.getBoundingClientRect();
                return top >= 0 && bottom <= innerHeight;
            });
        ok("the message is in sight", await isInSight());
        const pane = page.locator(".pane-detail");
        await pane.evaluate((el) => (el.scrollTop = 0));
        await call("fact.write", { key: "late", value: 1, session_id });
        await page.locator('[aria-label="Written after it"]').waitFor({ state: "attached" });
        is("an event does not move the page", 0, await pane.evaluate((el) => el.scrollTop));
    },

    async "live events, another user, and keys"() {
        const page = await open();
        await logIn(page, daemon, "#/live");
        await page.locator(".badge.good >> text=live").waitFor();
        await daemon.call("fact.write", { key: "live.now", value: "yes" });
        await sees("an event comes by itself", page, "live.now = yes");
        await page.selectOption("select", "memory");
        await page.waitForFunction(
            () =>
                ![...document.querySelectorAll(".list li")].some((li) =>
                    li.textContent.includes("fact."),
                ),
        );
        await page.selectOption("select", "");
        await page.click("text=Pause");
        await daemon.call("fact.write", { key: "while.paused", value: 1 });
        await page.waitForTimeout(500);
        is("a pause stops them", 0, await page.locator(".list >> text=while.paused").count());
        await page.click("text=Resume");
        await sees("and then they continue", page, "while.paused", ".list");
        await page.fill("[data-search]", "while.pau");
        await page.waitForFunction(() => document.querySelectorAll(".list li").length === 1);
        ok("a text filters them", true);
        await daemon.call("fact.write", { key: "anna.only", value: 1, user_id: "anna" });
        await page.evaluate(() => document.activeElement.blur());
        await page.keyboard.press("u");
        await page.keyboard.type("ann");
        await page.waitForFunction(() => {
            const names = [...document.querySelectorAll("#users option")].map((o) => o.value);
            return names.length > 0 && names.every((name) => name.startsWith("ann"));
        });
        ok("users are suggested by what was typed", true);
        await page.keyboard.type("a");
        await page.keyboard.press("Enter");
        await page.waitForFunction(() => location.hash.includes("user=anna"));
        await sees("the events of anna", page, "anna.only");
        await page.locator("main").click({ position: { x: 3, y: 3 } });
        await page.keyboard.press("g");
        await page.keyboard.press("f");
        await page.waitForFunction(() => location.hash.startsWith("#/facts"));
        await sees("g f goes to the facts of anna", page, "anna.only", ".list");
        is("and to no others", 0, await page.locator(".list >> text=team.name").count());
        await page.keyboard.press("?");
        await sees("? shows the keys", page, "Move down and up", "dialog");
        await page.keyboard.press("Escape");
    },

    async "tokens and settings"() {
        const page = await open();
        await logIn(page, daemon, "#/system/tokens");
        await page.click("text=New token …");
        await page.fill("#name", "made here");
        await page.click("dialog button.primary");
        const made = await page.locator("dialog pre").innerText();
        ok("the token is shown once", /^loci_/.test(made));
        is("it may read", [], (await daemon.call("fact.list", { user_id: "nobody" }, made)).facts);
        await page.keyboard.press("Escape");
        await page.locator(".card", { hasText: "made here" }).locator("text=Revoke …").click();
        await page.click("dialog button.danger");
        await page.locator(".card", { hasText: "made here" }).locator("text=revoked").waitFor();
        await visit(page, "#/system/settings?q=call.timeout");
        await page.click("text=call.timeout_ms");
        await page.fill("#value", "20000");
        await page.click("dialog button.primary");
        await sees("the setting is saved", page, "20000", ".list");
        const motion = () =>
            page.locator(".note").last().evaluate((note) => getComputedStyle(note).animationName);
        is("nothing moves with reduced motion", "none", await motion());
        await page.emulateMedia({ reducedMotion: "no-preference" });
        is("and a note rises without", "rise", await motion());
        await page.emulateMedia({ reducedMotion: "reduce" });
        is(
            "and in force",
            20000,
            (await daemon.call("config.get", { name: "call.timeout_ms" })).value,
        );
        await page.click("text=call.timeout_ms");
        await page.click("text=Use the default");
        await sees("the default is back", page, "30000", ".list");
        await visit(page, "#/system/jobs?scope=store");
        const waiting = page.locator(".card", { hasText: "queued" });
        await waiting.locator("text=Cancel").first().click();
        await page.locator(".card", { hasText: "cancelled" }).first().waitFor();
        const { jobs } = await daemon.call("job.list", { scope: "store" });
        ok("a job is cancelled", jobs.some((job) => job.status === "cancelled"), jobs);
    },

    async "a token for reading, and one that expires"() {
        const reader = await daemon.call("token.create", { name: "r", scopes: ["read"] });
        const page = await open();
        page.allowed = [/40[13]/];
        await logIn(page, daemon, "#/facts/team.name", reader.token);
        await page.click("text=Retract …");
        await page.click("dialog button.danger");
        await sees("what it may not do is said", page, "does not have the scope");
        await daemon.call("token.revoke", { id: reader.id });
        await page.reload();
        const short = await daemon.call("token.create", {
            name: "s",
            scopes: ["read"],
            ttl_s: 600,
        });
        await page.fill("#token", short.token);
        await page.click("button[type=submit]");
        await sees("the other token works", page, "History");
        await daemon.call("token.revoke", { id: short.id });
        await page.click("nav >> text=Memories");
        await sees("a token that ended leads to the login", page, "no longer accepted");
        has("the address stays", "#/memories", page.url());
    },

    async "the daemon is started again"() {
        const page = await open();
        page.allowed = [/ERR_|Failed to load|50[34]/];
        const ids = [];
        page.on("request", (r) => {
            if (r.url().includes("stream=1")) ids.push(r.headers()["last-event-id"]);
        });
        await logIn(page, daemon, "#/live");
        await page.locator(".badge.good >> text=live").waitFor();
        const { listen, store } = daemon;
        await daemon.call("fact.write", { key: "before.restart", value: 1 });
        await sees("an event before it", page, "before.restart", ".list");
        const { head_seq: head } = await daemon.call("event.list", { limit: 1 });
        await daemon.stop();
        await sees("a daemon that is gone is reported", page, "does not answer", ".down");
        execFileSync(process.env.LOCI, ["fact", "write", "mid.restart", "1", "--store", store], {
            stdio: "ignore",
        });
        ids.length = 0;
        daemon = await start("main", listen);
        await page.locator(".down").waitFor({ state: "detached", timeout: 30000 });
        await page.locator(".badge.good >> text=live").waitFor({ timeout: 30000 });
        await daemon.call("fact.write", { key: "after.restart", value: 1 });
        await sees("the stream goes on", page, "after.restart");
        await sees("after what came meanwhile", page, "mid.restart", ".list");
        is("from the last event that was shown", String(head), ids[0]);
        const seqs = await page.locator(".event .seq").allInnerTexts();
        is("no event is shown twice", seqs.length, new Set(seqs).size);
    },

    async "only new events are changes"() {
        const by = { user_id: "calm" };
        for (const value of [1, 2, 3]) await daemon.call("fact.write", { ...by, key: "k", value });
        const page = await open();
        page.allowed = [/ERR_|Failed to load|50[34]/];
        const settle = async () => {
            await page.waitForTimeout(800); // Longer than a view waits after an event.
            await quiet(page);
        };
        const times = (operation) => page.operations.filter((name) => name === operation).length;
        await logIn(page, daemon, "#/live?user=calm");
        await sees("events of the past are shown", page, "k = 3", ".list");
        page.operations.length = 0;
        await visit(page, "#/facts/k?user=calm");
        await sees("a fact", page, "It replaced", ".why");
        await settle();
        is("a view is read once", [1, 1], [times("fact.list"), times("fact.history")]);
        is("and nothing is announced", 0, await page.locator(".stale").count());
        await page.reload();
        page.operations.length = 0;
        await logIn(page, daemon, "#/facts/k?user=calm");
        await sees("the same as the first view of a page", page, "It replaced", ".why");
        await settle();
        is("is read once", [1, 1], [times("fact.list"), times("fact.history")]);
        is("and announces nothing either", 0, await page.locator(".stale").count());
        await daemon.call("fact.write", { ...by, key: "k", value: "by another" });
        await sees("a new event is read", page, "by another", ".headline");
        await page.locator(".stale").waitFor();
        await page.click(".stale");
        await page.locator(".stale").waitFor({ state: "detached" });
        const { listen, store } = daemon;
        await daemon.stop();
        await page.locator(".down").waitFor();
        const args = ["fact", "write", "k", "meanwhile", "--user-id", "calm", "--store", store];
        execFileSync(process.env.LOCI, args, { stdio: "ignore" });
        page.operations.length = 0;
        daemon = await start("main", listen);
        await sees("what came meanwhile is shown", page, "meanwhile", ".headline");
        await page.locator(".badge.good >> text=live").waitFor();
        await settle();
        is("after one read", [1, 1], [times("fact.list"), times("fact.history")]);
        is("without a word about it", 0, await page.locator(".stale").count());
        await daemon.call("fact.write", { ...by, key: "k", value: "afterwards" });
        await sees("the stream goes on", page, "afterwards", ".headline");
        await page.locator(".stale").waitFor();
        await page.click(".detail >> text=Retract …");
        await page.click("dialog button.danger");
        await sees("the user's own change", page, "retracted without", ".timeline");
        await page.locator(".stale").waitFor({ state: "detached" });
        ok("is in the list at once", true);
    },

    async "hostile texts stay texts"() {
        const evil = (n) =>
            `<img src=x onerror=alert(${n})><script>alert(${n})</script>` +
            `"'>{{${n}}}\${alert(${n})}javascript:alert(${n})`;
        const user_id = evil(0);
        const by = { user_id };
        const call = (operation, args) => daemon.call(operation, { ...by, ...args });
        const first = await call("fact.write", {
            key: evil(1),
            value: evil(2),
            source: evil(3),
            scope: "global",
        });
        await call("fact.write", {
            key: evil(1),
            value: { [evil(4)]: evil(5) },
            source: evil(3),
            depends_on: [],
        });
        await call("fact.write", { key: evil(1), value: evil(6), trust: "web" });
        await call("fact.write", { key: "derived", value: evil(7), depends_on: [evil(1)] });
        await call("fact.retract", { key: "derived", reason: evil(8) });
        const memory = await call("memory.store", {
            text: `Ann likes ${evil(9)}`,
            metadata: { [evil(10)]: evil(11) },
        });
        await call("session.open", { external_id: evil(12) });
        await call("session.append", {
            session_id: evil(12),
            role: "user",
            speaker: evil(13),
            text: `I moved to ${evil(14)}.`,
        });
        await call("window.open", { context_max: 100000 });
        const resource = await call("resource.discover", {
            name: evil(15),
            text: evil(16),
            tags: [evil(19)],
        });
        await call("resource.annotate", { id: resource.id, text: evil(20) });
        await call("resource.page_in", { id: resource.id });
        const frame = await call("frame.push", { goal: evil(21), inputs: { [evil(22)]: 1 } });
        await call("frame.handle_add", { frame_id: frame.id, title: evil(23), text: evil(24) });
        await call("frame.handle_add", { frame_id: frame.id, ref: "javascript:alert(1)" });
        await call("frame.result_add", { frame_id: frame.id, title: evil(30), text: evil(31) });
        await call("frame.reserve", { frame_id: frame.id, tokens: 5, purpose: evil(32) });
        await call("frame.tool_begin", { frame_id: frame.id, call_id: "c", name: evil(33) });
        const child = await call("frame.push", { goal: evil(34), parent_id: frame.id });
        await call("frame.suspend", { id: child.id, reason: evil(39) });
        const scoped = await call("frame.push", { goal: evil(34), actor_id: evil(35) });
        await call("frame.suspend", { id: frame.id, reason: evil(25) });
        await call("memory.store", { text: `Lives in ${evil(36)}`, pinned: true });
        await call("memory.store", { text: `Lives in ${evil(37)}` });
        await call("resource.offline", { id: resource.id, problem: evil(38) });
        await call("resource.recover", { id: resource.id });
        await call("summary.make", { session_id: evil(12), kind: "rolling" }).catch(() => {});
        await call("memory.store", { text: "Zed <img src=x onerror=alert(29)> likes tea" });
        const { entities } = await call("entity.list", {});
        const path = `/memories/${evil(26).replaceAll("/", "")}.md`;
        await call("file.create", { path, file_text: evil(17) });
        await daemon.call("config.set", { name: "authority.titles", value: `${evil(27)}=manager` })
            .catch((e) => has("a title may be refused", "authority.titles", e.message));
        await daemon.call("config.set", { name: "model.chat_model", value: evil(28) });
        await daemon.call("token.create", { name: evil(18) });
        const page = await open();
        const user = encodeURIComponent(user_id);
        const name = encodeURIComponent(evil(1));
        await logIn(page, daemon, `#/overview?user=${user}`);
        for (const address of [
            "overview",
            "facts",
            `facts/${name}`,
            "facts/derived",
            "memories",
            `memories/${memory.id}`,
            "inbox",
            "sessions",
            `sessions/${encodeURIComponent(evil(12))}`,
            "live",
            `live/1`,
            "window",
            `window/${resource.id}`,
            "frames",
            `frames/${frame.id}`,
            "entities",
            ...entities.map((e) => `entities/${encodeURIComponent(e.ref)}`),
            `frames/${child.id}`,
            `frames/${scoped.id}`,
            `context?q=tea`,
            "system/tokens",
            "system/jobs",
            "system/settings",
            "system/health",
            `nothing/${name}`,
        ]) {
            await visit(page, `#/${address}${address.includes("?") ? "&" : "?"}user=${user}`);
            await quiet(page);
            is(
                `no element came of a text: ${address.slice(0, 20)}`,
                0,
                await page.locator("#app img, #app script").count(),
            );
        }
        const { head_seq: head } = await call("event.list", { limit: 1 });
        for (let seq = 1; seq <= head; seq++) {
            await visit(page, `#/live/${seq}?user=${user}`);
            await sees(`event ${seq}`, page, `Event ${seq}`, "dialog");
        }
        is("nor of an event", 0, await page.locator("#app img, #app script").count());
        await page.keyboard.press("Escape");
        await page.waitForFunction(() => location.hash.startsWith("#/live?"));
        await visit(page, `#/facts/${name}?user=${user}`);
        await sees("the text is shown as it is", page, evil(6));
        await visit(page, `#/live?user=${user}`);
        await sees("the path of a file as it is", page, path, ".list");
        await visit(page, `#/facts/${name}?user=${user}&persona=${user}`);
        await quiet(page);
        is("a persona is a text", 0, await page.locator("#app img, #app script").count());
        await visit(page, `#/window/${resource.id}?user=${user}`);
        await sees("an annotation as it is", page, evil(20), ".annotations");
        await sees("a URI as it is", page, `text:${evil(15)}`, ".detail h2");
        await page.click("text=/^Page in$/");
        await sees("a content as it is", page, evil(16), ".detail pre");
        await visit(page, `#/frames/${frame.id}?user=${user}`);
        await sees("a goal as it is", page, evil(21), ".detail h2");
        await sees("a title as it is", page, evil(23), ".items-table");
        await sees("a reason as it is", page, evil(25), ".suspended");
        await sees("a handle as it is", page, "alert(24)", ".pack pre");
        is("no script is a link", 0, await page.locator('a[href^="javascript"]').count());
        await visit(page, `#/memories?user=${user}&q=${encodeURIComponent(evil(9))}`);
        await sees("a hostile search is a search", page, "Ann likes");
        await visit(page, `#/context?user=${user}&q=${encodeURIComponent(evil(9))}`);
        await sees("and a hostile question a question", page, "In the text");
        ok("the first version exists", first.id.startsWith("fact_"));
        await daemon.call("config.set", { name: "model.chat_model", value: null });
        await daemon.call("config.set", { name: "authority.titles", value: null });
    },

    async "many rows"() {
        const daemon = await startLarge();
        const total = Number(process.env.ROWS || 100000);
        await fill(daemon, "fact.write", total, (i) => ({
            user_id: "many",
            key: `row.${String(i).padStart(6, "0")}`,
            value: `value ${i}`,
        }));
        const page = await open();
        await logIn(page, daemon, "#/facts?user=many");
        await sees("the first row", page, "row.000000");
        const list = page.locator(".list");
        const rows = () => list.evaluate((el) => Number(el.querySelector("li").ariaSetSize));
        for (let known = await rows(); known < 1000; known = await rows()) {
            await list.evaluate((el) => (el.scrollTop = el.scrollHeight));
            await page.waitForFunction(
                (n) => Number(document.querySelector(".list li").ariaSetSize) > n,
                known,
            );
        }
        await list.evaluate((el) => (el.scrollTop = el.scrollHeight));
        await sees("pages follow while scrolling", page, "row.000999", ".list");
        const drawn = await page.locator(".list li").count();
        ok(`only what can be seen is drawn: ${drawn}`, drawn < 60);
        const times = await keystrokes(page, "row.0987");
        const first = await page.locator(".list li").first().innerText();
        ok(`the search ends at its first row: ${first.slice(0, 10)}`, first.startsWith("row.0987"));
        has("the last of all rows is found", "row.099999", await lastRow(page));
        console.log(`keystroke to result: ${times.join(", ")} ms`);
    },

    async "many memories"() {
        const daemon = await startLarge();
        await fillMemories(daemon, "many", Number(process.env.MEMORIES || 2000));
        const page = await open();
        await logIn(page, daemon, "#/memories?user=many");
        await page.waitForSelector(".list li");
        const times = await keystrokes(page, "which is note 1234");
        const first = await page.locator(".list li").first().innerText();
        has("the best result is first", "note 1234", first);
        const missed = page.locator(".list li", { hasText: "near miss" });
        await missed.first().waitFor();
        const places = await missed.evaluateAll((all) => all.map((li) => li.ariaPosInSet));
        is("near misses follow the ten results", ["11", "12", "13", "14", "15"], places);
        console.log(`keystroke to result: ${times.join(", ")} ms`);
    },

    async "ten thousand frames"() {
        const daemon = await startLarge();
        const count = 10000;
        const user_id = "agent";
        const wide = await fillFrames(daemon, user_id, count);
        const page = await open();
        await logIn(page, daemon, "#/overview?user=agent");
        const { first, all } = await openFrames(page, "#/frames?user=agent", count);
        console.log(
            `${count} frames: first rows ${Math.round(first)} ms, all ${Math.round(all)} ms`,
        );
        const drawn = await page.locator(".list li").count();
        ok(`only what can be seen is drawn: ${drawn}`, drawn < 60);
        const rows = page.locator(".list li");
        has("the newest tree is first", "Small tree", await rows.first().innerText());
        await page.locator(".list").evaluate((el) => (el.scrollTop = el.scrollHeight));
        await sees("the oldest chain is last, and deep", page, "Chain 0, step 64", ".list");
        const deepest = await rows.last().innerText();
        has("a level that is not indented any more has a number", "64", deepest.split("\n")[0]);
        await page.keyboard.press("/");
        await page.keyboard.type("Wide child 2499");
        await page.waitForFunction(() => document.querySelectorAll(".list li").length === 1);
        await page.keyboard.press("Escape");
        await openFirst(page);
        await sees("a frame of a wide tree", page, "Wide child 2499", ".detail h2");
        await page.click(`.detail a[href*="${wide}"]`);
        await sees("leads to its root", page, "Wide root", ".detail h2");
        await sees("which knows its children", page, "2,500", ".detail .pairs");
        await daemon.call("frame.push", { user_id, goal: "A late frame" });
        await page.click(".stale");
        await page.waitForFunction(
            (n) => document.querySelector(".frame-count").textContent.startsWith(n),
            "10,001",
        );
    },
};

// Types the key of the last row; returns the rows that are then drawn.
async function lastRow(page) {
    await page.fill("[data-search]", "row.09999");
    await sees("ten rows are left", page, "row.099999", ".list");
    return page.locator(".list").innerText();
}

// Whether a promise is kept in time.
const within = (promise, ms) =>
    Promise.race([
        promise.then(
            () => true,
            () => false,
        ),
        new Promise((done) => setTimeout(done, ms, false)),
    ]);

/* On a busy machine Chromium was seen not to answer to this for half an hour: then another one goes
 * on, and the first ends with this program. */
async function closePages() {
    const closing = pages.splice(0).map((page) => page.context().close());
    if (!(await within(Promise.all(closing), 20000))) browser = await browse();
}

const only = process.argv[2];
for (const [name, run] of Object.entries(tests)) {
    if (only && !name.includes(only)) continue;
    const began = Date.now();
    const note = (error) =>
        fail(
            name,
            error.message.split("\n").slice(0, 4).join(" "),
            error.stack.split("\n").find((line) => line.includes("dashboard.mjs:")),
        );
    if (!(await within(run().catch(note), TEST_MS))) {
        // Playwright waits without an end for a Chromium that does not answer.
        fail(name, `neither ended nor failed within ${TEST_MS / 1000} s`);
        break;
    }
    await closePages();
    if (process.env.VERBOSE) console.log(`${name}: ${Date.now() - began} ms`);
}
await within(browser.close(), 20000);
await daemon.stop();
await large?.stop();
await finish();
