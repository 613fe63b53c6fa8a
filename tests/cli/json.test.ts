// If this file fails, a program that runs svc with --json gets something else than JSON on standard output.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { allCommands } from "../../scripts/cli-reference.ts";
import { copyApplication } from "../support/application-folder.ts";
import { svcAll } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { documentsIn } from "./json-documents.ts";

const db = database("platform");
let folder: string;
const none = "0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11";
const inside = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await copyApplication("examples/starter");
  await writeFile(inside("lines.log"), '{"level":30,"time":1,"msg":"one"}\n{"level":30,"time":2,"msg":"two"}\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Commands in an order in which each finds what it needs, with what the result has to be like. */
const runs: [name: string, words: () => string[], result: unknown][] = [
  ["codegen", () => [], { changes: [] }],
  [
    "prepare",
    () => [],
    { changes: [], applied: expect.arrayContaining([expect.stringMatching(/^application\//)]), findings: [] },
  ],
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
  ["webhooks declared", () => [], []],
  ["webhooks list", () => [], []],
  ["webhooks show", () => [none], { error: expect.stringContaining("There is no delivery") }],
  ["webhooks retry", () => ["--dead"], { retried: 0 }],
  ["keys list", () => [], []],
  ["keys revoke", () => [none], { error: expect.stringContaining("There is no") }],
  ["secrets status", () => [], { bySecret: [0], lost: 0 }],
  ["secrets reseal", () => [], { resealed: 0, lost: 0 }],
  ["ai usage", () => [], []],
  ["db seed", () => [], { seeded: expect.stringContaining("seed.ts") }],
  ["policies", () => ["notes"], expect.arrayContaining([expect.objectContaining({ name: "public.notes" })])],
  ["rls explain", () => ["notes"], { table: "public.notes", as: null, seen: null, rows: 2 }],
  ["rls explain", () => ["notes", "--row", "1"], expect.objectContaining({ commands: expect.any(Array) })],
  ["search", () => ["notes", "milk"], { error: expect.stringContaining("not a searchable table") }],
  ["audit", () => [], []],
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
  ["db pull", () => [db.url("admin")], { error: expect.stringContaining("schema.ts already") }],
  ["db backup", () => [inside("backup")], expect.objectContaining({ folder: expect.any(String) })],
  ["db verify", () => [inside("backup")], expect.objectContaining({ problems: [] })],
  ["db restore", () => [inside("backup")], { error: expect.stringContaining("not empty") }],
  ["logs", () => [inside("lines.log"), "--level", "warn"], undefined],
  ["migrate reset", () => ["--yes"], { error: expect.stringContaining("The reset is refused") }],
  ["db psql", () => ["--as", "system", "-c", "select 1 as one; "], [{ one: 1 }]],
  // These go on until they are told to stop. What they log can come late, so they are the last ones.
  ["jobs tail", () => [], undefined],
  ["workflows tail", () => [], undefined],
  ["worker", () => [], expect.any(Array)],
  ["start", () => [], expect.arrayContaining([expect.objectContaining({ msg: "listening" })])],
];
const printsLines = ["worker", "start"];
/** Programs of their own: json-following.test.ts runs the first one, command.test.ts and mcp.test.ts in tests/studio the others. */
const apart = ["dev", "studio", "mcp"];

test("every command is run here", () => {
  const leaves = allCommands().filter(({ isGroup }) => !isGroup);
  const names = leaves.map(({ path }) => path.slice(1).join(" "));
  expect(new Set([...runs.map(([name]) => name), ...apart])).toEqual(new Set(names));
});

const without = ["init", "convert", "logs", "completion bash", "completion zsh", "completion fish"];

test("what they print is one JSON document, in a failure too, and none leaves anything open", async () => {
  const place = (name: string) => (without.includes(name) ? [] : ["--cwd", folder]);
  const all = runs.map(([name, words]) => [...name.split(" "), ...words(), ...place(name), "--json"]);
  const command = svcAll(db, all);
  onTestFinished(() => void command.child.kill("SIGKILL"));
  const ended = await command.ended;
  expect(ended).toHaveLength(runs.length);
  for (const [index, [name, , result]] of runs.entries()) {
    const text = ended[index]?.out.trim() ?? "";
    if (result === undefined) expect(text, name).toBe("");
    else if (printsLines.includes(name)) expect(documentsIn(text), name).toEqual(result);
    else expect(JSON.parse(text), name).toEqual(result);
  }
});
