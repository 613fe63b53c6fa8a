/** A real OpenID provider (oidc-provider) on a free port, with users who have accounts there and fill in its form. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import type { ProviderSettings } from "../../src/auth/social/provider.ts";

export interface ProviderAccount {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
  picture?: string;
}

export interface OpenIdProvider {
  /** The settings for the service. */
  settings: ProviderSettings;
  /** A second client with the same redirect URI: another application. */
  other: { clientId: string };
  close(): Promise<void>;
}

const client = (client_id: string, client_secret: string, redirectUri: string, method: Method) => ({
  client_id,
  client_secret,
  redirect_uris: [redirectUri],
  response_types: ["code" as const],
  grant_types: ["authorization_code"],
  token_endpoint_auth_method: method,
});

type Method = "client_secret_post" | "client_secret_basic";

/**
 * @param options.thin whether the ID token has nothing but the id, as at Okta; the user info has the rest
 * @param options.method how the client sends its secret; the provider takes no other way
 */
export async function startOpenIdProvider(
  accounts: readonly ProviderAccount[],
  redirectUri: string,
  { thin = false, method = "client_secret_post" }: { thin?: boolean; method?: Method } = {},
): Promise<OpenIdProvider> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = { issuer, clientId: "svc", clientSecret: "the-client-secret-of-svc" };
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });

  const provider = new Provider(issuer, {
    clients: [
      client(settings.clientId, settings.clientSecret, redirectUri, method),
      client("other", "the-secret-of-the-other", redirectUri, method),
    ],
    clientAuthMethods: [method],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: "first", alg: "RS256", use: "sig" }] },
    cookies: { keys: ["cookies of the provider"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "picture"] },
    conformIdTokenClaims: thin, // false as at Google: the ID token has e-mail and name
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    findAccount: (_ctx, sub) => {
      const account = accounts.find((known) => known.sub === sub);
      return account && { accountId: sub, claims: () => ({ ...account }) };
    },
  });
  const callback = provider.callback();
  server.on("request", (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return void callback(request, response);
    interact(provider, request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  return {
    settings,
    other: { clientId: "other" },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The provider's pages: GET shows its form, POST answers it, with `account`, or with `decline`. */
async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, session, params } = await provider.interactionDetails(request, response);
  if (request.method === "GET") return void response.end(prompt.name);
  const form = new URLSearchParams(await text(request));
  if (form.has("decline")) {
    const refusal = { error: "access_denied", error_description: "<b>declined</b>" };
    return provider.interactionFinished(request, response, refusal);
  }
  if (prompt.name === "login") {
    return provider.interactionFinished(request, response, { login: { accountId: form.get("account") ?? "" } });
  }
  const grant = new provider.Grant({ accountId: session?.accountId ?? "", clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope));
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}
