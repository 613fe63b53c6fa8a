/** `ctx.grounding` as handlers see it. `src/rag/grounding.ts` implements it. */
import type { ChatOptions, Usage } from "./ai.ts";
import type { Language } from "./rag.ts";
import type { RagScope } from "./search.ts";

export type ClaimStatus = "supported" | "partially_supported" | "insufficient_evidence";

export interface Citation {
  sourceId: string;
  sourceTitle: string;
  sectionId: string;
  /** Headings from the top down. */
  sectionPath: string[];
  /** The chunks of this section that the claim rests on, best first. */
  chunkIds: string[];
  /** Page of the first of them, from 1. */
  pageStart: number;
  /** The sentence that supports best. */
  snippet: string;
  /** Share of the claim's words in it, the rare ones counting more; 0 to 1. */
  coverage: number;
  /** 0 to 1. */
  confidence: number;
  /** Of the chunk's vector to the claim's, from -1 to 1; absent where there are none. */
  similarity?: number;
}

export interface ClaimInput {
  /** One statement, 1 to 2,000 characters. */
  claimText: string;
  /** Words or phrases that must stand in the evidence, in any case. At most 20. (Default: none) */
  requiredTerms?: string[];
  /**
   * Of the claim, by the model that made those of the documents: passages that say the same in other words are looked at
   * too. (Default: none)
   */
  vector?: number[];
}

export interface GroundedClaim {
  claimText: string;
  status: ClaimStatus;
  /** How far the best evidence supports it, 0 to 1. An order of claims by their support, not a probability. */
  confidence: number;
  citations: Citation[];
  /** What spoke against the evidence that resembles it most, when that did not count. */
  conflicts: Conflict[];
}

export type Conflict = "negation" | "number" | "unit" | "opposite";

/** How the model is asked, as by `ai.chat`. */
export type WriteOptions = Pick<ChatOptions, "model" | "maxTokens" | "temperature" | "signal">;

export interface OmittedSentence extends WrittenSentence {
  /**
   * `no_citation`: it named none of the passages that the model was given. `not_supported`: those that it named do not say
   * so. `not_checked`: forty sentences stood before it.
   */
  reason: "no_citation" | "not_supported" | "not_checked";
}

export interface WrittenAnswer {
  /** The sentences that the passages support; null when there are none. */
  text: string | null;
  /**
   * Why there is no text. `no_passages`: nothing was found, and no model was asked. `not_known`: it found no answer in the
   * passages. `not_supported`: no sentence of its answer stood the check.
   */
  reason?: "no_passages" | "not_known" | "not_supported";
  /** Those of the text, in its order. All are `supported`. */
  sentences: WrittenSentence[];
  /** What else the model wrote. Not for readers: nothing says that it is true. */
  omitted: OmittedSentence[];
  /** Null where none was asked, as `usage`. */
  model: string | null;
  usage: Usage | null;
  creditsCharged: number;
}

export interface WrittenSentence extends Pick<GroundedClaim, "status" | "confidence" | "citations" | "conflicts"> {
  /** Without the numbers by which it cited. */
  text: string;
}

export interface GroundingInput {
  /** What was asked, 1 to 2,000 characters. */
  question: string;
  scope: RagScope;
  /** The statements that an answer would make, 1 to 20; with `write` also none. */
  claims: ClaimInput[];
  /** How it answers; `qa` is the one there is. */
  mode: "qa";
  /** Only these documents of the scope, at most 100. (Default: all) */
  sourceIds?: string[];
  /** How the words of the claims are stemmed: as those of the documents were. (Default: `english`) */
  language?: Language;
  /** How much is looked at for each claim, and how much is cited. */
  budget?: GroundingBudget;
  /**
   * From which cosine similarity on a passage counts as one that speaks of the same, 0 to 1; for claims with a vector. It
   * depends on the model. (Default: 0.8)
   */
  minSimilarity?: number;
  /**
   * Has a language model write an answer from the passages that the claims cite, or where they cite none, from those that
   * share most with the question. Costs credits as `ai.chat` does. (Default: no model is asked)
   */
  write?: WriteOptions;
}

export interface GroundingBudget {
  /** Chunks that are read, 1 to 50. (Default: 20) */
  chunks?: number;
  /** Sentences that are judged, 1 to 50. (Default: 12) */
  sentences?: number;
  /** Sections that are cited, 1 to 10. (Default: 3) */
  citations?: number;
}

export interface GroundedAnswer {
  /** Whether every claim is supported, and with `write`, whether something of the written answer remained. */
  grounded: boolean;
  claims: GroundedClaim[];
  /** The supported claims as one text; absent when there are none. */
  answer?: string;
  /** What the model wrote, as far as it stood the check; absent without `write`. */
  written?: WrittenAnswer;
  meta: {
    question: string;
    mode: "qa";
    /** Sentences that were judged. */
    sentences: number;
    /** How many claims have which status. */
    supported: number;
    partiallySupported: number;
    insufficientEvidence: number;
  };
}

/** The `grounding` of a context. */
export interface ContextGrounding {
  /**
   * Looks each claim up in the documents that the caller may read.
   *
   * @throws SvcError BAD_REQUEST, UNAUTHORIZED for a scope that needs a session, FORBIDDEN for another owner; with `write`
   *   what `ai.chat` throws
   */
  answer(input: GroundingInput): Promise<GroundedAnswer>;
  /**
   * Has a model write an answer as the `write` of `answer` does, and gives each sentence as soon as it is there and has
   * stood the check. May be read when the handler has returned, as the body of a route. None where nothing is known.
   *
   * @throws SvcError as `answer`; what `ai.stream` throws with the first sentence that is asked for
   */
  stream(input: GroundingStreamInput): Promise<AsyncIterableIterator<WrittenSentence>>;
}

/** As of `answer`. Claims only choose passages: without them the question does. */
export type GroundingStreamInput = Omit<GroundingInput, "claims"> & { claims?: ClaimInput[] };
