/**
 * Passkeys, for services whose `auth.ts` has `passkeys`. Functions of their own, so that other pages do not download them.
 * They take the browser's own JSON of credentials (Chrome 129, Firefox 119, Safari 18.4), without a package.
 */
import { SvcError } from "../error.ts";
import type { AuthClient } from "./create-auth-client.ts";
import type { User } from "./state.ts";

/** A passkey of the user. */
export interface Passkey {
  id: string;
  name: string | null;
}

/**
 * Makes a passkey on this device for the signed-in user.
 *
 * @param name for lists of the user's passkeys
 * @throws SvcError UNAUTHORIZED; FORBIDDEN with the hint SESSION_NOT_FRESH if the sign-in was longer than a day ago;
 *   BAD_REQUEST where the browser has no passkeys; NETWORK_ERROR. DOMException of the browser, such as NotAllowedError if the
 *   user cancels
 * @example
 * await addPasskey(auth, "Laptop");
 */
export async function addPasskey(auth: AuthClient, name?: string): Promise<Passkey> {
  const { options, challenge } = await begin(auth, "register");
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never);
  const response = await navigator.credentials.create({ publicKey });
  return finish(auth, "registration", { response, name, ...challenge });
}

/**
 * Signs in with a passkey of this device. Afterwards the client is signed in as after `signIn`.
 *
 * @param options of the browser: `mediation: "conditional"` offers passkeys in a field with `autocomplete="username webauthn"`,
 *   and `signal` ends it
 * @throws SvcError UNAUTHORIZED for an unknown passkey; TWO_FACTOR_REQUIRED in token mode for one that its owner did not
 *   unlock; BAD_REQUEST where the browser has no passkeys; NETWORK_ERROR. DOMException of the browser, such as NotAllowedError if
 *   the user cancels
 * @returns the user; null in cookie mode if the second factor is still required
 * @example
 * await signInWithPasskey(auth);
 */
export async function signInWithPasskey(
  auth: AuthClient,
  options: Pick<CredentialRequestOptions, "mediation" | "signal"> = {},
): Promise<User | null> {
  const { options: asked, challenge } = await begin(auth, "authenticate");
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked as never);
  const response = await navigator.credentials.get({ ...options, publicKey });
  await finish(auth, "authentication", { response, ...challenge });
  return auth.getState().user;
}

async function begin(auth: AuthClient, what: string) {
  if (!globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON) {
    throw new SvcError("BAD_REQUEST", "This browser has no passkeys.", {
      hint: "Offer the password. Passkeys need https, or localhost, and a browser of 2025.",
    });
  }
  // Token mode has no cookies: the challenge travels beside the options.
  const { svcChallenge, ...options } = await auth.call<{ svcChallenge?: string }>(
    `/passkey/generate-${what}-options`,
    undefined,
    { method: "GET" },
  );
  return { options, challenge: svcChallenge === undefined ? {} : { svcChallenge } };
}

const finish = <Answer>(auth: AuthClient, what: string, body: object) =>
  auth.call<Answer>(`/passkey/verify-${what}`, body);
