/**
 * `ctx.grounding`: checks whether the documents of a scope support claims, and where. It uses no language model, unless
 * one has to write an answer.
 * Next hop: `sql/rag/find_evidence.sql` finds sentences, `src/rag/application-judge.ts` and `answer.ts` judge them; `written-answer.ts`.
 */
import type {
  ClaimInput,
  ContextGrounding,
  GroundedAnswer,
  GroundedClaim,
  GroundingBudget,
  GroundingInput,
  WriteOptions,
} from "../contract/grounding.ts";
import { type Reading, readerBeyondCall, readerOfCall } from "../postgres/own-transaction.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { languageOf } from "../search/languages.ts";
import { partsOf, refusal, resolveScope } from "../search/scope.ts";
import { composed } from "../text/composed.ts";
import type { GroundingChoices } from "./answer.ts";
import type { Judging, groundClaims as judgeClaims } from "./application-judge.ts";
import { findEvidence } from "./evidence.ts";
import { findPassages, sourceIdsOf } from "./passages.ts";
import { optionalVector, requireLength } from "./vectors.ts";
import {
  citedPassages,
  mostPassages,
  streamAnswer,
  type Writing,
  writeAnswer,
  writeOptionsOf,
} from "./written-answer.ts";

/** The rules are 18 modules, which are loaded with the first claim. */
const groundClaims: typeof judgeClaims = async (...given) =>
  (await import("./application-judge.ts")).groundClaims(...given);

/**
 * @param userId the caller, null when nobody is signed in
 * @param readTransaction a separate transaction for the same caller, for reading
 * @param judging the application's judge, if it has one
 */
export function contextGrounding(
  transaction: RequestTransaction,
  userId: string | null,
  readTransaction: () => RequestTransaction,
  judging: Judging,
): ContextGrounding {
  /** Reads evidence for the claims, and with `write` the passages for a model. */
  async function look(input: GroundingInput, write: WriteOptions | undefined, read: Read) {
    const { question: asWritten, claims: given, mode } = partsOf(input, members);
    const scope = resolveScope(input.scope, userId);
    if (mode !== "qa") throw refusal("mode", "qa");
    refuseText("question", asWritten, 2_000);
    const fewest = write ? 0 : 1;
    if (!Array.isArray(given) || given.length < fewest || given.length > 20)
      throw refusal("claims", `${fewest} to 20 claims`);
    for (const [index, claim] of given.entries()) refuseClaim(`claims.${index}`, claim);
    const question = composed(asWritten);
    const claims = given.map((claim) => ({
      ...claim,
      claimText: composed(claim.claimText),
      ...(claim.requiredTerms && { requiredTerms: claim.requiredTerms.map(composed) }),
    }));
    const { chunks, sentences, citations } = budgetOf(input.budget);
    const { minSimilarity = 0.8 } = input;
    if (!(typeof minSimilarity === "number" && minSimilarity >= 0 && minSimilarity <= 1)) {
      throw refusal("minSimilarity", "a number from 0 to 1");
    }
    const pathOf = (index: number) => `claims.${index}.vector`;
    const vectors = claims.map(({ vector }, index) => optionalVector(pathOf(index), vector));
    const asked = optionalVector("vector", input.vector);
    const place = { language: languageOf(input.language), scope, sourceIds: sourceIdsOf(input.sourceIds) };
    const choices: GroundingChoices = { citations, minSimilarity };

    const rows = await read(async (reader) => {
      await requireLength(reader, scope, Object.fromEntries(vectors.map((vector, index) => [pathOf(index), vector])));
      const texts = claims.map(({ claimText }) => claimText);
      return findEvidence(reader, { ...place, claims: texts, chunks, sentences, vectors });
    });
    const found = Map.groupBy(rows, ({ claim }) => claim);
    const evidence = claims.map((_, index) => found.get(index + 1) ?? []);
    const judged = await groundClaims(claims, evidence, choices, judging);
    const cited = write ? citedPassages(judged, rows) : [];
    const passages =
      !write || cited.length > 0
        ? cited
        : await read((reader) => findPassages(reader, { ...place, question, vector: asked, limit: mostPassages }));
    /** @param check reads evidence after the model has written */
    const writing = (options: WriteOptions, check: Read): Writing => ({
      question,
      passages,
      options,
      judge: (claims, evidence) => groundClaims(claims, evidence, choices, judging),
      async evidenceFor(claims, sourceIds) {
        const most = { chunks: 50, sentences: 50 }; // must include the cited passages
        const rows = await check((reader) => findEvidence(reader, { ...place, sourceIds, claims, ...most }));
        const found = Map.groupBy(rows, ({ claim }) => claim);
        return claims.map((_, index) => found.get(index + 1) ?? []);
      },
    });
    return { judged, rows, writing };
  }

  return {
    async answer(input) {
      const write = writeOptionsOf(partsOf(input, members).write);
      // A model takes long: if the call has no transaction yet, none stays open meanwhile.
      const isSlow = write !== undefined || judging.judge !== undefined;
      const read: Read = isSlow ? readerOfCall(transaction, readTransaction) : (work) => work(transaction);
      const { judged, rows, writing } = await look(input, write, read);
      const answer = answerOf(input.question, judged, rows.length);
      if (!write) return answer;
      const written = await writeAnswer(writing(write, read));
      return { ...answer, grounded: answer.grounded && written.text !== null, written };
    },

    async stream(input) {
      const write = writeOptionsOf(partsOf(input, members).write) ?? {};
      const { writing } = await look(
        { ...input, claims: input.claims ?? [] },
        write,
        readerOfCall(transaction, readTransaction),
      );
      return streamAnswer(writing(write, readerBeyondCall(transaction, readTransaction)));
    },
  };
}

