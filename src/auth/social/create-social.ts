/**
 * Builds social sign-in from the configuration and the definition.
 * Next hop: `../routes/social.ts` serves it.
 */
import type { Logger } from "pino";
import type { AuthDefinition } from "../../contract/auth.ts";
import type { OriginPolicy } from "../../http/origin-policy.ts";
import type { Library } from "../library-types.ts";
import type { OneTimeTokens } from "../mail/one-time-tokens.ts";
import { Flows } from "./flows.ts";
import { Provider, type ProviderSettings } from "./provider.ts";
import type { ReturnMode } from "./return-mode.ts";
import { SocialAccounts } from "./social-accounts.ts";

export interface SocialParts {
  /** Null without GOOGLE_CLIENT_ID. */
  google: Provider | null;
  flows: Flows;
  people: SocialAccounts;
  /** Not empty; the first serves clients without a preference. */
  modes: readonly ReturnMode[];
  log: Logger;
}

export interface SocialOptions {
  google: ProviderSettings | null;
  definition: AuthDefinition;
  origins: OriginPolicy;
  library: Library;
  once: OneTimeTokens;
  log: Logger;
}

export function createSocial({ google, definition, origins, library, once, log }: SocialOptions): SocialParts {
  return {
    google: google && new Provider(google, origins.own, log),
    flows: new Flows(once, origins.own.startsWith("https:")),
    people: new SocialAccounts(library, log),
    modes: definition.oauth?.allowedReturnModes ?? ["token"],
    log,
  };
}
