// If this file fails, docs/explanation/request.md lists other files than those that a list request runs through.
import { readFile } from "node:fs/promises";
import { Session } from "node:inspector/promises";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { service } from "../support/service.ts";

const db = database();
const svc = service(db, undefined, { production: true } as object);

/** @returns the files of src/ whose functions run between the request and the statement that waits for the table */
async function filesUntil(table: string, call: () => Promise<unknown>): Promise<Set<string>> {
  const blocker = await db.connect("admin");
  try {
    await blocker.query(`begin; lock table ${table} in access exclusive mode`);
    let answer: Promise<unknown> | undefined;
    const files = await filesDuring(async () => {
      answer = call();
      const waiting = () => db.sql("select from pg_locks where not granted and relation = $1::regclass", [table]);
      await expect.poll(waiting).toHaveLength(1);
    });
    await blocker.query("rollback");
    await answer;
    return files;
  } finally {
    await blocker.end();
  }
}

/** @returns the files of src/ whose functions run meanwhile */
async function filesDuring(run: () => Promise<unknown>): Promise<Set<string>> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true });
    await run();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const files = result
      .filter(({ functions }) => functions.some(({ ranges }) => ranges[0]?.count))
      .map(({ url }) => relative(root, url.startsWith("file:") ? fileURLToPath(url) : url));
    return new Set(files.filter((file) => file.startsWith("src/")));
  } finally {
    session.disconnect();
  }
}

test("a list request runs through the files that the page lists", async () => {
  const ann = await svc.signUp("ann");
  const list = async () => expect((await svc.query(ann, "articles.list")).status).toBe(200);
  for (let again = 0; again < 3; again++) await list();
  const page = await readFile(join(root, "docs/explanation/request.md"), "utf8");
  const [, section = ""] = page.split("\n## Its files\n");
  const listed = [...(section.split("\n## ")[0] ?? "").matchAll(/`(src\/[^`]+)`/g)].map(([, file = ""]) => file);
  // Timers run beside the request: the heartbeat of revocations each 400 ms.
  const beside = await filesDuring(() => sleep(2_000));
  let files = [...(await filesUntil("articles", list))].filter((file) => listed.includes(file) || !beside.has(file));
  for (let again = 0; again < 30 && files.length !== listed.length; again++) {
    const those = await filesUntil("articles", list);
    files = files.filter((file) => those.has(file));
  }
  expect(files.sort()).toEqual(listed.sort());
  expect(files.length).toBeLessThanOrEqual(16);
});
