// If this file fails, an operator cannot open Studio, or opens it with logins that were not meant for it.
import { chmod, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readAgentSecret } from "../../src/studio/agent-secret.ts";
import { copiedApplication } from "../support/application-folder.ts";
import { fixture, svc, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();

/** Redeems the address and calls Studio's API, as the page does. */
async function enter(address: string) {
  const { origin, hash } = new URL(address);
  const send = async (name: string, body: object, secret = "") => {
    const headers = { origin, "content-type": "application/json", authorization: `Bearer ${secret}` };
    const response = await fetch(`${origin}/api/${name}`, { method: "POST", headers, body: JSON.stringify(body) });
    return response.json();
  };
  const { secret } = await send("redeem", { token: hash.slice(1) });
  return (name: string, body: object = {}) => send(name, body, secret);
}

const app = copiedApplication(db, "tests/fixture");

/** The answer to an agent that calls a tool. */
async function askTool(url: string, Authorization: string, name: string) {
  const headers = { Authorization, "content-type": "application/json", accept: "application/json, text/event-stream" };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(message) });
  return answer.json();
}

const addressIn = (text: string) => /http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}/.exec(text)?.[0];

test("svc studio prints an address, whose page shows what the commands find, and only reads with one login", async () => {
  const env = { DATABASE_STUDIO_URL: db.url("studioRead") };
  const { child, output, ended } = svc(db, fixture, ["studio", "--port", "0"], env);
  await expect.poll(() => addressIn(output())).toBeDefined();
  const ask = await enter(addressIn(output()) as string);
  expect(await ask("status")).toEqual({ mayAct: false, acts: [] });
  const { findings } = await ask("doctor");
  expect(findings.map(({ kind }: { kind: string }) => kind)).toContain("ok");
  const files = await ask("migrations");
  expect(files).toContainEqual(
    expect.objectContaining({ path: "platform/migrations/0043_create_operator_acts.sql", state: "applied" }),
  );
  // Run: its forms, and a dry run as a user by the service's logins.
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@example.com')`);
  const operations: { name: string; fields: { name: string }[] }[] = await ask("operations");
  const creating = operations.find(({ name }) => name === "notes.create");
  expect(creating).toMatchObject({
    kind: "mutation",
    takesFiles: false,
    fields: [
      { name: "title", type: "string", required: true },
      { name: "done", type: "boolean" },
      { name: "priority", type: "integer" },
    ],
  });
  expect(await ask("dryRun", { name: "notes.create", as: "ann", args: { title: "--as=ben" } })).toMatchObject({
    status: 200,
    answer: { json: { title: "--as=ben", userId: "ann" } },
    rows: [{ table: "public.notes", inserted: 1 }],
  });
  expect(await db.snapshot("notes")).toEqual([]);
  expect(await ask("dryRun", { name: "notes.create", as: "ben", args: {} })).toMatchObject({
    error: expect.stringContaining("svc dry-run notes.create --as=ben --input=-: There is no user ben."),
  }); // the input itself is in no list of processes
  expect(await ask("dryRun", { name: "--input=1", as: null })).toMatchObject({ code: "VALIDATION_FAILED" });
  expect(output()).toContain("Studio, for another tab: http://127.0.0.1:");
  child.kill("SIGTERM");
  expect((await ended).code).toBe(0);
});

test("without its login it does not fall back to another one", async () => {
  const { code, error } = await svcHere(db, fixture, ["studio", "--port", "0"]);
  expect(code).toBe(1);
  expect(error).toContain("DATABASE_STUDIO_URL is not set.");
  expect(error).toContain("svc_studio_read");
});

