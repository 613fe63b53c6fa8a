/** DBA, and Migrations and backups: what the commands of svc find and leave. */
import { ask } from "./api.ts";
import { type Child, choice, choices, code, copyButton, h, heading, later, plain, quiet, table } from "./dom.ts";
import { href, type State } from "./state.ts";
import { number, time } from "./texts.ts";
import type { Act, MigrationFile } from "./types.ts";

const topics = {
  lint: "Rules of svc db lint that the schema breaks",
  drift: "Differences between the database and the files",
  slow: "Statements by total time",
  locks: "Sessions that wait for locks, and transactions that stay open",
  stats: "Sizes, dead rows, indexes and slots",
} as const;
type Topic = keyof typeof topics;

export function dba(state: State): Child {
  const topic: Topic = Object.keys(topics).includes(state.what ?? "") ? (state.what as Topic) : "lint";
  const links = Object.keys(topics).map((one) => choice(href({ what: one }), one === topic, one));
  return [
    heading("DBA"),
    choices(...links),
    h("h2", {}, topics[topic]),
    later(`svc db ${topic}`, async () => shown(topics[topic], await ask<unknown>("database", { what: topic }))),
    plain(copyButton("Copy as command", `npx svc db ${topic}`)),
  ];
}

/** JSON of a command: lists of objects are tables, other values are facts. */
function shown(title: string, value: unknown): Child {
  if (Array.isArray(value)) return list(title, value);
  if (value === null || typeof value !== "object") return plain(String(value ?? "Nothing."));
  return Object.entries(value).map(([name, part]) =>
    part !== null && typeof part === "object"
      ? [h("h3", {}, inWords(name)), shown(inWords(name), part)]
      : plain(h("b", {}, `${inWords(name)}: `), cell(part)),
  );
}

function list(title: string, rows: readonly unknown[]): Child {
  if (rows.length === 0) return quiet("Nothing to report.");
  const objects = rows.map((row) => (row !== null && typeof row === "object" ? row : { value: row }));
  const names = [...new Set(objects.flatMap((row) => Object.keys(row)))];
  const cells = objects.map((row) => names.map((name) => cell((row as Record<string, unknown>)[name])));
  return table(title, names.map(inWords), cells);
}

/** As in "tableName" and "table_name". */
const inWords = (name: string) =>
  name
    .replaceAll("_", " ")
    .replaceAll(/[a-z](?=[A-Z])/g, "$& ")
    .toLowerCase();

function cell(value: unknown): Child {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "number") return number(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

export const migrations = (): Child => [
  heading("Migrations and backups"),
  later("the migrations", async () => {
    const files = await ask<MigrationFile[]>("migrations");
    const open = files.filter(({ state }) => state !== "applied");
    const applied = files
      .filter(({ state }) => state === "applied")
      .toSorted((a, b) => (b.appliedAt ?? "").localeCompare(a.appliedAt ?? ""));
    const rows = (some: typeof files) => some.map(({ state, path, appliedAt }) => [state, path, time(appliedAt)]);
    const head = ["State", "File", "Applied at"];
    return [
      h("h2", {}, "Not applied"),
      open.length > 0
        ? table("Files that are not applied", head, rows(open))
        : quiet(`Everything is applied: ${number(files.length)} files.`),
      plain(copyButton("Copy as command", open.length > 0 ? "npx svc migrate" : "npx svc migrate status")),
      h("h2", {}, "Applied last"),
      table("Files that were applied last", head, rows(applied.slice(0, 50))),
    ];
  }),
  h("h2", {}, "Backups"),
  later("the backups", async () => {
    const taken = await ask<Act[]>("backups");
    if (taken.length === 0) return quiet("None by svc is known.");
    const rows = taken.map(({ at, act, arguments: { folder, host, takenAt, bytes } }) => [
      time(at),
      act === "db_backup" ? "taken" : "restored on trial",
      `${host}: ${folder}`,
      time(String(takenAt)),
      number(Number(bytes)),
    ]);
    return table("The latest backups", ["At", "What", "Where", "As of", "Bytes"], rows);
  }),
  quiet(
    code("svc db backup FOLDER"),
    " takes one, ",
    code("svc db verify FOLDER --deep"),
    " restores it under another name and compares every table.",
  ),
];
