/**
 * Sign-ins by plugins, such as `sso`, come back with a state once. The library finds a state and deletes it afterwards, so two
 * returns at the same moment would both find it.
 * Called by `../create-sign-in.ts`.
 */
import type { Library } from "../library-types.ts";

export function takeStatesOnce({ context: { internalAdapter } }: Pick<Library, "context">): void {
  const { findVerificationValue, consumeVerificationValue } = internalAdapter;
  internalAdapter.findVerificationValue = (identifier) =>
    identifier.startsWith("auth-state:") ? consumeVerificationValue(identifier) : findVerificationValue(identifier);
}
