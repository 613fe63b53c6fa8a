/** The collection of real documents beside the project, and the scores of their conversions. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DOMParser } from "@xmldom/xmldom";
import JSZip from "jszip";

export interface Sample {
  path: string;
  kind: string;
  class: "good" | "bad";
  must_contain?: string[];
  any_of?: string[][];
  reference?: string;
  expect?: string;
}

/** The nearest shared/corpora/documents above this file, or null. */
export const folder = find(import.meta.dirname);

function find(from: string): string | null {
  const here = join(from, "shared/corpora/documents");
  if (existsSync(join(here, "manifest.jsonl"))) return here;
  return dirname(from) === from ? null : find(dirname(from));
}

export const samples: Sample[] = folder
  ? readFileSync(join(folder, "manifest.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
  : [];

export const read = (path: string) => readFileSync(join(folder as string, path));

/** Letters and figures as a reader sees them: without Markdown and HTML, with one space between words. */
export function normalise(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/<[^>]{1,200}>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&nbsp;", " ")
    .replaceAll("&amp;", "&")
    .replace(/[\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .replace(/[\\*_#`|>~[\]]/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * Twice the longest common subsequence over both lengths: 1 when they are equal, 0 when they have nothing in common.
 */
export function similarity(one: string, other: string): number {
  const letters = [...one].length + [...other].length;
  return letters === 0 ? 1 : (2 * common(one, other)) / letters;
}

/** The length of the longest common subsequence. */
export function common(one: string, other: string): number {
  const [a, b] = [[...one], [...other]];
  const places = new Map<string, bigint>();
  a.forEach((sign, at) => {
    places.set(sign, (places.get(sign) ?? 0n) | (1n << BigInt(at)));
  });
  const all = (1n << BigInt(a.length)) - 1n;
  let row = all;
  for (const sign of b) {
    const shared = row & (places.get(sign) ?? 0n);
    row = ((row + shared) | (row - shared)) & all;
  }
  return a.length - row.toString(2).replaceAll("0", "").length;
}

/** Letters and digits alone: how they are spaced and marked does not matter. */
export const lettersOf = (text: string) => normalise(text).replace(/[^\p{L}\p{N}]/gu, "");

/** The runs of text of an Office package's body, as an XML reader finds them: not those that were deleted or moved away. */
export async function textRuns(bytes: Buffer, kind: string): Promise<string[]> {
  const zip = await JSZip.loadAsync(bytes);
  const body = {
    docx: /^word\/document\d*\.xml$/,
    xlsx: /^xl\/sharedStrings\.xml$/,
    hwpx: /^Contents\/section\d+\.xml$/,
  };
  const runs: string[] = [];
  for (const file of zip.file(body[kind as keyof typeof body])) {
    const xml = (await file.async("string")).replace(/^\ufeff/, "");
    for (const run of new DOMParser().parseFromString(xml, "text/xml").getElementsByTagNameNS("*", "t")) {
      const above: string[] = [];
      for (let node = run.parentNode; node; node = node.parentNode)
        above.push((node as { localName?: string }).localName ?? "");
      if (!above.some((name) => ["del", "moveFrom", "Fallback", "rPh"].includes(name)))
        runs.push(run.textContent ?? "");
    }
  }
  return runs;
}

/** Runs two at a time, for a machine with two cores. */
export async function inPairs<T, R>(items: T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const work = async () => {
    for (const [at, item] of queue) results[at] = await run(item);
  };
  await Promise.all([work(), work()]);
  return results;
}
