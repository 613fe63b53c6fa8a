// If this file fails, `svc dev` does not serve what the author has saved, or cannot be ended.
import type { ChildProcess } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { watchApplication } from "../../src/cli/watch.ts";
import { type Command, svc as start } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database("template1");
let folder: string;
const running: ChildProcess[] = [];

beforeAll(async () => {
  // Inside the project, where @svc/core resolves.
  await mkdir(join(root, ".svc"), { recursive: true });
  folder = await mkdtemp(join(root, ".svc/dev-"));
  const keep = (path: string) => !path.includes("/.svc/postgres") && !path.includes("node_modules");
  await cp(join(root, "tests/fixture"), folder, { recursive: true, filter: keep });
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function svc(args: string[], env: NodeJS.ProcessEnv = {}): Command {
  const command = start(db, folder, args, env);
  running.push(command.child);
  return command;
}

const urls = (command: Command) => [...command.output().matchAll(/Ready: (\S+)/g)].map(([, url]) => url);

async function ready(command: Command, count = 1): Promise<string> {
  await expect.poll(() => urls(command).length || command.output(), { timeout: 80_000 }).toBe(count);
  return urls(command)[count - 1] ?? "";
}

test("dev ends when the command beside it ends, and says how that ended", async () => {
  const failing = svc(["dev", "--with", "echo the port is taken >&2; exit 3"]);
  expect((await failing.ended).code, failing.output()).toBe(1);
  expect(failing.output()).toContain('" has ended with exit code 3, so svc dev ends too.');

  const killed = svc(["dev", "--with", "kill -9 $$"]);
  expect((await killed.ended).code, killed.output()).toBe(1);
  expect(killed.output()).toContain("was ended by SIGKILL");
}, 120_000);

test.each(["SIGINT", "SIGTERM"] as const)(
  "dev ends with the command beside it on %s",
  async (signal) => {
    const command = svc(["dev", "--with", "echo pid=$$; exec sleep 1000"], {
      DATABASE_STUDIO_URL: db.url("studioRead"),
    });
    await ready(command);
    await expect.poll(() => command.output()).toMatch(/ {2}Studio: http:\/\/127\.0\.0\.1:\d+\/#/);
    await seesItsService(command);
    const beside = Number(/pid=(\d+)/.exec(command.output())?.[1]);
    expect(process.kill(beside, 0)).toBe(true);
    command.child.kill(signal);
    expect((await command.ended).code, command.output()).toBe(0);
    await expect.poll(() => runs(beside)).toBe(false);
  },
  120_000,
);

/** What the service did appears in the Studio beside it: a call with its statements, and a mail. */
async function seesItsService(command: Command): Promise<void> {
  const [url = ""] = urls(command);
  const send = (path: string, body: object) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url },
      body: JSON.stringify(body),
    });
  const email = `ann-${process.pid}-${Date.now()}@example.com`;
  expect((await send("/api/auth/sign-up/email", { email, name: "Ann", password: "long enough" })).status).toBe(200);
  await send("/api/auth/request-password-reset", { email, redirectTo: url });

  const { origin, hash } = new URL(/http:\/\/127\.0\.0\.1:\d+\/#[\w-]+/.exec(command.output())?.[0] ?? "");
  let secret = "";
  const ask = async (name: string, body: object = {}) => {
    const headers = { origin, "content-type": "application/json", authorization: `Bearer ${secret}` };
    return (await fetch(`${origin}/api/${name}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
  };
  ({ secret } = await ask("redeem", { token: hash.slice(1) }));
  await expect.poll(() => ask("mails")).toMatchObject([{ kind: "password reset", email, url: expect.any(String) }]);
  const requests: { name: string; traceId: string; requestId: string; statements: number }[] = await ask("requests");
  const signUp = requests.find(({ name }) => name.includes("sign-up"));
  expect(signUp?.statements, JSON.stringify(requests)).toBeGreaterThan(1);
  const spans: { attributes: Record<string, unknown> }[] = await ask("trace", { id: signUp?.requestId });
  expect(spans.map(({ attributes }) => attributes["db.query.text"]).join()).toMatch(/insert into/i);
  expect(await ask("trace", { id: "none" })).toMatchObject({ code: "NOT_FOUND" });
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test.runIf(process.platform === "linux")(
  "dev tells type errors on the terminal while it serves, and ends the compiler when it ends",
  async () => {
    const broken = "export const wrong: number = 'text';\n";
    await writeFile(join(folder, "backend/wrong.ts"), broken);
    const options = { strict: true, noEmit: true, types: [] };
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: ["backend/wrong.ts"] }),
    );
    try {
      const command = svc(["dev"]);
      await ready(command);
      const error = "types  backend/wrong.ts:1:14 TS2322: Type 'string' is not assignable to type 'number'.\n";
      await expect.poll(command.output, { timeout: 20_000 }).toContain(error);
      const compilers = await compilersIn(folder);
      expect(compilers.length).toBeGreaterThan(0);
      await writeFile(join(folder, "backend/wrong.ts"), "export const wrong: number = 1;\n");
      await expect.poll(command.output, { timeout: 20_000 }).toContain("types  no errors any more\n");
      command.child.kill("SIGTERM");
      expect((await command.ended).code, command.output()).toBe(0);
      await expect.poll(() => compilersIn(folder), { timeout: 20_000 }).toEqual([]);

      await writeFile(join(folder, "backend/wrong.ts"), broken);
      const without = svc(["dev", "--no-types"]);
      await ready(without);
      expect(await compilersIn(folder)).toEqual([]);
    } finally {
      await rm(join(folder, "tsconfig.json"));
      await rm(join(folder, "backend/wrong.ts"));
    }
  },
  120_000,
);

/** Process ids of compilers that run there. Linux tells where a process runs. */
async function compilersIn(cwd: string): Promise<string[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    ids.map(async (id) => {
      const [where, line] = await Promise.all([
        readlink(`/proc/${id}/cwd`).catch(() => ""),
        readFile(`/proc/${id}/cmdline`, "utf8").catch(() => ""),
      ]);
      return where === cwd && line.includes("--tsBuildInfoFile") ? id : "";
    }),
  );
  return found.filter(Boolean);
}

test("dev notices edits in place after the file was replaced, and a new .env", async () => {
  const command = svc(["dev"]);
  await ready(command);
  const file = join(folder, "backend/index.ts");
  const text = await readFile(file, "utf8");
  await writeFile(join(folder, ".index.tmp"), `${text}\n// replaced`);
  await rename(join(folder, ".index.tmp"), file);
  await ready(command, 2);
  await writeFile(file, `${text}\n// in place`);
  await ready(command, 3);
  await writeFile(file, text);
  await ready(command, 4);

  const env = (host: string) => writeFile(join(folder, ".env"), `AUTHLIB_URL=http://${host}.localhost:4321\n`);
  await env("one");
  expect(await ready(command, 5)).toBe("http://one.localhost:4321");
  expect(command.output()).toContain("\n.env changed\n");
  await env("two");
  expect(await ready(command, 6)).toBe("http://two.localhost:4321");
  await rm(join(folder, ".env"));
  expect(await ready(command, 7)).toMatch(/^http:\/\/localhost:/);
}, 300_000);

test("folders are watched, also those that come later or are replaced, without a file's watch being lost", async () => {
  const app = await mkdtemp(join(root, ".svc/watch-"));
  await mkdir(join(app, "backend/tasks"), { recursive: true });
  const file = join(app, "backend/tasks/list.ts");
  await writeFile(file, "1");
  const seen: string[] = [];
  const stop = watchApplication(
    { cwd: app, rootDir: join(app, "backend"), schema: [join(app, "backend/schema.ts")] },
    (path) => path.endsWith("ignored.ts"),
    (path) => seen.push(path),
  );
  /** Makes a change, and waits until it was noticed. */
  const noticed = async (path: string, doing: () => Promise<unknown>) => {
    seen.length = 0;
    await doing();
    await expect.poll(() => seen, { message: path }).toContain(path);
  };
  const list = join("backend", "tasks", "list.ts");
  try {
    await noticed(list, () => writeFile(file, "2"));
    await noticed(list, async () => {
      await writeFile(join(app, "new.txt"), "3");
      await rename(join(app, "new.txt"), file);
    });
    await noticed(list, () => writeFile(file, "4"));
    await noticed(list, () => writeFile(file, "5"));
    // A folder that is replaced by another one of the same name, as by git checkout.
    await noticed(join("backend", "tasks"), async () => {
      await rename(join(app, "backend/tasks"), join(app, "old"));
      await cp(join(app, "old"), join(app, "backend/tasks"), { recursive: true });
    });
    await noticed(list, () => writeFile(file, "6"));
    await noticed("migrations", () => mkdir(join(app, "migrations")));
    await noticed(join("migrations", "0001.sql"), () => writeFile(join(app, "migrations/0001.sql"), "select 1;"));
    await noticed(".env", async () => {
      await writeFile(join(app, "backend/ignored.ts"), "");
      await writeFile(join(app, "README.md"), "");
      await writeFile(join(app, ".env"), "A=1");
    });
    expect(seen).toEqual([".env"]);
  } finally {
    stop();
    await rm(app, { recursive: true });
  }
});
