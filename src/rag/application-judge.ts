/**
 * Asks the application's judge (`grounding.judge` of `defineApi`) how passages relate to a claim. If it fails, the rules decide.
 * Next hop: `answer.ts` for the rules and the citations.
 */
import { setImmediate } from "node:timers/promises";
import type { Logger } from "pino";
import { z } from "zod";
import type {
  ClaimInput,
  GroundedClaim,
  GroundingJudge,
  GroundingOptions,
  JudgeVerdict,
} from "../contract/grounding.ts";
import { citationsOf, type FoundEvidence, type GroundingChoices, groundClaim, holdsTerms, round } from "./answer.ts";

export interface Judging extends GroundingOptions {
  log: Logger;
}

const mostPassages = 12;
const mostAtOnce = 4;

const verdicts = z.array(
  z.object({
    verdict: z.enum(["supports", "supports_partly", "contradicts", "neither"]),
    confidence: z.number().min(0).max(1),
  }),
);

/** @param found the evidence of each claim, in their order */
export async function groundClaims(
  claims: ClaimInput[],
  found: FoundEvidence[][],
  choices: GroundingChoices,
  { judge, timeoutMs = 5_000, log }: Judging,
): Promise<GroundedClaim[]> {
  const byRules = (at: number) => groundClaim(claims[at] as ClaimInput, found[at] ?? [], choices);
  if (!judge) {
    const answers: GroundedClaim[] = [];
    // Long claims occupy the process: other calls get their turn between them.
    for (const at of claims.keys()) {
      answers.push(byRules(at));
      await setImmediate();
    }
    return answers;
  }

  const signal = AbortSignal.timeout(timeoutMs); // for all claims of the call
  const answers: GroundedClaim[] = [];
  const waiting = claims.entries();
  const work = async () => {
    for (const [at, claim] of waiting) {
      const passages = passagesFor(claim, found[at] ?? []);
      const answer = passages.length > 0 && (await askJudge(judge, claim.claimText, passages, signal, log));
      answers[at] = answer ? answerOf(claim, passages, answer, choices) : byRules(at);
    }
  };
  await Promise.all(Array.from({ length: Math.min(mostAtOnce, claims.length) }, work));
  return answers;
}

/** The best sentence of each passage that holds the required terms. */
function passagesFor(claim: ClaimInput, found: FoundEvidence[]): FoundEvidence[] {
  const chunks = Map.groupBy(
    found.filter((one) => holdsTerms(claim, one)),
    ({ chunkId }) => chunkId,
  );
  return [...chunks.values()].map(([best]) => best as FoundEvidence).slice(0, mostPassages);
}

/** @returns null if the judge failed */
async function askJudge(
  judge: GroundingJudge,
  claim: string,
  found: FoundEvidence[],
  signal: AbortSignal,
  log: Logger,
): Promise<JudgeVerdict[] | null> {
  const passages = found.map(({ sourceTitle, sectionPath, chunkText, sentence }) => ({
    ...{ sourceTitle, sectionPath, text: chunkText, sentence: sentence.trim() },
  }));
  try {
    signal.throwIfAborted();
    const answered = verdicts.length(passages.length).safeParse(await inTime(judge, { claim, passages, signal }));
    if (answered.success) return answered.data;
    // Without the answer itself: it may quote documents.
    log.warn({ passages: passages.length }, "grounding.judge returned no verdict per passage; the rules decide.");
  } catch (err) {
    log.warn({ err }, "grounding.judge failed or took too long; the rules decide.");
  }
  return null;
}

/** A judge that ignores its signal must not hold the call. */
async function inTime(judge: GroundingJudge, question: Parameters<GroundingJudge>[0]): Promise<unknown> {
  const { signal } = question;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const end = () => reject(signal.reason);
  signal.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([Promise.resolve().then(() => judge(question)), late]);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

function answerOf(
  { claimText }: ClaimInput,
  passages: FoundEvidence[],
  answered: JudgeVerdict[],
  { citations }: GroundingChoices,
): GroundedClaim {
  const having = (wanted: JudgeVerdict["verdict"]) =>
    passages
      .map((passage, at) => ({ ...passage, ...(answered[at] as JudgeVerdict) }))
      .filter(({ verdict }) => verdict === wanted)
      .map((passage) => ({ ...passage, support: passage.confidence }))
      .sort((a, b) => b.support - a.support);
  const surest = (these: { support: number }[]) => these[0]?.support ?? 0;
  const [supporting, partly, against] = [having("supports"), having("supports_partly"), having("contradicts")];
  const isOutweighed = against.length > 0 && surest(against) > surest(supporting);
  const isSupported = supporting.length > 0 && !isOutweighed;
  const cited = supporting.length > 0 ? supporting : partly;
  return {
    claimText,
    status: isSupported ? "supported" : cited.length > 0 ? "partially_supported" : "insufficient_evidence",
    confidence: round(Math.max(surest(supporting), surest(partly) / 2) * (1 - surest(against) / 2)),
    citations: citationsOf(cited).slice(0, citations),
    conflicts: isOutweighed ? ["judged"] : [],
    judgedBy: "application",
  };
}
