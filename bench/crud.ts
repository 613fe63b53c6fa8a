/**
 * Generated CRUD and a call without database, against what one would write by hand: Express + pg, Fastify + postgres.js,
 * and node:http + pipelined pg as a limit. Each line has the processor time of a call in Node and in PostgreSQL. pgbench runs
 * the very statement of `get` and `list` to show what the database alone could do.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callText } from "../src/crud/statement.ts";
import { type Contest, contest, filters, removeCreated, type User } from "./contest.ts";
import { interleave, report } from "./measure.ts";
import { contestant } from "./process.ts";

const handWritten = [
  ["node:http + pg", "bare-pg.ts"],
  ["fastify", "fastify.ts"],
  ["express + pg", "express.ts"],
] as const;

export const run = (): Promise<void> => contest(handWritten, measure);

async function measure({ cluster, ours, theirs, compare, turn, users, idle }: Contest) {
  const byId = ({ rows }: User) => ({ id: rows[turn() % rows.length] });
  await compare("get", [ours("/api/query", "items.get", byId), ...theirs("/get", byId)]);
  await compare("list of 20", [ours("/api/query", "items.list", () => ({})), ...theirs("/list", () => ({}))]);
  const filtered = () => ({ filters });
  const list = ours("/api/query", "items_1e6.list", filtered);
  await compare("the same, filtered: 34 of 1,000 rows", [list, ...theirs("/list", filtered)]);
  const title = () => ({ title: `new ${turn()}` });
  await compare("create", [ours("/api/mutation", "items.create", title), ...theirs("/create", title)]);
  await removeCreated(cluster.urls.admin);

  const bare = await contestant([join(import.meta.dirname, "peers/bare-http.ts")]);
  const text = () => ({ text: "hello" });
  const limit = { ...ours("/", "echo", text), name: "node:http", process: bare };
  const echo = await interleave([ours("/api/query", "echo", text), limit]).finally(() => bare.stop());
  report("echo, without database", echo);
  const [procedure, request] = echo;
  if (procedure && request) {
    const overhead = (procedure.cpu - request.cpu) / request.cpu;
    console.info(`  overhead of a procedure: ${overhead.toFixed(2)}x of a bare request's CPU`);
  }
  if (cluster.binDir) pgbench(cluster.binDir, cluster.urls.request, users[0]?.id ?? "");
  const [ourMemory = 0, , , theirMemory = 1] = idle;
  console.info(
    `\nIdle memory: svc ${ourMemory.toFixed(0)} MiB, peer ${theirMemory.toFixed(0)} MiB, ${(ourMemory / theirMemory).toFixed(2)}x`,
  );
}

/** The identical statements, without Node in between. */
function pgbench(binDir: string, url: string, userId: string): void {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const statement = (name: string, argument: string) =>
    `${callText(name, 1).replace("$1", `'${userId}'`).replace("$2", "'svc_authenticated'").replace("$3", argument)};\n`;
  console.info("\npgbench, the same statements, 4 connections");
  for (const [name, argument] of [
    ["items_get", "1"],
    ["items_list", "'{}'"],
  ] as const) {
    const file = join(folder, `${name}.sql`);
    writeFileSync(file, statement(name, argument));
    const output = execFileSync(
      join(binDir, "pgbench"),
      ["-n", "-M", "prepared", "-f", file, "-T", "5", "-c", "4", url],
      {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    console.info(`  ${name.padEnd(16)} ${/tps = (\d+)/.exec(output)?.[1]?.padStart(7)}/s`);
  }
}
