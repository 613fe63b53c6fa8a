/**
 * GitHub: OAuth 2 without OpenID Connect. There is no ID token, so the API says who the user is.
 * https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 */
import { allowInsecureRequests, Configuration, customFetch, fetchProtectedResource } from "openid-client";
import type { Logger } from "pino";
import { z } from "zod";
import { type Profile, readProfile } from "./profile.ts";
import { fetchLimited, Provider, type ProviderSettings, type Tokens, timeout } from "./provider.ts";

const userSchema = z.looseObject({
  id: z.int().positive(),
  login: z.string(),
  name: z.string().nullish(),
  avatar_url: z.string().nullish(),
});

const addressesSchema = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

export class GitHubProvider extends Provider {
  protected readonly isOpenId = false;
  protected readonly parameters = { scope: "read:user user:email" };
  readonly #configuration: Configuration;
  readonly #api: string;

  constructor({ clientId, clientSecret, issuer }: ProviderSettings, own: string, log: Logger) {
    super("github", own, log);
    const server = issuer.replace(/\/+$/, "");
    // A GitHub Enterprise Server has the API below its own address.
    this.#api = server === "https://github.com" ? "https://api.github.com" : `${server}/api/v3`;
    this.#configuration = new Configuration(
      {
        issuer: `${server}/login/oauth`, // of the callback's parameter iss
        authorization_endpoint: `${server}/login/oauth/authorize`,
        token_endpoint: `${server}/login/oauth/access_token`,
      },
      clientId,
      clientSecret,
    );
    this.#configuration.timeout = timeout;
    this.#configuration[customFetch] = fetchLimited;
    if (server.startsWith("http:")) allowInsecureRequests(this.#configuration); // on this machine only
  }

  protected async configuration(): Promise<Configuration> {
    return this.#configuration;
  }

  protected async read(configuration: Configuration, { access_token }: Tokens): Promise<Profile | null> {
    const ask = (path: string) => {
      const headers = new Headers({ accept: "application/vnd.github+json", "user-agent": "svc" });
      return fetchProtectedResource(configuration, access_token, new URL(this.#api + path), "GET", null, headers);
    };
    const [user, addresses] = await Promise.all([ask("/user"), ask("/user/emails")]);
    const found = userSchema.parse(await json(user));
    // A GitHub App without the permission to read addresses is answered 403.
    const listed = addresses.status === 403 ? [] : addressesSchema.parse(await json(addresses));
    const primary = listed.find((one) => one.primary);
    return readProfile(
      {
        sub: String(found.id),
        email: primary?.email,
        email_verified: primary?.verified,
        name: found.name || found.login,
        picture: found.avatar_url,
      },
      found,
    );
  }
}

/** @throws as a failed request: `failureOf` tells an outage by the status */
async function json(response: Response): Promise<unknown> {
  if (!response.ok) throw new Error("the API refused the request", { cause: response });
  return response.json();
}
