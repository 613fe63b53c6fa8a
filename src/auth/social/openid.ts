/**
 * A provider of OpenID Connect, such as Google. The ID token is checked completely: signature, `iss`, `aud`, `exp`, nonce.
 * Next hop: `profile.ts` reads the claims.
 */
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type ServerMetadata,
} from "openid-client";
import type { Logger } from "pino";
import { oneAtATime } from "../../kit/one-at-a-time.ts";
import { describeFailure } from "./failure.ts";
import { type Profile, readProfile } from "./profile.ts";
import { fetchLimited, Provider, type ProviderSettings, type Tokens, timeout } from "./provider.ts";

/** In milliseconds: how long the discovered endpoints are cached. openid-client caches the provider's keys (five minutes). */
const lifetime = 60 * 60 * 1000;

export interface OpenIdOptions {
  /** The only accepted signature of the ID token. (Default: any of those that the provider names) */
  algorithm?: string;
  /** The provider's endpoints, for when they cannot be discovered. (Default: then nobody can sign in) */
  endpoints?: ServerMetadata | undefined;
  /** Whether an address counts as verified that the provider does not call verified. (Default: false) */
  trustEmail?: boolean | undefined;
}

export class OpenIdProvider extends Provider {
  protected readonly isOpenId = true;
  protected readonly parameters: { scope: string; response_mode?: string } = { scope: "openid email profile" };
  /** How the service proves that it is the client. */
  protected authentication: ClientAuth;
  readonly #settings: ProviderSettings;
  readonly #options: OpenIdOptions;
  #known: { configuration: Configuration; until: number } | undefined;
  readonly #discover = oneAtATime(() => this.#ask());

  constructor(id: string, settings: ProviderSettings, options: OpenIdOptions, own: string, log: Logger) {
    super(id, own, log);
    this.#settings = settings;
    this.#options = options;
    this.authentication = bySecret(settings.clientSecret);
  }

  protected async read(configuration: Configuration, tokens: Tokens, query: URLSearchParams): Promise<Profile | null> {
    let told: Record<string, unknown> & { sub?: string } = { ...tokens.claims() };
    // Some providers, such as Okta, put no address into an ID token that comes with an access token.
    if (told.sub && told.email === undefined && configuration.serverMetadata().userinfo_endpoint) {
      told = { ...(await fetchUserInfo(configuration, tokens.access_token, told.sub)), ...told };
    }
    const claims = this.claims(told, query);
    const isTrusted = this.#options.trustEmail === true && claims.email_verified === undefined;
    return readProfile(isTrusted ? { ...claims, email_verified: true } : claims, claims);
  }

  /** The claims of the ID token, in the form of OpenID Connect. */
  protected claims(claims: Record<string, unknown>, _query: URLSearchParams): Record<string, unknown> {
    return claims;
  }

  protected async configuration(): Promise<Configuration> {
    return this.#known && this.#known.until > Date.now() ? this.#known.configuration : this.#discover();
  }

  async #ask(): Promise<Configuration> {
    const { issuer, clientId } = this.#settings;
    const { algorithm, endpoints } = this.#options;
    const server = new URL(issuer);
    const client = algorithm === undefined ? {} : { id_token_signed_response_alg: algorithm };
    const execute = [
      // Without it the ID token's signature would not be verified, because the answer came over TLS.
      enableNonRepudiationChecks,
      // The configuration allows http on this machine only.
      ...(server.protocol === "http:" ? [allowInsecureRequests] : []),
    ];
    try {
      const options = { timeout, [customFetch]: fetchLimited, execute };
      const configuration = await discovery(server, clientId, client, this.authentication, options);
      this.#known = { configuration, until: Date.now() + lifetime };
      return configuration;
    } catch (error) {
      this.log.error(describeFailure(error), "the provider's endpoints could not be discovered");
      if (this.#known) return this.#known.configuration; // use the cached endpoints, although expired
      if (!endpoints) throw error;
      const configuration = new Configuration(endpoints, clientId, client, this.authentication);
      configuration.timeout = timeout;
      configuration[customFetch] = fetchLimited;
      for (const apply of execute) apply(configuration);
      return configuration;
    }
  }
}

/** In the body, where Google documents it; as Basic where the provider does not name the body. */
const bySecret =
  (secret: string): ClientAuth =>
  (server, ...request) => {
    const isBasic = server.token_endpoint_auth_methods_supported?.includes("client_secret_post") === false;
    return (isBasic ? ClientSecretBasic : ClientSecretPost)(secret)(server, ...request);
  };
