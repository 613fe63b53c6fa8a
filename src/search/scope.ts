/**
 * Resolves whose documents a call searches. The database decides what may be read; this refuses obvious mistakes with a
 * clear error.
 * Next hop: `src/rag/context.ts`, `src/rag/grounding.ts`.
 */
import type { RagScope } from "../contract/search.ts";
import { didYouMean } from "../kit/nearest.ts";
import { SvcError } from "../kit/svc-error.ts";

/** A checked scope; `owner` null means documents of all owners. */
export interface ResolvedScope {
  corpus: string;
  visibility: RagScope["visibility"];
  owner: string | null;
}

/** The members of a scope, unchecked. @throws SvcError BAD_REQUEST */
export const scopeParts = (scope: unknown) =>
  partsOf(scope as Partial<Record<keyof RagScope, unknown>>, ["corpus", "visibility", "ownerUserId"], "scope");

const visibilities = ["private", "shared", "public"];

/**
 * @param userId the caller, null when nobody is signed in
 * @throws SvcError BAD_REQUEST when a part is missing, UNAUTHORIZED for `private` and `shared` without a session,
 *   FORBIDDEN when it names another owner
 */
export function resolveScope(scope: unknown, userId: string | null): ResolvedScope {
  const { corpus, visibility, ownerUserId } = scopeParts(scope ?? {});
  if (typeof corpus !== "string" || corpus === "" || corpus.length > 200) {
    throw refusal("scope.corpus", "the name of a corpus, 1 to 200 characters");
  }
  if (typeof visibility !== "string" || !visibilities.includes(visibility)) {
    throw refusal("scope.visibility", "private, shared or public");
  }
  if (ownerUserId !== undefined && (typeof ownerUserId !== "string" || ownerUserId === "")) {
    throw refusal("scope.ownerUserId", "the caller's own id, or nothing");
  }
  if (userId === null && (visibility !== "public" || ownerUserId !== undefined)) throw new SvcError("UNAUTHORIZED");
  if (ownerUserId !== undefined && ownerUserId !== userId) {
    throw new SvcError("FORBIDDEN", "A scope cannot name another user.", {
      hint: "Remove ownerUserId: a private scope means the caller.",
    });
  }
  return {
    corpus,
    visibility: visibility as RagScope["visibility"],
    owner: visibility === "private" ? userId : (ownerUserId ?? null),
  };
}

/** The input of a call, if it is an object with no other members. @throws SvcError BAD_REQUEST */
export function partsOf<Input>(input: Input, known: readonly (keyof Input & string)[], path = "input"): Input {
  if (typeof input !== "object" || input === null) throw refusal(path, `an object with ${known.join(", ")}`);
  const unknown = Object.keys(input).find((member) => !known.some((name) => name === member));
  if (unknown === undefined) return input;
  const member = unknown.slice(0, 100);
  throw new SvcError("BAD_REQUEST", `"${path}" has no member "${member}".`, {
    hint: didYouMean(member, known),
    issues: [{ path: path === "input" ? [member] : [...path.split("."), member], message: "is not a known member" }],
  });
}

/** A 400 that names the part and the expected value. */
export const refusal = (path: string, expected: string) =>
  new SvcError("BAD_REQUEST", `"${path}" must be ${expected}.`, {
    issues: [{ path: path.split("."), message: `must be ${expected}` }],
  });
