// If this file fails, an operator cannot find in the log what happened to one request, or reads a secret in it.
import { spawn } from "node:child_process";
import { appendFile, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { explain } from "../../src/cli/explain.ts";
import { follow, parseLine, wanted } from "../../src/cli/log-lines.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { mask } from "../../src/telemetry/mask.ts";
import { formatEntry } from "../../src/telemetry/pretty-log.ts";
import { root } from "../support/global-setup.ts";

const folder = await mkdtemp(join(tmpdir(), "svc-logs-"));
afterAll(() => rm(folder, { recursive: true }));

const at = (minute: number) => Date.UTC(2026, 0, 1, 12, minute);
const entries = [
  {
    level: 30,
    time: at(0),
    pid: 1,
    requestId: "r1",
    userId: "ann",
    method: "POST",
    operation: "tasks.list",
    status: 200,
    ms: 1.5,
    msg: "done",
  },
  {
    level: 30,
    time: at(1),
    pid: 1,
    requestId: "r2",
    method: "POST",
    operation: "tasks.create",
    status: 401,
    ms: 0.4,
    code: "UNAUTHORIZED",
    msg: "refused",
  },
  {
    level: 50,
    time: at(2),
    pid: 1,
    requestId: "r3",
    userId: "bob",
    trace_id: "abc",
    method: "GET",
    operation: "/api/report",
    status: 500,
    ms: 9,
    err: { message: "broke", stack: "Error: broke\n    at report" },
    msg: "failed",
  },
  { level: 40, time: at(3), pid: 2, job: "7", kind: "procedure", msg: "job failed" },
];
const text = `${entries.map((entry) => JSON.stringify(entry)).join("\n")}\n`;

const logs = (args: string[], input = text, env = {}) =>
  new Promise<{ code: number | null; out: string; error: string }>((resolve) => {
    const child = spawn(process.execPath, [join(root, "src/cli/svc.ts"), "logs", ...args], {
      env: { ...process.env, ...env },
    });
    let [out, error] = ["", ""];
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      error += chunk;
    });
    child.on("close", (code) => resolve({ code, out, error }));
    child.stdin.end(input);
  });

test("svc logs shows lines from a pipe for a person, what is no entry too, without colours and control characters", async () => {
  const { code, out } = await logs([], `a line\u001b[2J of a \u009b1Alibrary\n${text}`);
  expect(code).toBe(0);
  expect(out.split("\n")).toEqual([
    "a line[2J of a 1Alibrary",
    expect.stringMatching(/^\d\d:\d\d:00 info {2}POST tasks.list 200 1.5 ms done userId="ann"$/),
    expect.stringMatching(/info {2}POST tasks.create 401 0.4 ms refused code="UNAUTHORIZED" r2$/),
    expect.stringMatching(/error GET \/api\/report 500 9 ms failed userId="bob" r3$/),
    "  Error: broke",
    "      at report",
    expect.stringMatching(/warn {2}job failed job="7" kind="procedure"$/),
    "",
  ]);
});

test("svc logs takes filters, and says what is wrong with one", async () => {
  const { out } = await logs(["--level", "warn", "--until", "2026-01-01T12:02:30Z", "--json"], `noise\n${text}`);
  expect(out).toBe(`${JSON.stringify(entries[2])}\n`);
  const inUtc = await logs(["--since", "2026-01-01T12:02:30", "--json"], text, { TZ: "Asia/Seoul" });
  expect(inUtc.out).toBe(`${JSON.stringify(entries[3])}\n`);
  for (const time of ["yesterday", "2026-02-30"]) {
    const wrong = await logs(["--since", time]);
    expect([wrong.code, wrong.error]).toEqual([1, expect.stringContaining(`--since ${time} is not a time.`)]);
  }
});

describe("a filter finds", () => {
  test.for([
    [{ level: 40 }, [2, 3]],
    [{ request: "r2" }, [1]],
    [{ user: "ann" }, [0]],
    [{ operation: "tasks.*" }, [0, 1]],
    [{ operation: "tasks.list" }, [0]],
    [{ operation: "procedure" }, [3]],
    [{ trace: "abc" }, [2]],
    [{ job: "7" }, [3]],
    [{ since: at(1), until: at(2) }, [1, 2]],
    [{ since: at(1), user: "ann" }, []],
    [{}, [0, 1, 2, 3]],
  ] as const)("%o", ([filter, found]) => {
    expect(
      entries.map((_, index) => index).filter((index) => wanted(entries[index] as object as never, filter)),
    ).toEqual(found);
  });

  test("nothing in what is no entry", () => {
    for (const line of ["", "text", "{", "[1]", '{"a":1}', '{"level":"30","time":1}'])
      expect(parseLine(line)).toBeNull();
  });
});

test("a file is followed: what was there, what is added in pieces, and what comes after it was rotated", async () => {
  const file = join(folder, "svc.log");
  await writeFile(file, "one\ntw");
  const stop = new AbortController();
  const seen: string[] = [];
  const reading = (async () => {
    for await (const line of follow(file, stop.signal)) seen.push(line);
  })();
  await expect.poll(() => seen).toEqual(["one"]);
  await appendFile(file, Buffer.from("o é", "utf8").subarray(0, 3));
  await appendFile(file, Buffer.concat([Buffer.from("é").subarray(1), Buffer.from("\n")]));
  await expect.poll(() => seen).toEqual(["one", "two é"]);
  await rename(file, `${file}.1`);
  await appendFile(`${file}.1`, "late\n");
  await expect.poll(() => seen).toEqual(["one", "two é", "late"]);
  await writeFile(file, "three\n");
  await expect.poll(() => seen).toEqual(["one", "two é", "late", "three"]);
  await writeFile(file, "4\n");
  await expect.poll(() => seen).toEqual(["one", "two é", "late", "three", "4"]);
  stop.abort();
  await reading;
});

