// If this file fails, anybody can impersonate any user: a token is accepted that we did not sign, or that is no longer
// valid.
import { createHmac, generateKeyPairSync } from "node:crypto";
import { symmetricDecrypt } from "better-auth/crypto";
import { decodeJwt, decodeProtectedHeader, importJWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type AuthServer, ann, origin, secret, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

const db = database();
let server: AuthServer;
let real: { token: string; sessionToken: string; user: { id: string } };
/** The service's own signing key, which an attacker does not have. With it, tests change one thing at a time. */
let key: { kid: string; privateKey: CryptoKey };

beforeAll(async () => {
  server = await startAuthServer(db);
  real = (await server.signUp()).body;
  const [row] = await db.sql<{ id: string; private_key: string }>("select id, private_key from auth.jwks");
  if (!row) throw new Error("There is no key.");
  const sealed = JSON.parse(row.private_key);
  const version = Number(sealed.split("$")[2]);
  const secrets = { keys: new Map([[version, secret]]), currentVersion: version };
  const jwk = JSON.parse(await symmetricDecrypt({ key: secrets, data: sealed }));
  key = { kid: row.id, privateKey: (await importJWK(jwk, "EdDSA")) as CryptoKey };
});
afterAll(() => server.close());

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const parts = (token: string) => token.split(".") as [string, string, string];

/** A token with the real key's signature and changed content. */
function signed(claims: JWTPayload = {}, header: Partial<JWTHeaderParameters> = {}, by?: CryptoKey): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const payload = { ...decodeJwt(real.token), iat: now, exp: now + 300, ...claims };
  return new SignJWT(payload)
    .setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid: key.kid, ...header })
    .sign(by ?? key.privateKey);
}

const otherKeyPair = () => generateKeyPairSync("ed25519");
/** An HMAC with the public key: accepted by verifiers that let the token choose its algorithm. */
async function hmacOfPublicKey(form: "x" | "jwk"): Promise<string> {
  const { keys } = (await server.get("/jwks")).body;
  const hmacKey = form === "x" ? Buffer.from(keys[0].x, "base64url") : JSON.stringify(keys[0]);
  const signedPart = `${encode({ alg: "HS256", typ: "JWT", kid: key.kid })}.${parts(real.token)[1]}`;
  return `${signedPart}.${createHmac("sha256", hmacKey).update(signedPart).digest("base64url")}`;
}
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

