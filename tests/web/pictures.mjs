// pictures.mjs DIR - pictures of the dashboard for README and docs (tools/pictures).
import { join } from "node:path";
import { browse, logIn, seed, start } from "./daemon.mjs";

const folder = process.argv[2];
const daemon = await start("pictures");
await seed(daemon);
const browser = await browse();
const context = await browser.newContext({ viewport: { width: 1200, height: 720 } });
const page = await context.newPage();
await logIn(page, daemon);
const { frames } = await daemon.call("frame.list", {});
const cause = frames.find((frame) => frame.goal.startsWith("Find the cause"));
const shots = [
    ["facts", "#/facts/office.city", ".timeline"],
    ["memories", "#/memories?q=who%20drinks%20tea", ".list li .score"],
    ["window", "#/window", ".node"],
    ["frames", `#/frames/${cause.id}`, ".pack pre"],
    ["context", "#/context?q=Where%20is%20the%20office%3F&budget=90&budget2=400", ".items-table a"],
];
for (const [name, address, selector] of shots) {
    // A taller picture has the timeline of the fact, too.
    await page.setViewportSize({ width: 1200, height: name === "facts" ? 960 : 720 });
    await page.evaluate((hash) => {
        location.hash = hash;
    }, address);
    await page.locator(selector).first().waitFor();
    if (name === "memories") {
        await page.keyboard.press("j");
        await page.keyboard.press("Enter");
        await page.locator(".score-table").waitFor();
    }
    // Without the details of the current version there is room for those before.
    if (name === "facts") await page.click(".version.valid summary");
    await page.mouse.move(0, 700);
    await page.waitForTimeout(500); // Until names behind ids are read.
    await page.screenshot({ path: join(folder, `dashboard-${name}.png`) });
}
await browser.close();
await daemon.stop();
