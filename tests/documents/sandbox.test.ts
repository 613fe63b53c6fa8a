// If this file fails, a document that takes too long or too much memory stops the service, or reaches the network.
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { convertDocument } from "../../src/documents/convert.ts";
import { Child, EngineFailure, runSandboxed, startChild } from "../../src/documents/sandbox.ts";
import { root } from "../support/global-setup.ts";
import { pdf } from "../support/papers.ts";

const run = promisify(execFile);
/** A process that reads its task, prints an answer that this makes, and ends. */
const answering = (text: string) =>
  new Child(
    spawn(process.execPath, [
      "-e",
      `process.stdin.once("data", () => {
        const text = Buffer.from(${text});
        const lengths = Buffer.alloc(8);
        lengths.writeUInt32BE(text.length);
        process.stdout.write(Buffer.concat([lengths, text]), () => process.exit(0));
      })`,
    ]),
  );
const task = { engine: "local_text", kind: "html" } as const;

test("an engine that is not ready in time is ended", async () => {
  const ended = runSandboxed(task, Buffer.from("<p>text</p>"), { timeMs: 1 });
  await expect(ended).rejects.toEqual(new EngineFailure("It took too long."));
});

test("an engine that takes more memory than it has is ended", async () => {
  const large = Buffer.from(`<p>${"<i>word</i> ".repeat(400_000)}</p>`);
  await expect(runSandboxed(task, large, { memoryBytes: 96 * 1024 * 1024 })).rejects.toBeInstanceOf(EngineFailure);
});

describe("a process that ends well with an answer that is no answer fails the conversion alone", () => {
  const answers: [name: string, print: string, reason: string][] = [
    ["nothing", "", "Its answer cannot be read."],
    ["half of one", '{"result":{"markdown":"te', "Its answer cannot be read."],
    ["null", "null", "Its answer cannot be read."],
    ["neither a result nor an error", "{}", "Its answer cannot be read."],
    ["an error with a code that there is not", '{"error":{"code":"x","message":"y"}}', "Its answer cannot be read."],
  ];
  test.each(answers)("%s", async (_, print, reason) => {
    const child = answering(JSON.stringify(print));
    await expect(runSandboxed(task, Buffer.from("x"), {}, child)).rejects.toEqual(new EngineFailure(reason));
  });

  test("one that is too large", async () => {
    const child = answering(`JSON.stringify({ result: { markdown: "x".repeat(64 * 1024 * 1024) } })`);
    const ended = runSandboxed(task, Buffer.from("x"), {}, child);
    await expect(ended).rejects.toEqual(new EngineFailure("Its text is larger than is kept here."));
  });

  test("bytes without a message", async () => {
    const script = 'process.stdin.once("data", () => process.stdout.write("no message", () => process.exit(0)))';
    const child = new Child(spawn(process.execPath, ["-e", script]));
    const ended = runSandboxed(task, Buffer.from("x"), {}, child);
    await expect(ended).rejects.toBeInstanceOf(EngineFailure);
  });
});

test("a conversion that is called off ends its process, and says why", async () => {
  const controller = new AbortController();
  const child = startChild();
  const running = runSandboxed(task, Buffer.from("<p>text</p>"), { signal: controller.signal }, child);
  const reason = new Error("the worker ends");
  controller.abort(reason);
  await expect(running).rejects.toBe(reason);
  expect(child.process.signalCode).toBe("SIGKILL");
  const late = startChild();
  await expect(runSandboxed(task, Buffer.from("x"), { signal: controller.signal }, late)).rejects.toBe(reason);
  expect(late.process.signalCode).toBe("SIGKILL");
});

describe("a process that something else kills, such as the kernel without memory,", () => {
  const killing = (count: number) => {
    const started: Child[] = [];
    const take = () => {
      const child = startChild();
      if (started.push(child) <= count) child.end();
      return child;
    };
    return { started, take };
  };

  test("is started once more", async () => {
    const children = killing(1);
    const { markdown, providerTrace } = await convertDocument(Buffer.from("text"), {}, { children });
    expect(markdown).toBe("text");
    expect(providerTrace).toMatchObject([{ provider: "local_text", outcome: "used" }]);
    expect(children.started).toHaveLength(2);
  });

  test("is reported as killed, not as a document that cannot be read", async () => {
    const children = killing(2);
    const why = "local_text: Its process was killed, as when the machine has no memory left.";
    await expect(convertDocument(Buffer.from("text"), {}, { children })).rejects.toThrow(why);
    expect(children.started).toHaveLength(2);
  });
});

test("no file of the machine is read, none is written, and no program is started", async () => {
  const child = startChild();
  child.end();
  const flags = child.process.spawnargs.slice(1, -1);
  const target = join(tmpdir(), "svc-written-by-a-document");
  const attempts = `
    const fs = require("fs"), { execFileSync } = require("child_process"), { Worker } = require("worker_threads");
    const tries = [
      () => fs.readFileSync("/etc/passwd"),
      () => fs.readdirSync(${JSON.stringify(tmpdir())}),
      () => fs.writeFileSync(${JSON.stringify(target)}, "x"),
      () => fs.writeFileSync(${JSON.stringify(join(root, "package.json"))}, "x"),
      () => execFileSync("true"),
      () => new Worker("", { eval: true }),
      () => process.dlopen({ exports: {} }, "/lib/x86_64-linux-gnu/libc.so.6"),
    ];
    for (const attempt of tries) try { attempt(); console.log("done"); } catch (error) { console.log(error.code); }`;
  const { stdout } = await run(process.execPath, [...flags, "-e", attempts], { env: {} });
  expect(stdout.trim().split("\n")).toEqual([...Array(6).fill("ERR_ACCESS_DENIED"), "ERR_DLOPEN_DISABLED"]);
  expect(existsSync(target)).toBe(false);
});

test("no kind of socket is opened", async () => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked++;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const attempts = `
    const url = "http://127.0.0.1:${port}/";
    const tries = [
      () => fetch(url),
      () => new Promise((done, fail) => require("http").get(url, done).on("error", fail)),
      () => new Promise((done, fail) => require("net").connect(${port}, "127.0.0.1", done).on("error", fail)),
    ];
    (async () => {
      for (const attempt of tries) {
        try { await attempt(); console.log("opened"); } catch (error) { console.log(error.message); }
      }
      process.exit();
    })();`;
  try {
    const open = await run(process.execPath, ["-e", attempts]);
    expect(open.stdout.trim().split("\n")).toEqual(["opened", "opened", "opened"]);
    expect(asked).toBe(2);
    const guard = join(root, "src/kit/no-network.ts");
    const { stdout } = await run(process.execPath, ["--import", guard, "-e", attempts]);
    expect(stdout.trim().split("\n")).toEqual(Array(3).fill("A conversion has no network."));
    expect(asked).toBe(2);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("a PDF with text is read once, also where OCR is wanted for scanned pages", async () => {
  let started = 0;
  const take = () => {
    started++;
    return startChild();
  };
  const paper = pdf([["The harbour crane lifts nine tons of steel."]]);
  const { providerTrace } = await convertDocument(paper, { mode: "force-ocr" }, { children: { take } });
  expect(providerTrace).toMatchObject([{ provider: "parser_a", outcome: "used" }]);
  expect(started).toBe(1);
});
