// If this file fails, a program that runs svc with --json gets something else than JSON on standard output.
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { allCommands } from "../../scripts/cli-reference.ts";
import { dispatch } from "../../src/cli/dispatch.ts";
import { counter, during, output } from "../../src/cli/output.ts";
import { type Command, svc as start } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database("template1");
let folder: string;
const none = "0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11";
const inside = (name: string) => join(folder, name);

beforeAll(async () => {
  // Inside the project, where @svc/core resolves.
  await mkdir(join(root, ".svc"), { recursive: true });
  folder = await mkdtemp(join(root, ".svc/json-"));
  const keep = (path: string) => !/[\\/](node_modules|\.svc|dist)$/.test(path.slice(root.length));
  await cp(join(root, "examples/starter"), folder, { recursive: true, filter: keep });
  await writeFile(inside("lines.log"), '{"level":30,"time":1,"msg":"one"}\n{"level":30,"time":2,"msg":"two"}\n');
  for (const [name, login] of Object.entries(logins)) vi.stubEnv(name, db.url(login));
  vi.stubEnv("AUTHLIB_SECRET", "a secret of at least thirty-two characters");
}, 120_000);
afterEach(() => {
  process.exitCode = 0;
  output.json = false;
});
afterAll(() => {
  vi.unstubAllEnvs();
  return rm(folder, { recursive: true, force: true });
});

const logins = {
  DATABASE_URL: "request",
  DATABASE_SYSTEM_URL: "system",
  DATABASE_AUTH_URL: "auth",
  DATABASE_ADMIN_URL: "admin",
  DATABASE_REPLICATION_URL: "replication",
} as const;

/** Runs a command in this process. @returns its standard output */
async function svc(words: readonly string[]): Promise<string> {
  let text = "";
  const out = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    text += chunk;
    return true;
  });
  const error = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    await dispatch(words);
  } finally {
    out.mockRestore();
    error.mockRestore();
  }
  return text;
}

