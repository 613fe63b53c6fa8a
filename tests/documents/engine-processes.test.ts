// If this file fails, a document meets what another one left in its process, or conversions leave processes behind.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { convertDocument } from "../../src/documents/convert.ts";
import { EngineProcesses } from "../../src/documents/engine-processes.ts";
import { type Child, EngineFailure, runSandboxed, startChild } from "../../src/documents/sandbox.ts";
import type { Task } from "../../src/documents/types.ts";
import { collectGarbage } from "../support/collect-garbage.ts";
import { pdf } from "../support/papers.ts";

const html = { engine: "local_text", kind: "html" } as const;
const reading = { engine: "parser_a", kind: "pdf" } as const;
const paper = (text: string) => pdf([[text]]);
const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name));

/** Processes, with all that were started. */
function processes() {
  const started: Child[] = [];
  const children = new EngineProcesses((...options) => {
    const child = startChild(...options);
    started.push(child);
    return child;
  });
  return { children, started };
}
const ended = (children: Child[]) =>
  Promise.all(children.filter(({ isOver }) => !isOver).map(({ process }) => once(process, "close")));

describe("of documents other than PDF", () => {
  test("one process is kept ready for the next document, and every document has its own", async () => {
    const spare = new EngineProcesses();
    try {
      const children = [spare.take(), spare.take(), spare.take()];
      expect(new Set(children.map(({ process }) => process.pid)).size).toBe(3);
      expect(children.map(({ process }) => process.spawnargs.at(-1) === "spare")).toEqual([false, true, true]);
      const results = children.map((child) =>
        runSandboxed(html, Buffer.from(`<p>${child.process.pid}</p>`), {}, child),
      );
      expect((await Promise.all(results)).map(({ markdown }) => markdown)).toEqual(
        children.map(({ process }) => `${process.pid}`),
      );
    } finally {
      spare.close();
    }
  });

  test("a process that ended while it waited is not given a document, and the last one ends with its owner", async () => {
    const started: Child[] = [];
    const spare = new EngineProcesses((...options) => {
      const child = startChild(...options);
      started.push(child);
      return child;
    });
    spare.take().end();
    const [waiting] = started;
    waiting?.end();
    await once((waiting as Child).process, "close");
    const { markdown } = await convertDocument(Buffer.from("text"), {}, { children: spare });
    expect(markdown).toBe("text");
    spare.close();
    await Promise.all(started.filter(({ isOver }) => !isOver).map(({ process }) => once(process, "close")));
  });
});

describe("of PDF", () => {
  const read = async (children: EngineProcesses, bytes: Buffer, task: Task = reading) => {
    const child = children.take(task);
    let released: unknown;
    const release = (one: Child) => {
      released = children.release(task)(one);
    };
    const result = await runSandboxed(task, bytes, {}, child, release).finally(() => released);
    return { child, markdown: result.markdown };
  };

  test("one process reads one after the other, and those at the same time have one each", async () => {
    const { children, started } = processes();
    const one = await read(children, paper("one"));
    const two = await read(children, paper("two"));
    expect([one.markdown, two.markdown]).toEqual(["one", "two"]);
    expect(two.child).toBe(one.child);
    const both = await Promise.all([read(children, paper("three")), read(children, paper("four"))]);
    expect(both.map(({ markdown }) => markdown)).toEqual(["three", "four"]);
    expect(new Set(both.map(({ child }) => child)).size).toBe(2);
    expect(started).toHaveLength(2);
    children.close();
    await ended(started);
  });

  test("each gives what it gives alone, also after one that cannot be read or is locked", async () => {
    const { children, started } = processes();
    const names = ["arabic.pdf", "letter.pdf", "columns.pdf"];
    const alone = await Promise.all(names.map((name) => convertDocument(fixture(name))));
    const broken = fixture("columns.pdf").subarray(0, 4_000);
    await convertDocument(broken, {}, { children }).catch(() => {});
    for (const [at, name] of names.entries()) {
      const { markdown } = await convertDocument(fixture(name), {}, { children });
      expect(markdown).toBe(alone[at]?.markdown);
    }
    children.close();
    await ended(started);
  });

  test("a process whose engine failed ends: it may be at fault", async () => {
    const { children, started } = processes();
    const child = children.take(reading);
    const broken = fixture("columns.pdf").subarray(0, 400);
    const failed = runSandboxed(reading, broken, {}, child, children.release(reading));
    await expect(failed).rejects.toBeInstanceOf(EngineFailure);
    expect(child.process.killed).toBe(true);
    expect((await read(children, paper("two"))).child).not.toBe(child);
    children.close();
    await ended(started);
  });

  test("the second parser has a process of its own, which ends", async () => {
    const { children, started } = processes();
    const second = { engine: "parser_b", kind: "pdf" } as const;
    const one = await read(children, paper("one"), second);
    await ended([one.child]);
    expect((await read(children, paper("two"))).child).not.toBe(one.child);
    children.close();
    await ended(started);
  });

  test("one that ended while it waited is not asked", async () => {
    const { children, started } = processes();
    const { child } = await read(children, paper("one"));
    child.end();
    await ended([child]);
    expect((await read(children, paper("two"))).markdown).toBe("two");
    const [older, newer] = [children.take(reading), children.take(reading)];
    for (const one of [older, newer]) await children.release(reading)(one);
    newer.end();
    await ended([newer]);
    expect((await read(children, paper("three"))).child).toBe(older);
    children.close();
    await ended(started);
  });

  test("one that waits keeps neither the document nor the answer in memory here", async () => {
    const { children, started } = processes();
    const [sent, answered] = await (async () => {
      const child = children.take(reading);
      const bytes = Buffer.from(paper("one"));
      const answer = await child.ask(reading, bytes);
      await children.release(reading)(child);
      return [new WeakRef(bytes), new WeakRef(answer as object)];
    })();
    await new Promise(setImmediate);
    collectGarbage();
    expect([sent?.deref(), answered?.deref()]).toEqual([undefined, undefined]);
    children.close();
    await ended(started);
  });

  test("one that is given back after the end of all ends", async () => {
    const { children, started } = processes();
    const child = children.take(reading);
    children.close();
    const release = children.release(reading);
    expect((await runSandboxed(reading, paper("one"), {}, child, release)).markdown).toBe("one");
    await ended(started);
  });
});