test("what others wrote cannot steer the terminal", () => {
  const line = formatEntry({
    level: 30,
    time: 0,
    msg: "a\u001b[2Jb\u009b31m",
    title: "\u009b2J",
    requestId: "\u001b]0;x\u0007",
  });
  // Ours are these four colours.
  const own = ["2", "22", "36", "39"].reduce((rest, code) => rest.replaceAll(`\u001b[${code}m`, ""), line);
  expect(own).toMatch(/^[^\p{Cc}]*$/u);
  expect(own).toContain("a[2Jb31m");
});

test("an error with an empty stack, as better-auth makes them, shows its message", () => {
  const entry = { level: 50, time: 0, msg: "failed", err: { message: "State mismatch", stack: "" } };
  expect(formatEntry(entry)).toMatch(/\n {2}State mismatch$/);
  const error = Object.assign(new Error("no table"), { name: "BetterAuthError", stack: "" });
  expect(explain(error, "/nowhere")).toBe("BetterAuthError: no table");
});

test("a stack shows the frames of the application, or all if there are no others", () => {
  const ours = "    at file:///app/backend/notes.ts:3:9";
  const theirs = ["    at node:internal/process:1:1", "    at file:///app/node_modules/pg/client.js:2:2"];
  const shown = (...frames: string[]) =>
    formatEntry({ level: 50, time: 0, msg: "failed", err: { stack: ["Error: boom", ...frames].join("\n") } })
      .split("\n")
      .slice(1)
      .map((line) => line.slice(2));
  expect(shown(theirs[1] as string, ours, theirs[0] as string)).toEqual(["Error: boom", ours]);
  expect(shown(...theirs)).toEqual(["Error: boom", ...theirs]);
});

describe("a secret is known by its shape, and does not get into the log", () => {
  const canary = "canaryCANARY0123456789canary";
  const jwt = `eyJhbGciOiJIUzI1NiJ9.${canary}.${canary}`;
  const planted = [
    `fetch failed: https://user:${canary}@host/path`,
    `connect postgres://svc:${canary}@db:5432/app`,
    `connect postgres://svc:an@${canary}@db:5432/app`,
    `Authorization: Bearer ${canary}`,
    `authorization: basic ${canary}==`,
    `GET /api/storage/1?w=10&grant=${canary}&x=1`,
    `/verify?token=${canary}`,
    `/callback/google?state=${canary}&code=${canary}`,
    `/ws?ticket=${canary}`,
    `https://s3.example.com/a?X-Amz-Signature=${canary}&X-Amz-Credential=${canary}`,
    `cookie: authlib.session_token=${canary}; other=1`,
    `key sk-proj-${canary}`,
    `id ${jwt} ended`,
    `-----BEGIN PRIVATE KEY-----\n${canary}\n-----END PRIVATE KEY-----`,
  ];

  test.for(planted)("%s", (secret) => {
    expect(mask(secret)).not.toContain(canary);
    const lines: string[] = [];
    const log = createLog("info", { write: (line) => void lines.push(line) });
    log.info(secret);
    log.info("%s and more", secret);
    log.warn({ where: secret, list: [{ deep: secret }] }, "in a member");
    log.error({ err: new Error(secret, { cause: new Error(secret) }) }, "in an error");
    log.error(new Error(secret));
    log.error({ err: Object.assign(new Error(`${secret}`), { severity: "ERROR", code: "P0001" }) });
    expect(lines).toHaveLength(6);
    expect(lines.join("")).not.toContain(canary);
  });

  test("an error of the database that is logged alone lends its line no message that quotes a value", () => {
    const lines: string[] = [];
    const log = createLog("info", { write: (line) => void lines.push(line) });
    const refused = Object.assign(new Error(`invalid input syntax for type integer: "${canary}"`), {
      severity: "ERROR",
      code: "22P02",
    });
    log.error(refused);
    log.error({ err: refused });
    expect(lines).toHaveLength(2);
    expect(lines.join("")).toContain("22P02");
    expect(lines.join("")).not.toContain(canary);
  });

  test("however long a text is, looking at it takes no longer than that", () => {
    for (const part of ["a.", "eyJ", "a-", "token", "https://a:", "AKIA", "-----BEGIN "]) {
      expect(mask(part.repeat(20_000))).toHaveLength(part.length * 20_000);
    }
  });

  test("what is none stays as it is", () => {
    for (const kept of [
      "POST /api/query tasks.list took 12 ms",
      "https://example.com/a/b?page=2&limit=20#top",
      "basic questions and bearer of news",
      "a token was refused; the secret is out; code 500",
      "3f2b8c1a-1111-4222-8333-abcdefabcdef",
      "0af7651916cd43dd8448eb211c80319c",
    ]) {
      expect(mask(kept)).toBe(kept);
    }
  });
});
