// daemon.mjs - a daemon to look at, a browser to look with, and something to see. LOCI names the
// program, TMP a folder for stores, MCP_NPM the folder with the npm packages.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const require = createRequire(join(process.env.MCP_NPM, "package.json"));

/* ---- The daemon ---------------------------------------------------------- */

// start(name, listen, settings) - `listen` with a port starts it again at the same address;
// `settings` are variables of its environment.
export async function start(name, listen = "127.0.0.1:0", settings = {}) {
    const folder = process.env.TMP;
    const tokenFile = join(folder, `${name}.token`);
    const child = spawn(
        process.env.LOCI,
        [
            "serve",
            "--store",
            join(folder, `${name}.db`),
            "--listen",
            listen,
            "--socket",
            join(folder, `${name}.sock`),
            "--token-file",
            tokenFile,
            "--json",
        ],
        { stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, ...settings } },
    );
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    const url = JSON.parse(line).address;
    const token = readFileSync(tokenFile, "utf8").trim();
    const call = async (operation, args = {}, bearer = token) => {
        const answer = await fetch(`${url}/v1/call/${operation}`, {
            method: "POST",
            headers: { Authorization: `Bearer ${bearer}`, "Loci-Client": "seed/1.0" },
            body: JSON.stringify(args),
        });
        const body = await answer.json();
        if (!answer.ok) throw new Error(`${operation}: ${body.detail}`);
        return body;
    };
    const stop = async () => {
        child.kill("SIGTERM");
        await once(child, "exit");
    };
    return {
        url,
        token,
        call,
        stop,
        pid: child.pid,
        listen: new URL(url).host,
        store: join(folder, `${name}.db`),
    };
}

/* ---- The browser --------------------------------------------------------- */

export async function browse() {
    const { chromium } = require("playwright-core");
    const profile = mkdtempSync(join(process.env.TMP, "profile-"));
    return chromium.launch({
        executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
        args: [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            `--disk-cache-dir=${profile}`,
        ],
    });
}

export async function logIn(page, daemon, address = "#/overview", token = daemon.token) {
    await page.goto(`${daemon.url}/${address}`);
    await page.fill("#token", token);
    await page.click("button[type=submit]");
    await page.waitForSelector(".frame");
}

/* ---- Something to see ---------------------------------------------------- */

export async function seed({ call }) {
    const day = (n) => new Date(Date.UTC(2026, 5, n, 9)).toISOString();
    const fact = (key, value, more = {}) => call("fact.write", { key, value, ...more });
    await fact("office.city", "Oslo", {
        source: "user",
        authority: "employee",
        observed_at: day(1),
    });
    await fact("office.city", "Bergen", {
        source: "hr_system",
        authority: "manager",
        observed_at: day(9),
    });
    const city = await fact("office.city", "Trondheim", {
        source: "board",
        authority: "executive",
        observed_at: day(17),
    });
    await fact("office.city", "Paris", { source: "news site", trust: "web" });
    const from = (sources) => ({ source: "hr_system", depends_on: sources.map((s) => s.id) });
    const zone = await fact("office.timezone", "Europe/Oslo", from([city]));
    const hours = await fact("office.hours", "08:00 to 16:00", { source: "hr_system" });
    await fact("support.hours", "07:00 to 15:00 UTC", from([zone, hours]));
    await fact("travel.airport", "TRD", from([city]));
    const price = await fact("price.unit", 100, { source: "erp", observed_at: day(2) });
    await fact("price.total", 300, { source: "erp", depends_on: [price.id], observed_at: day(2) });
    await fact("price.unit", 120, { source: "erp", observed_at: day(11) });
    await fact(
        "budget.travel",
        { amount: 12000, currency: "EUR" },
        { source: "finance", is_constraint: true, constraint_type: "budget" },
    );
    await fact("meeting.day", "Tuesday", { source: "user" });
    await call("fact.retract", { key: "meeting.day", reason: "the meeting was cancelled" });
    await fact("team.name", "Orion", { source: "user" });
    await fact("team.lead", "Ann Berg", { source: "user" });
    for (const text of [
        "Ann likes green tea",
        "Ann is allergic to peanuts",
        "Bob lives in Leeds",
        "Bob moved from Leeds to York last spring",
        "The importer is written in Go",
        "The release of the importer is planned for October",
        "I prefer short answers",
        "Carla manages the warehouse in Hamburg",
        "The user walks to work when it does not rain",
    ])
        await call("memory.store", { text });
    const peanuts = await call("memory.recall", { query: "peanuts", limit: 1 });
    await call("memory.pin", { id: peanuts.results[0].id });
    await call("session.open", { external_id: "planning" });
    const said = [
        ["user", "Good morning. I moved to Voss last week."],
        ["assistant", "Noted. Shall I change your address?"],
        ["user", "Yes please. My sister Dora works at the harbour."],
        ["user", "Remind me to call the landlord on Friday."],
    ];
    for (const [role, text] of said)
        await call("session.append", { session_id: "planning", role, text });
    await call("summary.make", { session_id: "planning", kind: "rolling" }).catch(() => {});
    await seedWindow(call);
    await seedFrames(call);
}