test("with --json the address is a JSON document on standard output; an invalid port and a taken one are errors", async () => {
  const env = { DATABASE_STUDIO_URL: db.url("studioRead") };
  const wrong = await svcHere(db, fixture, ["studio", "--port", "x"], env);
  expect(wrong.error).toContain("--port x is not a whole number from 0 to 65535");
  const { child, output, ended } = svc(db, fixture, ["studio", "--port", "0", "--json"], env);
  await expect.poll(() => addressIn(output())).toBeDefined();
  const { port } = new URL(addressIn(output()) as string);
  const second = await svcHere(db, fixture, ["studio", "--port", port], env);
  expect([second.code, second.error]).toEqual([1, expect.stringContaining(`Port ${port} is taken.`)]);
  child.kill("SIGTERM");
  const [line = ""] = (await ended).out.split("\n");
  expect(JSON.parse(line)).toEqual({ address: addressIn(line) });
});

test("svc studio --mcp prints what an agent needs; without the option none is answered, also not by the secret of svc dev", async () => {
  const env = { DATABASE_STUDIO_URL: db.url("studioRead") };
  const { child, output, ended } = svc(db, fixture, ["studio", "--port", "0", "--mcp"], env);
  const line = /claude mcp add --transport http svc (\S+) --header "Authorization: (Bearer [\w-]{43})"/;
  await expect.poll(() => line.exec(output())).not.toBeNull();
  const [, url = "", authorization = ""] = line.exec(output()) ?? [];
  expect((await askTool(url, authorization, "docs")).result.content[0].text).toContain("how-to/teams.md");
  expect(await askTool(url, "Bearer x", "docs")).toMatchObject({ code: "UNAUTHORIZED" });
  child.kill("SIGTERM");
  expect((await ended).code).toBe(0);

  const { out } = await svcHere(db, app.folder, ["mcp", "--http", "--json"]);
  const without = svc(db, app.folder, ["studio", "--port", "0"], env);
  await expect.poll(() => addressIn(without.output())).toBeDefined();
  const { origin } = new URL(addressIn(without.output()) as string);
  const { headers } = JSON.parse(out);
  expect(await askTool(`${origin}/mcp`, headers.Authorization, "docs")).toMatchObject({ code: "UNAUTHORIZED" });
  without.child.kill("SIGTERM");
  await without.ended;
});

test("svc mcp --http keeps its secret in a file for its user alone; one that others may read, or that is invalid, opens nothing", async () => {
  const file = join(app.folder, ".svc/mcp.json");
  await rm(file, { force: true });
  expect(readAgentSecret(app.folder)).toBeNull();
  const first = JSON.parse((await svcHere(db, app.folder, ["mcp", "--http", "--json"])).out);
  expect(first).toEqual({ url: "http://127.0.0.1:4001/mcp", headers: { Authorization: expect.any(String) } });
  expect(first.headers.Authorization).toBe(`Bearer ${readAgentSecret(app.folder)}`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const again = await svcHere(db, app.folder, ["mcp", "--http"]);
  expect(again.out).toContain(`--header "Authorization: ${first.headers.Authorization}"`);
  await chmod(file, 0o644);
  expect(readAgentSecret(app.folder)).toBeNull();
  const other = JSON.parse((await svcHere(db, app.folder, ["mcp", "--http", "--json"])).out);
  expect(other).not.toEqual(first);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  // A committed file, after a checkout with umask 077: its secret is known to others.
  const committed = await readFile(file, "utf8");
  expect(readAgentSecret(app.folder)).not.toBeNull();
  await rm(file);
  await writeFile(join(app.folder, ".svc/other"), "");
  await writeFile(file, committed, { mode: 0o600 });
  expect(readAgentSecret(app.folder)).toBeNull();
  const newest = JSON.parse((await svcHere(db, app.folder, ["mcp", "--http", "--json"])).out);
  expect(newest.headers.Authorization).toBe(`Bearer ${readAgentSecret(app.folder)}`);
  expect(newest).not.toEqual(other);
  await rm(file);
  await mkdir(join(app.folder, ".svc"), { recursive: true });
  for (const text of ['{"secret":""}', '{"secret":"short"}', "{}", "null", ""]) {
    await writeFile(file, text, { mode: 0o600 });
    expect(readAgentSecret(app.folder)).toBeNull();
  }
});
