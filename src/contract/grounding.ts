/** `ctx.grounding` as handlers see it. `src/rag/grounding.ts` implements it. */
import type { ChatOptions, Usage } from "./ai.ts";
import type { Language } from "./rag.ts";
import type { RagScope } from "./search.ts";

export type ClaimStatus = "supported" | "partially_supported" | "insufficient_evidence";

export interface Citation {
  sourceId: string;
  sourceTitle: string;
  sectionId: string;
  /** Headings, outermost first. */
  sectionPath: string[];
  /** The chunks of this section that support the claim, best first. */
  chunkIds: string[];
  /** Page of the first chunk, from 1. */
  pageStart: number;
  /** The sentence with the strongest support. */
  snippet: string;
  /** Share of the claim's words in the sentence, 0 to 1. Rare words count more. */
  coverage: number;
  /** 0 to 1. */
  confidence: number;
  /** Cosine similarity of the chunk's vector and the claim's, from -1 to 1; absent without vectors. */
  similarity?: number;
}

export interface ClaimInput {
  /** One statement, 1 to 2,000 characters. */
  claimText: string;
  /** Words or phrases that the evidence must contain, in any letter case. At most 20. (Default: none) */
  requiredTerms?: string[];
  /**
   * The claim's vector, from the same model as the documents' vectors. It also finds passages that say the same in
   * other words. (Default: none)
   */
  vector?: number[];
}

export interface GroundedClaim {
  claimText: string;
  status: ClaimStatus;
  /** Support by the best evidence, 0 to 1. It ranks claims; it is not a probability. */
  confidence: number;
  citations: Citation[];
  /** Why the most similar evidence was rejected, if it was. */
  conflicts: Conflict[];
  /** Who decided: the built-in rules, or the application's judge (`grounding.judge` of `defineApi`). */
  judgedBy: "rules" | "application";
}

/** The `grounding` of `defineApi`. */
export interface GroundingOptions {
  /** Decides in place of the rules; they decide if it throws, takes too long or returns something else. */
  judge?: GroundingJudge;
  /** Longest time for the judge in one call of `ctx.grounding`, in milliseconds, 1 to 60,000. (Default: 5000) */
  timeoutMs?: number;
}

/**
 * An application's judge, such as a model for natural language inference. It is called once for each claim that has
 * passages, at most four times at once.
 *
 * @returns a verdict for each passage, in their order
 */
export type GroundingJudge = (question: JudgeQuestion) => readonly JudgeVerdict[] | Promise<readonly JudgeVerdict[]>;

export interface JudgeQuestion {
  claim: string;
  /** At most 12, best coverage first. They hold the claim's required terms. */
  passages: readonly JudgePassage[];
  /** Aborts when the time is over. */
  signal: AbortSignal;
}

export interface JudgePassage {
  sourceTitle: string;
  /** Headings, outermost first. */
  sectionPath: readonly string[];
  /** The whole passage. */
  text: string;
  /** Its sentence that covers the claim best. */
  sentence: string;
}

export interface JudgeVerdict {
  /** What the passage does to the claim. */
  verdict: "supports" | "supports_partly" | "contradicts" | "neither";
  /** How sure the judge is, 0 to 1. Of support and contradiction, the surer one decides. */
  confidence: number;
}

/**
 * `order`: the evidence compares the same things the other way around. `judged`: the application's judge says that it
 * contradicts the claim.
 */
export type Conflict = "negation" | "number" | "unit" | "opposite" | "order" | "judged";

/** Options of the model call, as for `ai.chat`. */
export type WriteOptions = Pick<ChatOptions, "model" | "maxTokens" | "temperature" | "signal">;

export interface OmittedSentence extends WrittenSentence {
  /**
   * `no_citation`: the sentence cites none of the given passages. `not_supported`: the cited passages do not support
   * it. `not_checked`: forty sentences came before it.
   */
  reason: "no_citation" | "not_supported" | "not_checked";
}