const forgeries: { what: string; token: () => string | Promise<string> }[] = [
  { what: "alg none, no signature", token: () => `${encode({ alg: "none", typ: "JWT" })}.${parts(real.token)[1]}.` },
  {
    what: "alg none, with our kid and signature",
    token: () => `${encode({ alg: "none", typ: "JWT", kid: key.kid })}.${parts(real.token)[1]}.${parts(real.token)[2]}`,
  },
  { what: "HS256 with the public key's bytes", token: () => hmacOfPublicKey("x") },
  { what: "HS256 with the public key's JWK", token: () => hmacOfPublicKey("jwk") },
  { what: "another key under our kid", token: async () => signed({}, {}, otherKeyPair().privateKey as never) },
  {
    what: "another key under its own kid",
    token: () => signed({}, { kid: "other" }, otherKeyPair().privateKey as never),
  },
  {
    what: "another key that the token brings along",
    token: () => {
      const pair = otherKeyPair();
      const jwk = pair.publicKey.export({ format: "jwk" });
      return signed({}, { kid: "other", jwk: jwk as never }, pair.privateKey as never);
    },
  },
  { what: "our key, an unknown kid", token: () => signed({}, { kid: "3b0cbd5c-7d3c-4a9a-8f7e-1f4c5d6e7f80" }) },
  { what: "our key, no kid", token: () => signed({}, { kid: undefined as never }) },
  { what: "our key, typ of something else", token: () => signed({}, { typ: "dpop+jwt" }) },
  { what: "our key, no typ", token: () => signed({}, { typ: undefined as never }) },
  { what: "another issuer", token: () => signed({ iss: "https://evil.test" }) },
  { what: "another audience", token: () => signed({ aud: "https://evil.test" }) },
  { what: "no issuer", token: () => signed({ iss: undefined as never }) },
  { what: "no audience", token: () => signed({ aud: undefined as never }) },
  { what: "expired", token: () => signed({ iat: inSeconds(-301), exp: inSeconds(-1) }) },
  { what: "no expiry", token: () => signed({ exp: undefined as never }) },
  { what: "not valid yet", token: () => signed({ nbf: inSeconds(60) }) },
  { what: "no subject", token: () => signed({ sub: undefined as never }) },
  { what: "no session", token: () => signed({ sid: undefined }) },
  { what: "a session that there is not", token: () => signed({ sid: "x".repeat(32) }) },
  { what: "a session that is a list", token: () => signed({ sid: [decodeJwt(real.token).sid] }) },
  { what: "the session of another user", token: async () => signed({ sid: decodeJwt(await other()).sid }) },
  {
    what: "another subject in our session",
    token: async () => signed({ sub: decodeJwt(await other()).sub as string }),
  },
  { what: "no version of the user", token: () => signed({ ver: undefined }) },
  { what: "an earlier version", token: () => signed({ ver: Number(decodeJwt(real.token).ver) - 1 }) },
  { what: "a later version", token: () => signed({ ver: Number(decodeJwt(real.token).ver) + 1 }) },
  { what: "a version that is a text", token: () => signed({ ver: String(decodeJwt(real.token).ver) }) },
  { what: "a version with a fraction", token: () => signed({ ver: Number(decodeJwt(real.token).ver) + 0.5 }) },
  { what: "a version without end", token: () => signed({ ver: 1e300 }) },
  { what: "a subject that is a list", token: () => signed({ sub: ["a"] as never }) },
  {
    what: "a critical extension we do not know",
    token: () => signed({}, { crit: ["x"], x: 1 }).catch(() => critical()),
  },
  {
    what: "another payload under the real signature",
    token: () => {
      const [header, payload, signature] = parts(real.token);
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
      return `${header}.${encode({ ...claims, sub: "somebody-else" })}.${signature}`;
    },
  },
  {
    what: "one bit of the signature changed",
    token: () => {
      const [header, payload, signature] = parts(real.token);
      const bytes = Buffer.from(signature, "base64url");
      bytes[10] = (bytes[10] ?? 0) ^ 1;
      return `${header}.${payload}.${bytes.toString("base64url")}`;
    },
  },
  { what: "no signature at all", token: () => `${parts(real.token)[0]}.${parts(real.token)[1]}.` },
  { what: "four parts", token: () => `${real.token}.x` },
  { what: "a header that is no JSON", token: () => `%%%.${parts(real.token)[1]}.${parts(real.token)[2]}` },
  { what: "a payload that is null", token: () => `${parts(real.token)[0]}.${encode(null)}.${parts(real.token)[2]}` },
  { what: "dots", token: () => ".." },
];

let others = 0;
/** Another user's JWT. */
const other = async () => (await server.signUp({ ...ann, email: `other${++others}@example.com` })).body.token as string;

/** jose refuses to sign tokens that it would not verify. */
const critical = () =>
  `${encode({ alg: "EdDSA", typ: "JWT", kid: key.kid, crit: ["x"], x: 1 })}.${parts(real.token)[1]}.${parts(real.token)[2]}`;

