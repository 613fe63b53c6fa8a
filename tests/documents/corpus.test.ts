// If this file fails, real documents lose text in the conversion, or a malicious one does more than fail.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { ConvertedDocument } from "../../src/contract/documents.ts";
import { convertDocument } from "../../src/documents/convert.ts";
import { type Child, startChild } from "../../src/documents/sandbox.ts";
import { SvcError } from "../../src/kit/svc-error.ts";
import {
  common,
  folder,
  inPairs,
  lettersOf,
  normalise,
  read,
  type Sample,
  samples,
  similarity,
  textRuns,
} from "./corpus.ts";

const convert = (sample: Sample, children?: { take(): Child }) =>
  convertDocument(read(sample.path), { filename: sample.path }, children && { children }).catch(
    (error: unknown) => error,
  );

/** Watches processes: the highest memory of one of them, in MiB. Only on Linux. */
function watched() {
  let most = 0;
  return {
    most: () => most,
    take() {
      const child = startChild();
      const status = `/proc/${child.process.pid}/status`;
      const look = () => {
        const text = existsSync(status) ? readFileSync(status, "utf8") : "";
        most = Math.max(most, Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024);
      };
      const clock = setInterval(look, 10);
      child.process.once("close", () => clearInterval(clock));
      return child;
    },
  };
}

if (!folder) console.warn("shared/corpora/documents is not here: its documents are not converted.");