export interface WrittenAnswer {
  /** The supported sentences; null if there are none. */
  text: string | null;
  /**
   * Why there is no text. `no_passages`: no passages were found, and no model was called. `not_known`: the model found
   * no answer in the passages. `not_supported`: no sentence of the answer passed the check.
   */
  reason?: "no_passages" | "not_known" | "not_supported";
  /** The sentences of the text, in order. All are `supported`. */
  sentences: WrittenSentence[];
  /** The rejected sentences of the model. Do not show them to readers: they are unverified. */
  omitted: OmittedSentence[];
  /** Null if no model was called; the same for `usage`. */
  model: string | null;
  usage: Usage | null;
  creditsCharged: number;
}

export interface WrittenSentence extends Pick<GroundedClaim, "status" | "confidence" | "citations" | "conflicts"> {
  /** Without the citation numbers. */
  text: string;
}

export interface GroundingInput {
  /** The question, 1 to 2,000 characters. */
  question: string;
  scope: RagScope;
  /** The claims that an answer would make, 1 to 20; none are needed with `write`. */
  claims: ClaimInput[];
  /** The answer mode; only `qa` exists. */
  mode: "qa";
  /** Only these documents of the scope, at most 100. (Default: all) */
  sourceIds?: string[];
  /** The language for stemming the claims' words; use that of the documents. (Default: `english`) */
  language?: Language;
  /**
   * The question's vector, from the same model as the documents'. With `write` it also finds passages for the model that
   * have other words. (Default: none)
   */
  vector?: number[];
  /** Limits on the search and the citations of each claim. */
  budget?: GroundingBudget;
  /**
   * The cosine similarity from which a passage counts as being about the claim, 0 to 1. Only for claims with a vector.
   * A good value depends on the model. (Default: 0.8)
   */
  minSimilarity?: number;
  /**
   * Lets a language model write an answer from the passages that the claims cite. If they cite none, from the passages
   * that share most words with the question. Costs credits as `ai.chat` does. (Default: no model is called)
   */
  write?: WriteOptions;
}

export interface GroundingBudget {
  /** Chunks to read, 1 to 50. (Default: 20) */
  chunks?: number;
  /** Sentences to judge, 1 to 50. (Default: 12) */
  sentences?: number;
  /** Sections to cite, 1 to 10. (Default: 3) */
  citations?: number;
}

export interface GroundedAnswer {
  /** Whether every claim is supported. With `write` also whether a supported sentence of the written answer remains. */
  grounded: boolean;
  claims: GroundedClaim[];
  /** The supported claims as one text; absent when there are none. */
  answer?: string;
  /** The model's answer after the check; absent without `write`. */
  written?: WrittenAnswer;
  meta: {
    question: string;
    mode: "qa";
    /** Sentences that were judged. */
    sentences: number;
    /** The number of claims per status. */
    supported: number;
    partiallySupported: number;
    insufficientEvidence: number;
  };
}

/** The `grounding` of a context. */
export interface ContextGrounding {
  /**
   * Checks each claim against the documents that the caller may read.
   *
   * @throws SvcError BAD_REQUEST, UNAUTHORIZED for a scope that needs a session, FORBIDDEN for another owner; with
   *   `write` the errors of `ai.chat`
   */
  answer(input: GroundingInput): Promise<GroundedAnswer>;
  /**
   * Lets a model write an answer as `write` of `answer` does, and yields each sentence as soon as it has passed the check. It may
   * be read after the handler has returned, as the body of a route. Yields nothing if the model found no answer.
   *
   * @throws SvcError as `answer`; the errors of `ai.stream` when the first sentence is read
   */
  stream(input: GroundingStreamInput): Promise<AsyncIterableIterator<WrittenSentence>>;
}

/** As for `answer`. Claims only select passages; without claims the question selects them. */
export type GroundingStreamInput = Omit<GroundingInput, "claims"> & { claims?: ClaimInput[] };