describe("a JWT", () => {
  test("that the test signs with the real key and no change is believed, so each refusal below has one reason", async () => {
    expect(await server.caller(await signed())).toMatchObject({ user: real.user });
  });

  test.for(forgeries)("is refused: $what", async ({ token }) => {
    const forged = await token();
    expect(await server.caller(forged)).toBeNull();
    expect(await server.get("/me", { bearer: forged })).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
    expect(await server.caller(forged)).toBeNull(); // and again, should the first look have remembered anything
  });

  test("is believed until it expires and no longer, although it was remembered", async () => {
    const brief = await signed({ exp: inSeconds(60) });
    expect(await server.caller(brief)).not.toBeNull();
    vi.useFakeTimers({ toFake: ["Date"], now: (inSeconds(60) + 1) * 1000 });
    try {
      expect(await server.caller(brief)).toBeNull();
    } finally {
      vi.useRealTimers();
    }
  });

  test("that has expired is refused a thousand times at once, and ends no session", async () => {
    const expired = await signed({ iat: inSeconds(-301), exp: inSeconds(-1) });
    const sessions = await db.snapshot("auth.session");
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => server.get("/me", { bearer: expired })));
    expect(answers.filter(({ status }) => status !== 401)).toEqual([]);
    expect(await db.snapshot("auth.session")).toEqual(sessions);
    expect(await server.caller(real.token)).toMatchObject({ user: real.user });
  });

  test("does not outlive its session", async () => {
    const { body } = await server.signUp({ ...ann, email: "brief@example.com" });
    // A hook of the application may shorten sessions. The daily extension would lengthen this one, so it is off.
    const short = await startAuthServer(db, {
      definition: {
        betterAuth: (options) => ({ ...options, session: { ...options.session, updateAge: 0, expiresIn: 60 } }),
      },
    });
    const { token } = (await short.post("/sign-in", { email: body.user.email, password: ann.password })).body;
    const { iat, exp } = decodeJwt(token);
    expect(Number(exp) - Number(iat)).toBeLessThanOrEqual(60);
    await short.close();
  });

  test("of another service, with its own key, is not ours", async () => {
    const other = await startAuthServer(db, { baseUrl: "https://other.test" });
    // The same database and keys with another origin: only issuer and audience differ.
    expect(await other.caller(real.token)).toBeNull();
    await other.close();
  });

  test("cannot be used to become somebody through the remembered session of another request", async () => {
    const headers = { authorization: `Bearer ${real.token}` };
    const session = await server.auth.authenticate(headers);
    expect(() => Object.assign(session?.user ?? {}, { id: "somebody-else" })).toThrow(TypeError);
    expect(await server.auth.authenticate(headers)).toMatchObject({ user: real.user });
  });

  test("says what it is: EdDSA, typ JWT, a published kid, and nothing secret in it", async () => {
    const header = decodeProtectedHeader(real.token);
    expect(header).toEqual({ alg: "EdDSA", typ: "JWT", kid: key.kid });
    expect(Object.keys(decodeJwt(real.token)).sort()).toEqual(
      ["aud", "email", "exp", "fields", "iat", "iss", "jti", "name", "sid", "sub", "ver"].sort(),
    );
    expect(decodeJwt(real.token).iss).toBe(origin);
  });
});

describe("GET /jwks", () => {
  test("publishes the public halves only", async () => {
    const { status, body } = await server.get("/jwks");
    expect(status).toBe(200);
    expect(body.keys).toEqual([
      { kty: "OKP", crv: "Ed25519", x: expect.any(String), kid: key.kid, alg: "EdDSA", use: "sig" },
    ]);
  });
});

describe("a credential", () => {
  test("is asked for at once when it has been seen: no promise, no database", async () => {
    const headers = { authorization: `Bearer ${real.token}` };
    const isPromise = async () => {
      await server.caller(real.token);
      return server.auth.authenticate(headers) instanceof Promise;
    };
    await expect.poll(isPromise).toBe(false);
    expect(server.auth.authenticate({})).toBeNull();
    expect(server.auth.authenticate({ authorization: "Bearer nonsense" })).toBeNull();
  });

  test("under a made-up kid costs no query each", async () => {
    const tokens = await Promise.all(
      Array.from({ length: 200 }, (_, index) => signed({}, { kid: `made-up-${index}` })),
    );
    let queries = 0;
    server.pool.on("acquire", () => void queries++);
    const started = Date.now();
    for (const token of tokens) expect(await server.auth.authenticate({ authorization: `Bearer ${token}` })).toBeNull();
    // besides the process's notices to itself, one in ten seconds
    expect(queries).toBeLessThanOrEqual(2 + (Date.now() - started) / 2000);
  });

  test.for(["bearer", "BEARER", "Bearer"])("is found after %s, as HTTP has it", async (scheme) => {
    expect(await server.auth.authenticate({ authorization: `${scheme} ${real.sessionToken}` })).not.toBeNull();
  });

  test.for(["Basic", "DPoP", "Token", "Bearerx", ""])("of the scheme %o is not looked at", async (scheme) => {
    expect(server.auth.authenticate({ authorization: `${scheme} ${real.token}` })).toBeNull();
  });
});
