// If this file fails, `svc dev` does not tell what its compiler, its Studio and the command beside it have found, or leaves
// them behind when it ends.
import { readdir, readFile, readlink, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { makeAgentSecret } from "../../src/studio/agent-secret.ts";
import { askStudio, readEntry } from "../../src/studio/studio-entry.ts";
import { copiedApplication, ready } from "../support/application-folder.ts";
import { byNpm, type Command } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { isRunning } from "../support/is-running.ts";

const db = database("platform");
const app = copiedApplication(db, "examples/starter");
const { svc } = app;
beforeAll(async () => {
  const file = join(app.folder, "svc.config.ts");
  const port = await freePort(); // another test's page may be at the usual one
  await writeFile(file, (await readFile(file, "utf8")).replace("localhost:5173", `localhost:${port}`));
});

// That it names a signal, too, is tested in commands.test.ts, which saves a start.
test("dev ends when the command beside it ends, and says how that ended", async () => {
  const failing = svc(["dev", "--with", "echo the port is taken >&2; exit 3"]);
  expect((await failing.ended).code, failing.output()).toBe(1);
  expect(failing.output()).toContain('" has ended with exit code 3, so svc dev ends too.');
});

const withSleep = ["--with", "echo pid=$$; exec sleep 1000"];

const besideOf = (command: Command) => Number(/pid=(\d+)/.exec(command.output())?.[1]);

/** What the service did appears in the Studio beside it: a call with its statements, and a mail. */
async function seesItsService(command: Command, url: string): Promise<void> {
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
  // svc mcp asks it for the same, by a file that only its user may read.
  expect(await askStudio(app.folder, "trace", { id: signUp?.requestId })).toEqual(spans);
  expect((await stat(join(app.folder, ".svc/studio.json"))).mode & 0o777).toBe(0o600);
  // And an agent over HTTP, by a secret that is made while it runs.
  const headers = {
    authorization: `Bearer ${makeAgentSecret(app.folder)}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const params = { name: "trace", arguments: { id: signUp?.requestId } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const answer = await (await fetch(`${origin}/mcp`, { method: "POST", headers, body })).json();
  expect(JSON.parse(answer.result.content[1].text)).toEqual(spans);
}

test.runIf(process.platform === "linux")(
  "dev tells type errors on the terminal while it serves and its Studio shows that, notices a new .env and its end, and ends all of them on SIGINT",
  async () => {
    await breakTypes();
    const command = svc(["dev", ...withSleep], { DATABASE_STUDIO_URL: db.url("studioRead") });
    const url = await ready(command);
    await expect.poll(() => command.output()).toMatch(/ {2}Studio: http:\/\/127\.0\.0\.1:\d+\/#/);
    await seesItsService(command, url);
    const error = "types  backend/wrong.ts:1:14 TS2322: Type 'string' is not assignable to type 'number'.\n";
    await expect.poll(command.output).toContain(error);
    const [compiler] = await compilersIn(app.folder);
    // With the four threads that are the default, a large application needs gigabytes for its types.
    expect(await readFile(`/proc/${compiler}/cmdline`, "utf8")).toContain("\0--checkers\x001\0");
    await writeFile(join(app.folder, "backend/wrong.ts"), "export const wrong: number = 1;\n");
    await writeFile(join(app.folder, ".env"), "AUTHLIB_URL=http://one.localhost:4321\n");
    await expect.poll(command.output).toContain("types  no errors any more\n");
    await expect.poll(command.output).toContain("Ready: http://one.localhost:4321\n");
    expect(command.output()).toContain("\n.env changed\n");
    const next = command.output().split("Ready: ").length;
    await rm(join(app.folder, ".env"));
    expect(await ready(command, next)).toMatch(/^http:\/\/localhost:/);
    const beside = besideOf(command);
    expect(isRunning(beside)).toBe(true);
    command.child.kill("SIGINT");
    expect((await command.ended).code, command.output()).toBe(0);
    expect(readEntry(app.folder)).toBeNull();
    await expect.poll(() => isRunning(beside)).toBe(false);
    await expect.poll(() => compilersIn(app.folder)).toEqual([]);
  },
);

async function breakTypes(): Promise<void> {
  onTestFinished(async () => {
    await rm(join(app.folder, "tsconfig.json"));
    await rm(join(app.folder, "backend/wrong.ts"));
  });
  await writeFile(join(app.folder, "backend/wrong.ts"), "export const wrong: number = 'text';\n");
  const compilerOptions = { strict: true, noEmit: true, types: [] };
  await writeFile(join(app.folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["backend/wrong.ts"] }));
}

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

// What a reload serves is tested in commands.test.ts, the end on SIGTERM in json-following.test.ts.
test("dev starts no compiler with --no-types, and ends with what is beside it when npm's shell has ended on SIGTERM", async () => {
  await breakTypes();
  const command = byNpm(db, app.folder, ["dev", "--no-types", ...withSleep]);
  await ready(command);
  const svcItself = Number(/svc=(\d+)/.exec(command.output())?.[1]);
  onTestFinished(() => void (isRunning(svcItself) && process.kill(svcItself, "SIGTERM")));
  expect(await compilersIn(app.folder)).toEqual([]);
  const beside = besideOf(command);
  expect(isRunning(beside)).toBe(true);
  command.child.kill("SIGTERM");
  // Its output closes when the last process below it has ended; otherwise this test does not end.
  expect((await command.ended).text).toContain("svc=");
  await expect.poll(() => isRunning(beside)).toBe(false);
});
