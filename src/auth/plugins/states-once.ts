/**
 * Uses up the state of a sign-in by a plugin, such as `sso`, when it comes back. The library finds a state, checks it and deletes
 * it afterwards, so two returns at the same moment would both pass. A state is used up also where the check fails, as in
 * `../social/flows.ts`. Called by `../create-sign-in.ts`.
 */
import type { Library } from "../library-types.ts";

export function takeStatesOnce({ context: { internalAdapter } }: Pick<Library, "context">): void {
  const { findVerificationValue, consumeVerificationValue } = internalAdapter;
  internalAdapter.findVerificationValue = (identifier) =>
    identifier.startsWith("auth-state:") ? consumeVerificationValue(identifier) : findVerificationValue(identifier);
}
