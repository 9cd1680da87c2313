// Opens benchlab's reports in Chromium and looks at them as a reader would.
// Screenshots and a print lie in $OUT afterwards, if it is set.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { crowded, faint, undrawn } from "./looks.mjs";
import { hostile, makeReports } from "./reports.mjs";

let folder, reports, browser;

before(async () => {
  folder = process.env.OUT ?? (await mkdtemp(join(tmpdir(), "reports-")));
  await mkdir(folder, { recursive: true });
  reports = await makeReports(folder);
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, timeout: 120_000 });
});

after(async () => {
  await browser?.close();
  if (folder && !process.env.OUT) {
    await rm(folder, { recursive: true });
  }
});

// open shows a report, waits until all charts are drawn and calls look. It fails
// on whatever the browser complains of and on every attempt to load something.
async function open(file, { width = 1280, colorScheme = "light" }, look) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, offline: true });
  context.setDefaultTimeout(60_000);
  try {
    const page = await context.newPage();
    const complaints = [];
    const url = pathToFileURL(file).href;
    page.on("console", (m) => complaints.push(`console ${m.type()}: ${m.text()}`));
    page.on("pageerror", (e) => complaints.push(`error: ${e.stack}`));
    page.on("dialog", (d) => { complaints.push(`dialog: ${d.message()}`); d.dismiss(); });
    page.on("request", (r) => {
      if (r.url().split("#")[0] !== url && !r.url().startsWith("data:")) {
        complaints.push(`request: ${r.url()}`);
      }
    });
    await page.goto(url);
    await page.waitForFunction(() => [...document.querySelectorAll("[data-chart]")].every((p) => p.querySelector("svg")));
    await look(page);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

for (const report of ["comparison", "sweep", "hostile"]) {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      test(`${report}, ${colorScheme}, ${width} px wide, reads well`, async () => {
        await open(reports[report], { width, colorScheme }, async (page) => {
          await page.screenshot({ path: join(folder, `${report}-${colorScheme}-${width}.png`), fullPage: true });
          assert.deepEqual(await page.evaluate(undrawn), []);
          assert.deepEqual(await page.evaluate(crowded), []);
          assert.deepEqual(await page.evaluate(faint), []);
        });
      });
    }
  }
}

test("a comparison has all its sections, and contenders keep their order", async () => {
  await open(reports.comparison, {}, async (page) => {
    const sections = await page.$$eval("main > section", (all) => all.map((s) => s.id));
    assert.deepEqual(sections.filter((s) => s !== "capacity"), ["figures", "differences", "latency", "load", "misses", "electricity", "failures",
      "decisions", "timing", "traffic", "statistics", "origin"]);
    const links = await page.$$eval("nav a", (all) => all.map((a) => a.getAttribute("href").slice(1)));
    assert.deepEqual(links, sections);
    const names = ["round-robin", "least-busy", "sticky", "cacheroute+sticky+joule"];
    assert.deepEqual(await page.$$eval(".legend li span", (all) => all.map((s) => s.firstChild.textContent.trim())), names);
    assert.deepEqual(await page.$$eval("#figures table:first-of-type tbody th", (all) => all.map((t) => t.textContent)).then((all) => all.slice(0, 4)), names);
    assert.match(await page.textContent("#timing h2"), /not reproducible/);
    assert.match(await page.textContent("#origin pre"), /compare .*--strategy round-robin/);
    assert.match(await page.textContent("#origin table"), /[0-9a-f]{64}/);
  });
});

test("a report made later from the JSON is the same page", async () => {
  assert.equal(await readFile(reports.again, "utf8"), await readFile(reports.comparison, "utf8"));
});

test("names stay text", async () => {
  await open(reports.hostile, {}, async (page) => {
    assert.match(await page.title(), /<\/script>/);
    const names = await page.$$eval(".legend li span", (all) => all.map((s) => s.firstChild.textContent.trim()));
    assert.deepEqual(names, hostile);
    assert.equal(await page.$("main img"), null);
  });
});

test("a click on a head sorts, a second one turns it round", async () => {
  await open(reports.comparison, {}, async (page) => {
    const column = () => page.$$eval("#figures table:first-of-type", ([t]) => [...t.tBodies[0].rows].map((r) => parseFloat(r.cells[1].dataset.sort)));
    const sorted = (await column()).sort((a, b) => a - b);
    const head = page.locator("#figures table").first().locator("thead tr").last().locator("button").first();
    await head.click();
    assert.deepEqual(await column(), sorted);
    await head.press("Enter");
    assert.deepEqual(await column(), sorted.reverse());
  });
});

test("on paper it is dark on white, also from a dark screen", async () => {
  await open(reports.comparison, { colorScheme: "dark" }, async (page) => {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    assert.deepEqual(await page.evaluate(faint), []);
    const pdf = await page.pdf({ path: join(folder, "comparison.pdf"), format: "A4" });
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  });
});
