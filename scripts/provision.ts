/**
 * The part of scripts/setup that prepares PostgreSQL and pgvector, and the last one: it writes the stamp by which the
 * next set-up sees that nothing is left to do. Next hop: `provision` in src/cluster/open-cluster.ts.
 *
 * Arguments: the stamp's path, its first line, and what progress lines begin with.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ClusterError, provision } from "../src/cluster/open-cluster.ts";

const [stamp = "node_modules/.svc-setup", key = "", mark = "svc"] = process.argv.slice(2);
const say = (line: string) => console.log(`${mark}  ${line}`);

try {
  rmSync(stamp, { force: true });
  const tree = await provision({ directory: ".svc", report: say });
  if (tree === null) {
    say("ready, with the server that DATABASE_URL names (it is checked when svc starts)");
    writeFileSync(stamp, `${key}\n`);
  } else if (tree.vector) {
    say(`ready. ${tree.reason} It has pgvector ${tree.vector}.`);
    writeFileSync(stamp, `${[key, join(tree.binDir, "postgres"), ...tree.requires].join("\n")}\n`);
  } else {
    // No stamp: pgvector is looked for again next time. Everything else works without it.
    say(`ready. ${tree.reason}`);
    say(tree.vectorNote ?? "");
  }
} catch (error) {
  console.error(`${mark}  ${error instanceof ClusterError ? error.message : (error as Error).stack}`);
  process.exitCode = 1;
}
