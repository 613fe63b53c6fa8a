/** An OpenID provider that gives any answer that a test wants, right or wrong, with only node:http and jose. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import type { ProviderSettings } from "../../src/auth/social/provider.ts";

/** The answer to the exchange of a code. */
export interface Script {
  claims?: JWTPayload;
  /** Creates the ID token from the claims (Default: signed with its published key) */
  idToken?: (claims: JWTPayload) => Promise<string> | string;
  /** An answer instead of tokens. */
  answer?: { status: number; body: string };
}

export class ScriptedProvider {
  readonly settings: ProviderSettings;
  /** Forms that the token endpoint received. */
  readonly exchanges: URLSearchParams[] = [];
  /** Requested paths. */
  readonly requests: string[] = [];
  /** Further members of the discovery document. */
  metadata: object = {};
  /** Further published keys. */
  otherKeys: JWK[] = [];
  readonly #codes = new Map<string, Script>();
  readonly #keys: CryptoKeyPair;
  readonly #close: () => Promise<void>;

  constructor(issuer: string, keys: CryptoKeyPair, close: () => Promise<void>) {
    this.settings = { issuer, clientId: "svc", clientSecret: "the-client-secret-of-svc" };
    this.#keys = keys;
    this.#close = close;
  }

  /** A code with this result. Claims are those of a valid sign-in, except for the script's changes. */
  code(nonce: string | null, script: Script = {}): string {
    const now = Math.floor(Date.now() / 1000);
    const { issuer, clientId } = this.settings;
    const base = { iss: issuer, aud: clientId, iat: now, exp: now + 300, ...(nonce !== null && { nonce }) };
    const code = crypto.randomUUID();
    this.#codes.set(code, { ...script, claims: { ...base, ...script.claims } });
    return code;
  }

  /** Signs with the published key, whatever the header says. */
  sign(claims: JWTPayload, header: object = {}): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", kid: "first", ...header })
      .sign(this.#keys.privateKey);
  }

  async answer(path: string, body: string): Promise<{ status: number; body: string }> {
    this.requests.push(path);
    const json = (value: unknown) => ({ status: 200, body: JSON.stringify(value) });
    const { issuer } = this.settings;
    if (path === "/.well-known/openid-configuration") {
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        id_token_signing_alg_values_supported: ["RS256", "HS256", "none"],
        ...this.metadata,
      });
    }
    if (path === "/keys") {
      return json({
        keys: [
          { ...(await exportJWK(this.#keys.publicKey)), kid: "first", alg: "RS256", use: "sig" },
          ...this.otherKeys,
        ],
      });
    }
    const form = new URLSearchParams(body);
    this.exchanges.push(form);
    const script = this.#codes.get(form.get("code") ?? "");
    if (!script) return { status: 400, body: JSON.stringify({ error: "invalid_grant" }) };
    if (script.answer) return script.answer;
    const idToken = await (script.idToken ?? ((claims) => this.sign(claims)))(script.claims ?? {});
    return json({
      access_token: "an-access-token",
      token_type: "bearer",
      refresh_token: "a-refresh-token",
      id_token: idToken,
    });
  }

  close = () => this.#close();
}

export async function startScriptedProvider(): Promise<ScriptedProvider> {
  const keys = await generateKeyPair("RS256", { extractable: true });
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const provider = new ScriptedProvider(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys,
    async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  );
  server.on("request", async (request, response) => {
    const { status, body } = await provider.answer(request.url ?? "", await text(request));
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  return provider;
}
