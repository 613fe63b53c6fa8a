/**
 * Runs mutations that are sent with an `Idempotency-Key` once: the key is claimed and the answer is kept in the transaction
 * of the call, so they commit with what the call wrote. Sent again, the call gets that answer and does not run.
 * Source: https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 * Next hop: `sql/call/claim_key.sql`.
 */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import { sortMembers, toParts } from "../kit/rich-values.ts";
import type { Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Identity } from "../postgres/identity.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";

/** In the standard's form, a string in quotes, or without these. */
const form = /^(?:"([!#-[\]-~]{1,128})"|([!#-[\]-~]{1,128}))$/;

const uploadFirst = "Upload its files first, and pass their ids.";

/**
 * The key of a call.
 *
 * @returns undefined without the header
 * @throws SvcError BAD_REQUEST for a key in another form, UNAUTHORIZED without a session, UNSUPPORTED_MEDIA_TYPE with files,
 *   PRECONDITION_FAILED for another user than the header `svc-user` names
 */
export function keyOf(headers: IncomingHttpHeaders, session: Session | null): string | undefined {
  const header = headers["idempotency-key"];
  if (header === undefined) return undefined;
  const [, quoted, key = quoted] = form.exec(String(header)) ?? [];
  if (key === undefined) {
    throw new SvcError("BAD_REQUEST", "The header Idempotency-Key is not a key.", {
      hint: "Send 1 to 128 visible ASCII characters without quotes, backslashes and spaces, such as a UUID.",
    });
  }
  if (headers["content-type"]?.startsWith("multipart/")) {
    throw new SvcError("UNSUPPORTED_MEDIA_TYPE", "A call with an idempotency key is JSON.", { hint: uploadFirst });
  }
  if (session) return requireUser(headers, session, key);
  // As for a protected call: a client whose token has expired gets another and sends the call again.
  throw new SvcError("UNAUTHORIZED", "An idempotency key needs a session: it is kept for its user.", {
    hint: "Sign in, or leave the header Idempotency-Key out.",
  });
}

/** A client that sends a call again, days later, says whose it is: its browser may have got the cookie of another user. */
function requireUser(headers: IncomingHttpHeaders, { user }: Session, key: string): string {
  const named = headers["svc-user"];
  if (named === undefined || named === user.id) return key;
  throw new SvcError("PRECONDITION_FAILED", "Somebody else is signed in than the header svc-user names.", {
    hint: "Sign in as the user of this call, and send it again.",
  });
}

interface Called {
  procedure: Pick<ProcedureDefinition, "name" | "isSecret">;
  input: unknown;
}

export interface Answers {
  /** Of each call, encoded as the body of its own answer. */
  results: string[];
  /** Whether they are of an earlier request with the same key. */
  replayed: boolean;
}

/**
 * Runs the calls, unless their key has been used.
 *
 * @throws SvcError CONFLICT if the key was used for other calls; ANSWER_NOT_KEPT if the earlier answers were too large;
 *   BAD_REQUEST for an answer that holds a secret
 */
export async function runOnce(
  transaction: RequestTransaction,
  key: string,
  calls: readonly Called[],
  run: () => Promise<string[]>,
): Promise<Answers> {
  const secret = calls.find(({ procedure }) => procedure.isSecret);
  if (secret) {
    throw new SvcError(
      "BAD_REQUEST",
      `A call of ${secret.procedure.name} takes no idempotency key: its answer is stored nowhere.`,
      { hint: "Leave the header Idempotency-Key out, and in the SDK retries and idempotencyKey." },
    );
  }
  const claim = { name: "svc_claim_key", text: "select * from svc.claim_key($1, $2)" };
  const { rows } = await transaction.asLogin(claim, [key, digest(calls, transaction.identity)]);
  const [claimed] = rows as { is_new: boolean; is_same: boolean; answers: string[] | null }[];
  if (claimed?.is_new) {
    const results = await run();
    await transaction.asLogin({ name: "svc_keep_answers", text: "select svc.keep_answers($1, $2)" }, [key, results]);
    return { results, replayed: false };
  }
  if (claimed?.answers) return { results: claimed.answers, replayed: true };
  if (claimed?.is_same) {
    const ask = { name: "svc_short_answers", text: "select svc.short_answers($1) as short" };
    const [kept] = (await transaction.asLogin(ask, [key])).rows as { short: (string | null)[] | null }[];
    throw new SvcError("ANSWER_NOT_KEPT", undefined, {
      hint: "Do not send it again. Query what it wrote.",
      ...(kept?.short && { answers: kept.short.map((answer) => JSON.parse(answer ?? "null")) }),
    });
  }
  throw new SvcError("CONFLICT", "This idempotency key was used for another call.", {
    hint: "Make a new key for each call. Only a repetition has the key, the name and the arguments of the first one.",
  });
}

/** An API key gets no answer of a call that was made with more scopes. */
function digest(calls: readonly Called[], { userId, setting }: Identity): Buffer {
  const called: unknown[] = calls.map(({ procedure, input }) => [procedure.name, input]);
  if (setting !== userId) called.push(setting);
  const { json, meta } = toParts("A call with an idempotency key", called, uploadFirst);
  return createHash("sha256")
    .update(JSON.stringify([json, meta], sortMembers))
    .digest();
}
