/**
 * If this file fails, a malicious document or image that takes over the process that reads it can reach the network,
 * another process, or a file of the application. The attempts run with the flags and guards of both kinds of child
 * processes.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runSandboxed, startChild } from "../../src/documents/sandbox.ts";
import { startImageChild } from "../../src/storage/image-children.ts";
import { root } from "../support/global-setup.ts";

const run = promisify(execFile);
const guard = join(root, "src/kit/no-network.ts");

/** A file of another package of the application: installed, but not loaded by any engine. */
const stranger = join(root, "node_modules", `stranger-${process.pid}`);
/** A file beside our own code, such as an `.env`. */
const secret = join(mkdtempSync(join(tmpdir(), "svc-reach-")), ".env");
const victim = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });

beforeAll(async () => {
  writeFileSync(stranger, "module.exports = 1");
  writeFileSync(secret, "SECRET=1");
  if (victim.pid === undefined) await once(victim, "spawn");
});
afterAll(() => {
  rmSync(stranger);
  victim.kill();
});

const flagsOf = {
  conversion: () => startChild().process,
  picture: () => startImageChild(),
};

/** Runs each attempt in a child of this kind. @returns the results */
async function attempt(kind: keyof typeof flagsOf, attempts: readonly string[]): Promise<string[]> {
  const child = flagsOf[kind]();
  child.kill("SIGKILL");
  const flags = child.spawnargs.slice(1).filter((argument) => argument.startsWith("--"));
  const text = `
    (async () => {
      const results = [];
      for (const attempt of [${attempts.map((each) => `async () => (${each})`).join(",")}]) {
        try { await attempt(); results.push("done"); } catch (error) { results.push(error.code ?? error.message); }
      }
      console.log(JSON.stringify(results));
      process.exit();
    })();`;
  const { stdout } = await run(process.execPath, [...flags, "--import", guard, "-e", text], { env: {} });
  return JSON.parse(stdout);
}

const quoted = JSON.stringify;
const network = [
  'new (require("dns").Resolver)().resolve4("localhost", () => {})',
  'new (require("dns").Resolver)().setServers(["127.0.0.1"])',
  'new (require("dns").promises.Resolver)().resolve("localhost")',
  'require("dns").promises.lookup("localhost")',
  'require("dns/promises").resolveTxt("localhost")',
  'import("node:dns").then(({ lookup }) => lookup("localhost", () => {}))',
  'import("node:dns/promises").then(({ resolve }) => resolve("localhost"))',
  'require("dns").resolveAny("localhost", () => {})',
  'require("dns").reverse("127.0.0.1", () => {})',
  'require("dns").lookupService("127.0.0.1", 80, () => {})',
  'require("dgram").createSocket("udp4")',
  'new (require("dgram").Socket)("udp4").send("x", 53, "127.0.0.1")',
  'new (require("dgram").Socket)("udp4").bind(0)',
  'new (require("net").Socket)().connect(1, "127.0.0.1")',
  'require("tls").connect(1, "127.0.0.1")',
  'require("http2").connect("http://127.0.0.1:1").on("error", () => {})',
  'require("net").createServer().listen(0)',
  'require("http").createServer().listen(0)',
  'fetch("http://127.0.0.1:1/")',
  'new WebSocket("ws://127.0.0.1:1/")',
];
const processes = [
  `process.kill(${victim.pid}, "SIGTERM")`,
  `process.kill(${victim.pid}, 0)`,
  `import("node:process").then(({ kill }) => kill(${victim.pid}, "SIGTERM"))`,
  `process._kill(${victim.pid}, 15)`,
  `process._debugProcess(${victim.pid})`,
  `require("os").setPriority(${victim.pid}, 19)`,
  'process.binding("tcp_wrap")',
];
const files = [
  `require("fs").readFileSync(${quoted(secret)})`,
  `require("fs").readFileSync(${quoted(stranger)})`,
  `require(${quoted(stranger)})`,
  `require("fs").readFileSync(${quoted(join(root, "package.json"))})`,
  `require("fs").readFileSync(${quoted(join(root, "src/auth/sessions/jwt.ts"))})`,
  `require("fs").readdirSync(${quoted(join(root, "node_modules"))})`,
  `require("fs").readFileSync(${quoted(join(root, "node_modules/pg/package.json"))})`,
  'require("fs").readFileSync("/etc/passwd")',
  'require("fs").readFileSync("/proc/self/environ")',
  `require("fs").writeFileSync(${quoted(join(tmpdir(), "svc-reached"))}, "x")`,
  'require("child_process").execFileSync("true")',
  'new (require("worker_threads").Worker)("", { eval: true })',
];

describe.each(Object.keys(flagsOf) as (keyof typeof flagsOf)[])("a %s", (kind) => {
  let results: string[];
  beforeAll(async () => {
    results = await attempt(kind, [...network, ...processes, ...files]);
  });

  test("has no network, by whichever door", () => {
    const refused = network.map(() => "A conversion has no network.");
    expect(results.slice(0, network.length)).toEqual(refused);
  });

  test("has no other processes", () => {
    const refused = processes.map(() => "A conversion has no other processes.");
    expect(results.slice(network.length, -files.length)).toEqual(refused);
    expect([victim.exitCode, victim.signalCode]).toEqual([null, null]);
  });

  test("reads what it loads and no other file, and writes and starts nothing", () => {
    expect(results.slice(-files.length)).toEqual(files.map(() => "ERR_ACCESS_DENIED"));
    expect(existsSync(join(tmpdir(), "svc-reached"))).toBe(false);
  });
});

test("pages are drawn with what may be read", async () => {
  const page = `%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>> endobj
4 0 obj <</Type/Font/Subtype/Type1/BaseFont/Times-Roman>> endobj
5 0 obj <</Length 35>> stream
BT /F 9 Tf 9 50 Td (warm up) Tj ET
endstream endobj
trailer <</Root 1 0 R>>
`;
  const blank = page.replace("warm up", "       ");
  const draw = async (text: string) => {
    const task = { engine: "pictures", kind: "pdf", numbers: [1] } as const;
    const { pages } = await runSandboxed(task, Buffer.from(text, "latin1"), {});
    return pages[0]?.length ?? 0;
  };
  expect(await draw(page)).toBeGreaterThan((await draw(blank)) + 500);
});

test("the attempts are possible for a process without the guard", async () => {
  const text = `require("dns").promises.lookup("127.0.0.1").then(() => {
    process.kill(${victim.pid}, 0);
    require("fs").readFileSync(${quoted(secret)});
    console.log("done");
  })`;
  expect((await run(process.execPath, ["-e", text])).stdout.trim()).toBe("done");
});
