/**
 * The starter's Next template as a stranger gets it: packed, installed, type-checked, built by Next and visited. Installing
 * and building take a minute, so CI leaves it out: `npm run starters`.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chromiumPath, whySkipped } from "../browser/desk-app.ts";
import { visitNotes } from "../browser/visit-notes.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database("template1");
const isAsked = process.env.STARTERS !== undefined;
const registry = "https://registry.npmjs.org/next";
const isReachable =
  isAsked &&
  (await fetch(registry, { method: "HEAD" }).then(
    ({ ok }) => ok,
    () => false,
  ));
const why = !isAsked ? "not asked for: npm run starters" : `${registry} cannot be reached`;

let folder: string;
let [page, service] = [0, 0];
const app = () => join(folder, "my-app");
const running: ChildProcess[] = [];
const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_ENV: undefined,
  NEXT_TELEMETRY_DISABLED: "1",
  DATABASE_URL: db.url("request"),
  DATABASE_SYSTEM_URL: db.url("system"),
  DATABASE_AUTH_URL: db.url("auth"),
  DATABASE_ADMIN_URL: db.url("admin"),
  DATABASE_REPLICATION_URL: db.url("replication"),
});
const npm = (script: string, env: NodeJS.ProcessEnv = {}) =>
  promisify(execFile)("npm", ["run", "--silent", script], { cwd: app(), env: { ...environment(), ...env } });

if (!isReachable) test.skip(`the Next template: ${why}`);

beforeAll(async () => {
  if (!isReachable) return;
  folder = await mkdtemp(join(tmpdir(), "svc-next-"));
  [page, service] = [await freePort(), await freePort()];
  const packages = join(folder, "packages");
  await promisify(execFile)(process.execPath, [join(root, "scripts/pack.ts"), packages]);
  const words = ["init", app(), "--template", "next", "--packages", packages];
  await promisify(execFile)(process.execPath, [join(root, "src/cli/svc.ts"), ...words]);
  const file = join(app(), "svc.config.ts");
  await writeFile(file, (await readFile(file, "utf8")).replace("localhost:3000", `localhost:${page}`));
}, 600_000);
afterAll(async () => {
  if (folder) await rm(folder, { recursive: true, force: true });
});

test.runIf(isReachable)(
  "type-checks, and is built",
  async () => {
    await npm("typecheck");
    await npm("build", { SVC_URL: `http://localhost:${service}` });
  },
  300_000,
);

test.runIf(isReachable)("is rendered, and asks the service behind Next's server", async () => {
  await npm("migrate");
  try {
    await Promise.all([serve("start:api", service, "Ready: "), serve("start", page, "Ready in")]);
    const url = `http://localhost:${page}`;
    expect(await (await fetch(url)).text()).toMatch(/<h1>Notes<\/h1>[\s\S]*Sign up/);
    expect(
      (await fetch(`${url}/api/query`, { method: "POST", body: "{}" })).headers.get("x-request-id"),
    ).not.toBeNull();
    await visit(url);
  } finally {
    await stop();
  }
});

test.runIf(isReachable)("is developed with svc dev", async () => {
  try {
    await serve("dev", service, "Ready: ");
    await visit(`http://localhost:${page}`);
  } finally {
    await stop();
  }
});

async function visit(url: string): Promise<void> {
  if (!chromiumPath) return console.warn(`The page was not visited: ${whySkipped}`);
  await db.sql(`delete from auth."user"`);
  await visitNotes(url);
}

/** Runs a script until `stop`. Resolves when it is ready. */
async function serve(script: string, port: number, ready: string): Promise<void> {
  const env = { ...environment(), PORT: String(port), ...(script === "start" && { NODE_ENV: "production" }) };
  const child = spawn("npm", ["run", script], { cwd: app(), env: env as NodeJS.ProcessEnv, detached: true });
  running.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  await expect.poll(() => output).toContain(ready);
}

async function stop(): Promise<void> {
  for (const child of running.splice(0)) {
    const ended = new Promise((resolve) => child.once("close", resolve));
    process.kill(-(child.pid ?? 0), "SIGTERM");
    await ended;
  }
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
