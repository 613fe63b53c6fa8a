/**
 * Published collections with judged queries, if this machine has them: `shared/corpora` beside or above the project.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../support/global-setup.ts";

export interface Judged {
  docs: { id: string; title?: string; text: string }[];
  queries: { id: string; text: string }[];
  /** Relevant documents by query. */
  relevant: Map<string, Map<string, number>>;
}

/** The folder `shared/corpora`, or null. */
export function corporaFolder(): string | null {
  for (let folder = root; ; folder = dirname(folder)) {
    const corpora = join(folder, "shared", "corpora");
    if (existsSync(corpora)) return corpora;
    if (folder === dirname(folder)) return null;
  }
}

export function judged(folder: string, set: string): Judged {
  const read = (name: string) =>
    readFileSync(join(folder, "retrieval", set, name), "utf8")
      .trim()
      .split("\n");
  const relevant: Judged["relevant"] = new Map();
  for (const line of read("qrels.tsv").slice(1)) {
    const [query = "", doc = "", grade] = line.split("\t");
    if (Number(grade) > 0) relevant.set(query, (relevant.get(query) ?? new Map()).set(doc, Number(grade)));
  }
  return {
    docs: read("docs.jsonl").map((line) => JSON.parse(line)),
    queries: read("queries.jsonl").map((line) => JSON.parse(line)),
    relevant,
  };
}

/** Normalised discounted cumulative gain of the first ten, as trec_eval computes it. */
export function ndcg(found: readonly string[], relevant: ReadonlyMap<string, number>): number {
  const gain = (grades: readonly number[]) =>
    grades.reduce((sum, grade, place) => sum + grade / Math.log2(place + 2), 0);
  const best = [...relevant.values()].sort((a, b) => b - a).slice(0, 10);
  return gain(found.slice(0, 10).map((id) => relevant.get(id) ?? 0)) / gain(best);
}
