// Makes the reports that the test opens, with benchlab as a user would.
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const benchlab = resolve(process.env.BENCHLAB ?? fileURLToPath(new URL("../../bin/benchlab", import.meta.url)));
const bench = (...args) => run(benchlab, args, { timeout: 240_000, maxBuffer: 1 << 26 });

// Names that would end a script, an attribute or a style sheet, and long ones.
export const hostile = [
  "</script><script>document.title='owned'</script>",
  `"><img src=x onerror="document.title='owned'">`,
  "<!--<script>",
  `./plugins/${"a-very-long-name-".repeat(8)}+sticky`,
];

// makeReports returns the files by what they show.
export async function makeReports(folder) {
  const at = (name) => join(folder, name);
  const traffic = ["--requests", "400", "--workers", "4"];
  await bench("compare", ...traffic, "--fault", "crash:w1@20s+20s", "--strategy", "round-robin", "--strategy", "least-busy", "--strategy", "sticky",
    "--strategy", "cacheroute+sticky+joule", "--json", at("comparison.json"), "--html", at("comparison.html"));
  await bench("report", "--html", at("again.html"), at("comparison.json"));
  await bench("sweep", ...traffic, "--seeds", "1", "--over", "load", "--capacity", "--strategy", "round-robin", "--strategy", "sticky", "--html", at("sweep.html"));

  const result = JSON.parse(await readFile(at("comparison.json"), "utf8"));
  result.contenders.forEach((c, i) => { c.name = hostile[i]; });
  result.setup.trace.name = hostile[0];
  result.setup.trace.notes = hostile;
  result.command = hostile;
  await writeFile(at("hostile.json"), JSON.stringify(result));
  await bench("report", "--html", at("hostile.html"), at("hostile.json"));
  return { comparison: at("comparison.html"), again: at("again.html"), sweep: at("sweep.html"), hostile: at("hostile.html") };
}