/** Commands in an order in which each finds what it needs, with what the result has to be like. */
const runs: [name: string, words: () => string[], result: unknown][] = [
  ["codegen", () => [], { changes: [] }],
  ["prepare", () => [], { changes: [], applied: expect.arrayContaining([expect.stringMatching(/^application\//)]) }],
  ["migrate apply", () => [], { applied: [] }],
  ["migrate status", () => [], expect.arrayContaining([expect.objectContaining({ state: "applied" })])],
  ["migrate generate", () => [], { wrote: [] }],
  ["openapi", () => [], expect.objectContaining({ openapi: "3.1.1" })],
  ["openapi", () => ["--out", inside("openapi.json")], { changes: [expect.stringContaining("openapi.json")] }],
  ["doctor", () => [], expect.objectContaining({ findings: expect.any(Array) })],
  ["completion bash", () => [], expect.objectContaining({ shell: "bash" })],
  ["completion zsh", () => [], expect.objectContaining({ shell: "zsh" })],
  ["completion fish", () => [], expect.objectContaining({ shell: "fish" })],
  ["init", () => [inside("new"), "--no-install"], expect.objectContaining({ name: "new", template: "plain" })],
  ["convert", () => [join(root, "LICENSE")], expect.objectContaining({ kind: "txt", creditsCharged: 0 })],
  ["crons list", () => [], [expect.objectContaining({ name: "notes.nightly", lastRun: null })]],
  ["crons run", () => ["notes.nightly"], { cron: "notes.nightly", job: "1" }],
  ["crons pause", () => ["notes.nightly"], { error: expect.stringContaining("not registered") }],
  ["crons resume", () => ["notes.nightly"], { error: expect.stringContaining("not registered") }],
  ["jobs list", () => [], [expect.objectContaining({ id: "1", state: "due" })]],
  ["jobs show", () => ["1"], expect.objectContaining({ name: "notes.tidy" })],
  ["jobs retry", () => ["1"], { id: "1", outcome: "due" }],
  ["jobs cancel", () => ["1"], { id: "1", outcome: "cancelled" }],
  ["jobs history", () => [], []],
  ["data export", () => ["notes", "--as", "nobody"], { error: expect.stringContaining("There is no user") }],
  ["data import", () => ["notes", "a.csv", "--as", "nobody"], { error: expect.stringContaining("There is no user") }],
  ["dry-run", () => ["notes.list"], expect.objectContaining({ status: 401, refused: [] })],
  ["workflows list", () => [], []],
  ["workflows show", () => [none], { error: expect.stringContaining("There is no run") }],
  ["workflows retry", () => [none], { error: expect.stringContaining("There is no run") }],
  ["workflows cancel", () => [none], { error: expect.stringContaining("There is no run") }],
  ["secrets status", () => [], { bySecret: [0], lost: 0 }],
  ["secrets reseal", () => [], { resealed: 0, lost: 0 }],
  ["ai usage", () => [], []],
  ["db seed", () => [], { seeded: expect.stringContaining("seed.ts") }],
  ["policies", () => ["notes"], expect.arrayContaining([expect.objectContaining({ name: "public.notes" })])],
  ["rls explain", () => ["notes"], { table: "public.notes", as: null, seen: null, rows: 2 }],
  ["rls explain", () => ["notes", "--row", "1"], expect.objectContaining({ commands: expect.any(Array) })],
  ["search", () => ["notes", "milk"], { error: expect.stringContaining("not a searchable table") }],
  ["storage ls", () => [], []],
  ["storage show", () => [none], { error: expect.stringContaining("Nothing is stored") }],
  ["storage verify", () => [], { files: 0, bytes: 0, damaged: [] }],
  ["storage gc", () => [], { removed: 0 }],
  ["db slow", () => [], expect.anything()],
  ["db locks", () => [], { blocked: [], open: expect.any(Array) }],
  ["db stats", () => [], expect.objectContaining({ tables: expect.any(Array) })],
  ["db lint", () => [], expect.any(Array)],
  ["db drift", () => [], []],
  [
    "db explain",
    () => ["select * from notes", "--as", "system"],
    expect.objectContaining({ plans: expect.any(Array) }),
  ],
  ["db backup", () => [inside("backup")], expect.objectContaining({ folder: expect.any(String) })],
  ["db verify", () => [inside("backup")], expect.objectContaining({ problems: [] })],
  ["db restore", () => [inside("backup")], { error: expect.stringContaining("not empty") }],
  ["logs", () => [inside("lines.log"), "--level", "warn"], undefined],
  ["migrate reset", () => ["--yes"], { error: expect.stringContaining("The reset is refused") }],
];
/** Programs of their own: the test below runs them, and tests/studio/command.test.ts. */
const apart = ["dev", "start", "studio", "worker", "jobs tail", "workflows tail", "db psql"];

test("every command has --json, and is run here", () => {
  const leaves = allCommands().filter(({ isGroup }) => !isGroup);
  for (const { command, path } of leaves) {
    expect(
      command.options.map(({ long }) => long),
      path.join(" "),
    ).toContain("--json");
  }
  const names = leaves.map(({ path }) => path.slice(1).join(" "));
  expect(new Set([...runs.map(([name]) => name), ...apart])).toEqual(new Set(names));
});

const without = ["init", "convert", "logs", "completion bash", "completion zsh", "completion fish"];

test("what they print is one JSON document, in a failure too", async () => {
  for (const [name, words, result] of runs) {
    const place = without.includes(name) ? [] : ["--cwd", folder];
    const text = await svc([...name.split(" "), ...words(), ...place, "--json"]);
    if (result === undefined) expect(text, name).toBe("");
    else expect(JSON.parse(text), name).toEqual(result);
  }
}, 180_000);

test("the others print one document a line", async () => {
  const running: Command[] = [];
  const run = (...words: string[]) => {
    const command = start(db, folder, [...words, "--json"]);
    running.push(command);
    return command;
  };
  const [rows, tail] = [run("db", "psql", "--as", "system", "-c", "select 1 as one; "), run("jobs", "tail")];
  const [dev, worker, serving] = [run("dev"), run("worker"), run("start")];
  expect(JSON.parse((await rows.ended).out)).toEqual([{ one: 1 }]);
  for (const one of [dev, serving]) await expect.poll(one.output, { timeout: 60_000 }).toContain("Ready: ");
  await expect.poll(worker.output, { timeout: 60_000 }).toContain("Taking jobs");
  await expect
    .poll(
      async () => {
        await svc(["crons", "run", "notes.nightly", "--cwd", folder, "--json"]);
        return tail.output();
      },
      { timeout: 60_000, interval: 500 },
    )
    .toContain('"state":"');
  for (const { child, ended } of running) {
    child.kill("SIGTERM");
    const { out } = await ended;
    for (const line of out.trim().split("\n")) expect(() => JSON.parse(line === "" ? "{}" : line), line).not.toThrow();
  }
  expect((await serving.ended).out).toContain('"msg":"listening"');
  expect((await worker.ended).code).toBe(0);
}, 180_000);

test("what takes longer than a second is said, once a second at most", async () => {
  vi.useFakeTimers();
  const said: string[] = [];
  const error = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
  try {
    await during("Quick", async () => vi.advanceTimersByTime(900));
    await during("Slow", async () => vi.advanceTimersByTime(1_100));
    const count = counter();
    for (let files = 1; files <= 25; files++) {
      vi.advanceTimersByTime(100);
      count(() => `${files} files`);
    }
    await expect(during("Broken", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    vi.advanceTimersByTime(2_000);
  } finally {
    error.mockRestore();
    vi.useRealTimers();
  }
  expect(said).toEqual(["Slow …\n", "10 files\n", "20 files\n"]);
});
