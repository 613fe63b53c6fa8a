/**
 * Apple: OpenID Connect with three differences. The client's secret is a JWT that we sign, the callback is a form from
 * Apple's page (`routes/social.ts`), and the name comes in that form, at the first sign-in only.
 * https://developer.apple.com/documentation/signinwithapple
 */

import { createPrivateKey, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import type { Logger } from "pino";
import { DefinitionError } from "../../kit/definition-error.ts";
import { jsonIn } from "../../kit/json-in.ts";
import { OpenIdProvider } from "./openid.ts";
import type { ProviderSettings } from "./provider.ts";

/** Of the developer account; `auth.ts` names them. */
export interface AppleKey {
  teamId: string;
  keyId: string;
}

export class AppleProvider extends OpenIdProvider {
  protected override readonly parameters = { scope: "openid email name", response_mode: "form_post" };

  /** @throws DefinitionError when the secret is not a key */
  constructor(settings: ProviderSettings, { teamId, keyId }: AppleKey, own: string, log: Logger) {
    super("apple", settings, { algorithm: "RS256" }, own, log);
    const key = readKey(settings.clientSecret);
    // openid-client waits for the promise, although the type does not say so.
    this.authentication = async (_server, { client_id }, body) => {
      const secret = new SignJWT()
        .setProtectedHeader({ alg: "ES256", kid: keyId })
        .setIssuer(teamId)
        .setSubject(client_id)
        .setAudience(settings.issuer)
        .setIssuedAt()
        .setExpirationTime("5m");
      body.set("client_id", client_id);
      body.set("client_secret", await secret.sign(key));
    };
  }

  protected override claims(claims: Record<string, unknown>, query: URLSearchParams): Record<string, unknown> {
    // Apple documents the claim as "a string or Boolean".
    return { ...claims, email_verified: String(claims.email_verified) === "true", name: nameIn(query.get("user")) };
  }
}

/** The name in Apple's form. It is not signed, as a name that a user types. */
function nameIn(text: string | null): string | undefined {
  const { firstName, lastName } = Object(Object(jsonIn(text ?? "")).name);
  return [firstName, lastName].filter((part) => typeof part === "string" && part.trim()).join(" ") || undefined;
}

function readKey(text: string): KeyObject {
  try {
    const key = createPrivateKey(text.replaceAll("\\n", "\n"));
    if (key.asymmetricKeyDetails?.namedCurve === "prime256v1") return key;
  } catch {}
  throw new DefinitionError("APPLE_CLIENT_SECRET is not a key of Apple.", {
    hint: "Set it to the text of the .p8 file, from -----BEGIN PRIVATE KEY----- to the end. Line breaks may be \\n.",
  });
}