async function seedWindow(call) {
    await call("window.open", { context_max: 1200, reserve_output: 200 });
    const texts = [
        ["rules.md", "config", "Deploy on Tuesdays only. Ask Ann before a migration. ", 4, "full"],
        ["plan.md", "document", "Ship the importer, then the dashboard. ", 12, "full"],
        ["importer.go", "code", "func main() { rows := read(); write(rows) } ", 24, "full"],
        ["notes.md", "daily", "Met Bob about the warehouse in Hamburg. ", 30, "summary"],
        ["old-plan.md", "document", "Rewrite everything in one week. ", 40, "out"],
        ["minutes.md", "daily", "Nine people, no decision. ", 50, "out"],
        ["archive.md", "document", "Invoices of last year. ", 60, ""],
        ["gone.md", "other", "A text that cannot be read. ", 3, "offline"],
    ];
    for (const [name, kind, text, times, mode] of texts) {
        const id = `text:${name}`;
        const tags = name === "rules.md" ? ["protected"] : [];
        await call("resource.discover", { name, kind, text: text.repeat(times), tags });
        if (mode === "full" || mode === "summary") await call("resource.page_in", { id, mode });
        if (mode === "out") {
            await call("resource.page_in", { id, mode: "summary" });
            await call("resource.page_out", { id });
        }
        if (mode === "offline") await call("resource.offline", { id, problem: "disk unplugged" });
    }
    await call("resource.attention", { id: "text:importer.go", attention: 3 });
    await call("resource.annotate", { id: "text:plan.md", text: "Ann wants the dashboard first" });
    for (const [id, to, label] of [
        ["text:plan.md", "text:rules.md", "follows"],
        ["text:plan.md", "text:old-plan.md", "replaces"],
        ["text:importer.go", "text:plan.md", "implements"],
    ])
        await call("resource.link", { id, to, label });
}

async function seedFrames(call) {
    const push = async (goal, budget, parent_id) =>
        (
            await call("frame.push", {
                goal,
                budget,
                actor_id: "planner",
                ...(parent_id && { parent_id }),
            })
        ).id;
    const root = await push("Release the importer", 20000);
    const cause = await push("Find the cause of the timeout", 8000, root);
    const logs = await push("Read the logs of the pool", 2000, cause);
    const notes = await push("Write the release notes", 3000, root);
    await call("frame.use", { frame_id: root, tokens: 2500 });
    await call("frame.use", { frame_id: cause, tokens: 1800 });
    await call("frame.reserve", { frame_id: cause, tokens: 1200, purpose: "a load test" });
    for (const [title, text, priority] of [
        ["Size of the pool", "The pool has 10 connections and 40 clients. ", "critical"],
        ["Log of Monday", "09:14 timeout while waiting for a connection. ", "medium"],
        ["Chat about lunch", "Pizza or soup? ", "background"],
    ])
        await call("frame.handle_add", {
            frame_id: cause,
            title,
            priority,
            text: text.repeat(priority === "critical" ? 1 : 30),
        });
    await call("frame.result_add", {
        frame_id: cause,
        title: "First finding",
        text: "Clients keep connections while they sleep.",
    });
    await call("frame.use", { frame_id: logs, tokens: 2600 });
    await call("frame.suspend", { id: notes, reason: "waits for the approval of Ann" });
}
