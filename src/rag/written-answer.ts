/**
 * The `write` option of `ctx.grounding.answer`: a language model writes an answer from passages. Every sentence is
 * checked as a claim against the passages that it cites, and unsupported ones are dropped.
 * Next hop: `src/rag/written-prompt.ts`, `src/ai/create-ai.ts` for the call and its credits.
 */
import { createAi } from "../ai/create-ai.ts";
import type {
  ClaimInput,
  GroundedClaim,
  OmittedSentence,
  WriteOptions,
  WrittenAnswer,
  WrittenSentence,
} from "../contract/grounding.ts";
import { endedEarly } from "../kit/ended-early.ts";
import { refusal } from "../search/scope.ts";
import type { FoundEvidence } from "./answer.ts";
import {
  type CitedSentence,
  citedSentences,
  endedSentences,
  type QuotedPassage,
  writingPrompt,
} from "./written-prompt.ts";

/** Chunks for the model: about 12,000 characters. */
export const mostPassages = 12;
/** Each is checked in SQL; the model is told to write ten. */
const mostSentences = 40;

export interface Writing {
  question: string;
  passages: QuotedPassage[];
  options: WriteOptions;
  /** Judges claims, each by its evidence. */
  judge(claims: ClaimInput[], evidence: FoundEvidence[][]): Promise<GroundedClaim[]>;
  /** Evidence for each sentence, in their order. */
  evidenceFor(sentences: string[], sourceIds: string[]): Promise<FoundEvidence[][]>;
}

/** @throws SvcError as `ai.chat` */
export async function writeAnswer(writing: Writing): Promise<WrittenAnswer> {
  const { question, passages, options } = writing;
  if (passages.length === 0) {
    const nothing = { text: null, sentences: [], omitted: [], model: null, usage: null, creditsCharged: 0 };
    return { ...nothing, reason: "no_passages" };
  }
  const {
    text: reply,
    model,
    usage,
    creditsCharged,
  } = await createAi().chat({ ...options, ...writingPrompt(question, passages) });
  const judged = await judgeSentences(citedSentences(reply), 0, writing);

  const sentences = judged.filter(({ reason }) => reason === undefined);
  const billing = { model, usage, creditsCharged };
  return {
    ...(sentences.length > 0
      ? { text: sentences.map(({ text }) => text).join(" ") }
      : { text: null, reason: judged.length === 0 ? ("not_known" as const) : ("not_supported" as const) }),
    sentences,
    omitted: judged.filter((one): one is OmittedSentence => one.reason !== undefined),
    ...billing,
  };
}

type Judged = WrittenSentence & { reason?: OmittedSentence["reason"] };

/** @param before the number of preceding sentences */
async function judgeSentences(
  written: CitedSentence[],
  before: number,
  { passages, judge, evidenceFor }: Pick<Writing, "passages" | "judge" | "evidenceFor">,
): Promise<Judged[]> {
  const citing = written.map(({ text, cited }) => ({
    text,
    cited: cited.flatMap((number) => passages[number - 1] ?? []),
  }));
  const room = Math.max(0, mostSentences - before);
  const checked = citing.slice(0, room).filter(({ cited }) => cited.length > 0);
  const sourceIds = [...new Set(checked.flatMap(({ cited }) => cited.map(({ sourceId }) => sourceId)))];
  const texts = checked.map(({ text }) => text);
  const found = texts.length === 0 ? [] : await evidenceFor(texts, sourceIds);
  const evidence = citing.map((sentence) => {
    const ids = new Set(sentence.cited.map(({ chunkId }) => chunkId));
    return (found[checked.indexOf(sentence)] ?? []).filter(({ chunkId }) => ids.has(chunkId));
  });
  const judged = await judge(
    citing.map(({ text }) => ({ claimText: text })),
    evidence,
  );
  return citing.map((sentence, index) => {
    const { claimText: text, judgedBy, ...rest } = judged[index] as GroundedClaim;
    if (index >= room) return { text, ...rest, reason: "not_checked" };
    if (sentence.cited.length === 0) return { text, ...rest, reason: "no_citation" };
    return rest.status === "supported" ? { text, ...rest } : { text, ...rest, reason: "not_supported" };
  });
}

/**
 * The same, sentence by sentence: each is checked when it is complete, and yielded if it is supported.
 *
 * @returns none if there are no passages; the model is not called then
 */
export function streamAnswer(writing: Writing): AsyncIterableIterator<WrittenSentence> {
  const { question, passages, options } = writing;
  // Now, not when the first sentence is requested: the stream belongs to this call.
  const pieces = passages.length === 0 ? null : createAi().stream({ ...options, ...writingPrompt(question, passages) });
  const sentences = standing(pieces, writing);
  return endedEarly(sentences, async () => {
    // The stream is its own iterator. An error goes to the pending request for the next sentence.
    await pieces?.return?.().catch(() => {});
  });
}

async function* standing(
  pieces: AsyncIterable<string> | null,
  writing: Writing,
): AsyncGenerator<WrittenSentence, undefined> {
  let reply = "";
  let told = 0;
  const news = async (all: CitedSentence[]) => {
    const fresh = all.slice(told);
    const judged = fresh.length === 0 ? [] : await judgeSentences(fresh, told, writing);
    told += fresh.length;
    return judged.filter(({ reason }) => reason === undefined);
  };
  for await (const piece of pieces ?? []) {
    reply += piece;
    yield* await news(endedSentences(reply));
  }
  yield* await news(citedSentences(reply));
}

/** Whether and how to write an answer. @throws SvcError BAD_REQUEST */
export function writeOptionsOf(write: unknown): WriteOptions | undefined {
  if (write === undefined) return;
  if (typeof write !== "object" || write === null)
    throw refusal("write", "an object with options of ai.chat, or an empty one");
  const { model, maxTokens, temperature, signal } = write as WriteOptions;
  const isName = model === undefined || (typeof model === "string" && model !== "");
  if (!isName) throw refusal("write.model", "the name of a model");
  // Copied by name, so that other keys from a client are not passed on.
  return { model, maxTokens, temperature, signal };
}

/** The chunks that claims cite, the best of each claim first. */
export function citedPassages(claims: GroundedClaim[], found: FoundEvidence[]): FoundEvidence[] {
  const chunks = new Map(found.map((one) => [one.chunkId, one]));
  const ids = claims
    .flatMap(({ citations }) => citations.flatMap(({ chunkIds }) => chunkIds).map((id, place) => ({ id, place })))
    .sort((a, b) => a.place - b.place);
  const passages = [...new Set(ids.map(({ id }) => id))].flatMap((id) => chunks.get(id) ?? []);
  return passages.slice(0, mostPassages);
}
