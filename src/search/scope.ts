/**
 * Resolves whose documents a call searches. The database decides what may be read; this refuses obvious mistakes with a
 * clear error.
 * Next hop: `src/rag/context.ts`, `src/rag/grounding.ts`.
 */
import type { RagScope } from "../contract/search.ts";
import { SvcError } from "../kit/svc-error.ts";

/** A checked scope; `owner` null means documents of all owners. */
export interface ResolvedScope {
  corpus: string;
  visibility: RagScope["visibility"];
  owner: string | null;
}

const visibilities = ["private", "shared", "public"];

/**
 * @param userId the caller, null when nobody is signed in
 * @throws SvcError BAD_REQUEST when a part is missing, UNAUTHORIZED for `private` and `shared` without a session,
 *   FORBIDDEN when it names another owner
 */
export function resolveScope(scope: unknown, userId: string | null): ResolvedScope {
  const { corpus, visibility, ownerUserId } = (scope ?? {}) as Partial<Record<keyof RagScope, unknown>>;
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

/** The input of a call, if it is an object. @throws SvcError BAD_REQUEST */
export function partsOf<Input>(input: Input): Input {
  if (typeof input === "object" && input !== null) return input;
  throw refusal("input", "an object with a scope");
}

/** A 400 that names the part and the expected value. */
export const refusal = (path: string, expected: string) =>
  new SvcError("BAD_REQUEST", `"${path}" must be ${expected}.`, {
    issues: [{ path: path.split("."), message: `must be ${expected}` }],
  });
