// large.mjs - users with much in their store, and how long the dashboard takes to show it. The
// test of the dashboard uses it with few rows, bench/dashboard.mjs with many.
import { readFileSync } from "node:fs";

/* ---- Filling ------------------------------------------------------------- */

const BATCH = 100; // The most that a daemon takes.
const LANES = 4; // Batches at a time: the writer commits several of them together.

async function batch({ url, token }, op, list) {
    const answer = await fetch(`${url}/v1/batch`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}` },
        body: JSON.stringify({ calls: list.map((args) => ({ op, args })) }),
    });
    const body = await answer.json();
    const problem = answer.ok ? body.answers.find((one) => one.code) : body;
    if (problem) throw new Error(`${op}: ${problem.detail}`);
    return body.answers;
}

// fill(daemon, operation, count, make) - `count` calls with the arguments make(0), make(1) …;
// returns their answers in this order.
export async function fill(daemon, operation, count, make) {
    const answers = new Array(count);
    let next = 0;
    const lane = async () => {
        while (next < count) {
            const at = next;
            next += BATCH;
            const size = Math.min(BATCH, count - at);
            const list = Array.from({ length: size }, (_, i) => make(at + i));
            const found = await batch(daemon, operation, list);
            for (let i = 0; i < size; i++) answers[at + i] = found[i];
        }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return answers;
}

const words = (text) => text.split(" ");
const people = words("Ann Bob Carla Dora Emil Frida Gustav Hanna Ivan Julia Karl Lena Marta Nils");
const verbs = words("likes bought repaired painted sold dislikes described ordered lost found");
const looks = words("green old wooden small broken blue heavy quiet new round");
const things = words("tea bicycle garden boat lamp table piano contract invoice bridge ladder");
const places = words("Oslo Bergen Leeds York Hamburg Voss Paris Lyon Turin Cadiz");

// No two are equal, and all words are common: each search has many candidates.
export function sentence(i) {
    const of = (list, divisor) => list[Math.floor((i * 7919) / divisor) % list.length];
    return (
        `${of(people, 1)} ${of(verbs, 3)} the ${of(looks, 5)} ${of(things, 7)} ` +
        `in ${of(places, 11)}, note ${i}`
    );
}

export const fillMemories = (daemon, user_id, count) =>
    fill(daemon, "memory.store", count, (i) => ({ user_id, text: sentence(i) }));

const DEEPEST = 64;

// Half of the frames are in chains as deep as a frame may be, a fourth are the children of one
// root, and the others are small trees. Returns the id of that root.
export async function fillFrames(daemon, user_id, count) {
    const push = (list) =>
        fill(daemon, "frame.push", list.length, (i) => ({ user_id, ...list[i] }));
    const chains = Math.ceil(count / 2 / (DEEPEST + 1));
    let parents = new Array(chains).fill(undefined);
    for (let level = 0; level <= DEEPEST; level++) {
        const goals = parents.map((parent_id, i) => ({
            goal: `Chain ${i}, step ${level}`,
            budget: 1000000 - level,
            ...(parent_id && { parent_id }),
        }));
        parents = (await push(goals)).map((frame) => frame.id);
    }
    const [wide] = await push([{ goal: "Wide root", budget: 1000000 }]);
    await push(
        Array.from({ length: Math.floor(count / 4) }, (_, i) => ({
            goal: `Wide child ${i}`,
            budget: 10,
            parent_id: wide.id,
        })),
    );
    const left = count - chains * (DEEPEST + 1) - 1 - Math.floor(count / 4);
    const roots = await push(
        Array.from({ length: Math.ceil(left / 5) }, (_, i) => ({
            goal: `Small tree ${i}`,
            budget: 1000,
        })),
    );
    await push(
        Array.from({ length: left - roots.length }, (_, i) => ({
            goal: `Leaf ${i}`,
            budget: 10,
            parent_id: roots[i % roots.length].id,
        })),
    );
    return wide.id;
}

/* ---- Measuring ----------------------------------------------------------- */

// CPU time of a process in milliseconds, all threads, in steps of 10 ms.
export function cpuOf(pid) {
    const [, rest] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
    const fields = rest.split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
}

export function percentile(list, percent) {
    const sorted = list.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.ceil((sorted.length * percent) / 100) - 1)];
}

// Types a text into the search, each key `pause` ms after the result of the one before; returns the
// milliseconds from each keystroke until the frame with its result was drawn.
export async function keystrokes(page, text, pause = 0) {
    return page.evaluate(async ([typed, pauseMs]) => {
        const input = document.querySelector("[data-search]");
        const list = document.querySelector(".list ul");
        const times = [];
        for (let i = 1; i <= typed.length; i++) {
            if (typed[i - 1] === " ") continue; // The query is the same without it.
            const began = performance.now();
            const done = new Promise((found) => {
                let wasBusy = false;
                const observer = new MutationObserver(() => {
                    const isBusy = list.getAttribute("aria-busy") === "true";
                    if (wasBusy && !isBusy) {
                        observer.disconnect();
                        requestAnimationFrame(() => {
                            const { port1, port2 } = new MessageChannel();
                            port1.onmessage = () => found(performance.now() - began);
                            port2.postMessage(0);
                        });
                    }
                    wasBusy ||= isBusy;
                });
                observer.observe(list, { attributes: true });
            });
            input.value = typed.slice(0, i);
            input.dispatchEvent(new InputEvent("input", { bubbles: true }));
            times.push(Math.round((await done) * 10) / 10);
            if (pauseMs) await new Promise((rested) => setTimeout(rested, pauseMs));
        }
        return times;
    }, [text, pause]);
}

// CPU time of the page's main thread so far, in milliseconds.
export async function mainThread(page) {
    page.cdp ??= await page.context().newCDPSession(page);
    await page.cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    const { metrics } = await page.cdp.send("Performance.getMetrics");
    return metrics.find((metric) => metric.name === "TaskDuration").value * 1000;
}

// CPU time of the main thread from an empty page until the login can be used, in milliseconds.
export async function loadOnce(page, url) {
    await page.goto("about:blank");
    const before = await mainThread(page);
    await page.goto(url);
    await page.waitForSelector("#token");
    const after = await mainThread(page);
    // Another process has its own clock, which begins at zero.
    return after >= before ? after - before : after;
}

// Visits the frames; returns the milliseconds until the first rows and until `count` frames are
// there, and the longest task in between.
export async function openFrames(page, address, count) {
    return page.evaluate(
        async ([hash, wanted]) => {
            let longestTask = 0;
            const tasks = new PerformanceObserver((list) => {
                for (const task of list.getEntries())
                    longestTask = Math.max(longestTask, task.duration);
            });
            tasks.observe({ type: "longtask" });
            const began = performance.now();
            location.hash = hash;
            const until = async (isThere) => {
                while (!isThere()) await new Promise(requestAnimationFrame);
                return performance.now() - began;
            };
            const title = document.querySelector("h1");
            await until(() => title.textContent === "Frames");
            const first = await until(() => document.querySelector(".list li"));
            const all = await until(() => {
                const text = document.querySelector(".frame-count")?.textContent ?? "";
                const list = document.querySelector(".list ul");
                return (
                    text.replace(/\D/g, "") === String(wanted) &&
                    list.getAttribute("aria-busy") === "false"
                );
            });
            await new Promise((done) => setTimeout(done)); // Until the observer was told.
            tasks.disconnect();
            return { first, all, longestTask };
        },
        [address, count],
    );
}