describe.skipIf(!folder)("real documents", () => {
  const good = samples.filter((sample) => sample.class === "good");
  const results = new Map<string, ConvertedDocument>();
  const failures: string[] = [];

  beforeAll(async () => {
    await inPairs(good, async (sample) => {
      const result = await convert(sample);
      if (result instanceof Error) failures.push(`${sample.path}: ${result.message}`);
      else results.set(sample.path, result as ConvertedDocument);
    });
  }, 400_000);

  test("are all converted, by local providers", () => {
    expect(failures).toEqual([]);
    expect(good.length).toBeGreaterThan(50);
  });

  test("keep every sentence that was looked for, among them notes, comments and text in Korean and Japanese encodings", () => {
    const missing = good.flatMap(({ path, must_contain = [], any_of = [] }) => {
      const text = normalise(results.get(path)?.markdown ?? "");
      const has = (words: string) => text.includes(normalise(words));
      const isIn = (words: string) => has(words) || any_of.some((group) => group.includes(words) && group.some(has));
      return must_contain.filter((words) => !isIn(words)).map((words) => `${path}: ${words}`);
    });
    expect(missing).toEqual([]);
  });

  test("lose no text in silence: what an Office package says is in the result, or a warning says that it is not", async () => {
    const lost: string[] = [];
    for (const { path, kind } of good) {
      const found = results.get(path);
      if (!found || !["docx", "xlsx", "hwpx"].includes(kind)) continue;
      const text = lettersOf(found.markdown);
      const missing = (await textRuns(read(path), kind)).filter((run) => !text.includes(lettersOf(run)));
      if (missing.length > 0 && !found.warnings.some((warning) => /left out/.test(warning)))
        lost.push(path, ...missing);
    }
    expect(lost).toEqual([]);
  });

  test.each([
    ["docx", 0.98],
    ["xlsx", 0.9],
    ["pdf", 0.96],
    ["hwp", 0.75],
  ])("%s come as close to their references as %d", (kind, least) => {
    const scored = good.filter((sample) => sample.kind === kind && sample.reference?.endsWith(".md"));
    const scores = scored.map((sample) =>
      similarity(
        normalise(read(sample.reference as string).toString("utf8")),
        normalise(results.get(sample.path)?.markdown ?? ""),
      ),
    );
    expect(scores.length).toBeGreaterThan(2);
    expect(scores.reduce((sum, score) => sum + score, 0) / scores.length).toBeGreaterThanOrEqual(least);
  });

  // The references of HWPX are the text runs of its XML, without numbers of lists, signs of headings and tables.
  test("of HWPX have every letter of their references, in order", () => {
    const lacking = good.flatMap(({ path, kind, reference }) => {
      if (kind !== "hwpx" || !reference) return [];
      const [wanted, found] = [
        lettersOf(read(reference).toString("utf8")),
        lettersOf(results.get(path)?.markdown ?? ""),
      ];
      return wanted.length - common(wanted, found);
    });
    expect(lacking).toEqual(Array(7).fill(0));
  });

  test("keep headings with their levels, tables and notes", () => {
    const headers = results.get("docx/pandoc__headers.docx");
    expect(headers?.sections.map((section) => section.level)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(results.get("docx/docling__word_tables.docx")?.markdown.match(/^\| --- /gm)).toHaveLength(7);
    expect(results.get("docx/mammoth__footnotes.docx")?.markdown).toContain(
      "[^footnote-1]: A tachyon walks into a bar.",
    );
    expect(results.get("pdf/docling__multi_page.pdf")?.pages).toHaveLength(5);
  });

  test("go to the second parser where the first one dropped something, and say so", () => {
    expect(results.get("docx/mammoth__footnotes.docx")?.providerTrace).toMatchObject([
      { provider: "parser_a", outcome: "poor", reason: "It dropped a note." },
      { provider: "parser_b", outcome: "used" },
    ]);
    expect(results.get("docx/pandoc__headers.docx")?.providerTrace).toMatchObject([
      { provider: "parser_a", outcome: "used" },
    ]);
  });
});

describe.skipIf(!folder)("broken and malicious documents", () => {
  const bad = samples.filter((sample) => sample.class === "bad");
  const expected: Record<string, string[]> = {
    "bounded_memory: reject or leave entities unexpanded": ["DOCUMENT_UNREADABLE"],
    no_external_fetch: ["DOCUMENT_UNREADABLE"],
    error_not_crash: ["DOCUMENT_UNREADABLE", "DOCUMENT_PAID_FALLBACK_REQUIRED", "converted"],
    encrypted_error: ["DOCUMENT_ENCRYPTED"],
    bounded_memory: ["DOCUMENT_PAID_FALLBACK_REQUIRED", "converted"],
    converts: ["converted"],
    converts_or_typed_error: ["converted", "DOCUMENT_UNREADABLE"],
    reject: ["DOCUMENT_UNREADABLE"],
    "nothing_written_outside; converts_or_reject": ["DOCUMENT_UNREADABLE"],
    bounded_output: ["converted"],
  };
  const outcomes = new Map<string, { outcome: string; text: string; seconds: number; mebibytes: number }>();

  beforeAll(async () => {
    await inPairs(bad, async (sample) => {
      const children = watched();
      const start = performance.now();
      const result = await convert(sample, children);
      const took = { seconds: (performance.now() - start) / 1000, mebibytes: children.most() };
      const { outcome, text } =
        result instanceof SvcError
          ? { outcome: result.code, text: result.message }
          : result instanceof Error
            ? { outcome: "crashed", text: String(result.stack) }
            : { outcome: "converted", text: (result as ConvertedDocument).markdown };
      outcomes.set(sample.path, { outcome, text, ...took });
    });
  }, 400_000);

  test.each(bad.map((sample) => [sample.path, sample.expect ?? ""]))("%s: %s", (path, reaction) => {
    const { outcome = "none", text = "", seconds = 61, mebibytes = 513 } = outcomes.get(path) ?? {};
    expect(expected[reaction], text).toContain(outcome);
    expect(seconds).toBeLessThan(60);
    expect(mebibytes).toBeLessThan(512);
    expect(text.length).toBeLessThan(100_000);
  });

  test("a sheet that says it has 17 thousand million cells comes out with its two", () => {
    expect(outcomes.get("bad/own__hugesheet.xlsx")?.text).toContain("first cell");
  });

  test("write nothing outside", () => {
    expect(existsSync(join("/tmp", "own_zipslip_marker"))).toBe(false);
  });
});