const members = [
  ...(["question", "scope", "claims", "mode", "sourceIds", "language"] as const),
  ...(["vector", "budget", "minSimilarity", "write"] as const),
] satisfies (keyof GroundingInput)[];
const budgetMembers = ["chunks", "sentences", "citations"] satisfies (keyof GroundingBudget)[];

type Read = <T>(work: Reading<T>) => Promise<T>;

function budgetOf(budget: GroundingBudget = {}): Required<GroundingBudget> {
  const { chunks = 20, sentences = 12, citations = 3 } = partsOf(budget ?? {}, budgetMembers, "budget");
  for (const [name, value, most] of [
    ["chunks", chunks, 50],
    ["sentences", sentences, 50],
    ["citations", citations, 10],
  ] as const) {
    const isFine = Number.isInteger(value) && value >= 1 && value <= most;
    if (!isFine) throw refusal(`budget.${name}`, `a number from 1 to ${most}`);
  }
  return { chunks, sentences, citations };
}

function answerOf(question: string, claims: GroundedClaim[], sentences: number): GroundedAnswer {
  const having = (status: GroundedClaim["status"]) => claims.filter((claim) => claim.status === status);
  const supported = having("supported");
  return {
    grounded: supported.length === claims.length,
    claims,
    ...(supported.length > 0 && { answer: supported.map(({ claimText }) => claimText).join(" ") }),
    meta: {
      question,
      mode: "qa",
      sentences,
      supported: supported.length,
      partiallySupported: having("partially_supported").length,
      insufficientEvidence: having("insufficient_evidence").length,
    },
  };
}

function refuseClaim(path: string, claim: unknown): void {
  const { claimText, requiredTerms = [] } = (claim ?? {}) as Partial<Record<keyof ClaimInput, unknown>>;
  refuseText(`${path}.claimText`, claimText, 2_000);
  const isTerms = Array.isArray(requiredTerms) && requiredTerms.length <= 20;
  if (!isTerms) throw refusal(`${path}.requiredTerms`, "at most 20 words or phrases");
  for (const term of requiredTerms) refuseText(`${path}.requiredTerms`, term, 200);
}

function refuseText(path: string, value: unknown, longest: number): void {
  if (typeof value === "string" && value.trim() !== "" && value.length <= longest) return;
  throw refusal(path, `a text of 1 to ${longest} characters`);
}
