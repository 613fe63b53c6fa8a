/**
 * The providers of social sign-in of an application: Google by its variables, and those that `auth.ts` names.
 * Next hop: `provider.ts`.
 */
import type { Logger } from "pino";
import type { AuthDefinition } from "../../contract/auth.ts";
import type { OriginPolicy } from "../../http/origin-policy.ts";
import { DefinitionError } from "../../kit/definition-error.ts";
import { isIssuer } from "../../kit/issuer.ts";
import { AppleProvider } from "./apple.ts";
import { GitHubProvider } from "./github.ts";
import { variablesOf } from "./names.ts";
import { type OpenIdOptions, OpenIdProvider } from "./openid.ts";
import type { Provider, ProviderSettings } from "./provider.ts";

/** By id; null without its variables. */
export type Providers = ReadonlyMap<string, Provider | null>;

export interface ProviderOptions {
  definition: AuthDefinition;
  origins: OriginPolicy;
  /** null without its variables. */
  google: ProviderSettings | null;
  /** The variables of the other providers, by name. (Default: none) */
  clients?: Readonly<Record<string, string>> | undefined;
  production: boolean;
  log: Logger;
}

/** As https://accounts.google.com/.well-known/openid-configuration has them. */
const googleEndpoints = {
  issuer: "https://accounts.google.com",
  authorization_endpoint: "https://accounts.google.com/o/oauth2/v2/auth",
  token_endpoint: "https://oauth2.googleapis.com/token",
  userinfo_endpoint: "https://openidconnect.googleapis.com/v1/userinfo",
  jwks_uri: "https://www.googleapis.com/oauth2/v3/certs",
};

/** @throws DefinitionError for a variable that is not valid, and for one that is missing beside the other; see `settingsOf` */
export function openProviders({ definition, origins, google, log, ...variables }: ProviderOptions): Providers {
  const { github, microsoft, apple, oidc = {} } = definition.social ?? {};
  const providers = new Map<string, Provider | null>();
  const add = <Settings>(id: string, settings: Settings | null, open: (settings: Settings) => Provider) =>
    providers.set(id, settings && open(settings));
  const addOpenId = (id: string, settings: ProviderSettings | null, options: OpenIdOptions) =>
    add(id, settings, (found) => new OpenIdProvider(id, found, options, origins.own, log));

  const endpoints = google?.issuer === googleEndpoints.issuer ? googleEndpoints : undefined;
  addOpenId("google", google, { algorithm: "RS256", endpoints });
  if (github) {
    const settings = settingsOf("github", github.url ?? "https://github.com", variables);
    add("github", settings, (found) => new GitHubProvider(found, origins.own, log));
  }
  if (microsoft) {
    const { tenant, trustEmail } = microsoft;
    const settings = settingsOf("microsoft", `https://login.microsoftonline.com/${tenant}/v2.0`, variables);
    addOpenId("microsoft", settings, { algorithm: "RS256", trustEmail });
  }
  if (apple) {
    const settings = settingsOf("apple", "https://appleid.apple.com", variables);
    add("apple", settings, (found) => new AppleProvider(found, apple, origins.own, log));
  }
  for (const [id, { issuer, trustEmail }] of Object.entries(oidc)) {
    addOpenId(id, settingsOf(id, issuer, variables), { trustEmail });
  }
  return providers;
}

/** @returns null without the variables, outside production: a developer needs no client of each provider */
function settingsOf(
  id: string,
  usual: string,
  { clients = {}, production }: Pick<ProviderOptions, "clients" | "production">,
): ProviderSettings | null {
  const [client, secret, other] = variablesOf(id);
  const { [client]: clientId, [secret]: clientSecret, [other]: issuer = usual } = clients;
  if (!isIssuer(issuer)) throw new DefinitionError(`${other} must be an issuer such as ${usual}.`);
  if (clientId && clientSecret) return { clientId, clientSecret, issuer };
  if (!clientId && !clientSecret && !production) return null;
  const missing = [client, secret].filter((name) => !clients[name]).join(" and ");
  throw new DefinitionError(`auth.ts names the provider ${id}, but ${missing} is not set.`, {
    hint: `Set ${client} and ${secret} in the environment, or remove ${id} from social.`,
  });
}
