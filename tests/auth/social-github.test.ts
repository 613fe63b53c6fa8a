// If this file fails, people cannot sign in with GitHub, or somebody else's address is taken for theirs.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AuthServer, startAuthServer } from "../support/auth-server.ts";
import { Browser, exchange, type Page, results } from "../support/browser.ts";
import { database } from "../support/database.ts";
import { type GitHub, type GitHubAccount, startGitHub } from "../support/github.ts";

const db = database();
const page = "https://front.test";
const clients = { GITHUB_CLIENT_ID: "svc", GITHUB_CLIENT_SECRET: "the-client-secret-of-svc" };
let github: GitHub;
let server: AuthServer;
beforeAll(async () => {
  github = await startGitHub();
  const definition = { social: { github: { url: github.url } }, oauth: { allowedReturnModes: ["token"] as const } };
  server = await startAuthServer(db, { definition, clients, frontendOrigins: [page] });
});
afterAll(async () => {
  await server.close();
  github.close();
});

let people = 0;
function somebody(user: object = {}, emails?: GitHubAccount["emails"]): GitHubAccount {
  const id = 1000 + ++people;
  const address = { email: `hub${id}@example.com`, primary: true, verified: true };
  const avatar_url = `https://avatars.test/${id}`;
  return { user: { id, login: `hub-${id}`, name: "Some Body", avatar_url, ...user }, emails: emails ?? [address] };
}

async function signIn(account: GitHubAccount | number): Promise<Page> {
  const browser = new Browser(server);
  const { location } = await browser.begin({ provider: "github", callbackURL: page });
  const code = crypto.randomUUID();
  github.accounts.set(code, account);
  return browser.back({ code, state: location?.searchParams.get("state") ?? "", ...issuer() }, "github");
}
/** Since April 2026 GitHub's callback says whose it is (RFC 9207). */
const issuer = () => ({ iss: `${github.url}/login/oauth` });
const userOf = async (answer: Page) => (await exchange(server, results(answer).code)).body.user;

test("the redirect asks for a code with PKCE and state, and for the addresses", async () => {
  const { status, location } = await new Browser(server).begin({ provider: "github" });
  expect(status).toBe(302);
  expect(`${location?.origin}${location?.pathname}`).toBe(`${github.url}/login/oauth/authorize`);
  expect(Object.fromEntries(location?.searchParams ?? [])).toEqual({
    client_id: "svc",
    response_type: "code",
    redirect_uri: "https://app.test/api/auth/callback/github",
    scope: "read:user user:email",
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: "S256",
    state: expect.stringMatching(/^[\w-]{43}$/),
  });
});

test("a new person becomes a user, and no token of GitHub is kept", async () => {
  const account = somebody();
  const user = await userOf(await signIn(account));
  expect(user).toMatchObject({ email: account.emails?.[0]?.email, name: "Some Body" });
  expect(Object.fromEntries(github.exchanges.at(-1) ?? [])).toMatchObject({
    grant_type: "authorization_code",
    client_id: "svc",
    client_secret: clients.GITHUB_CLIENT_SECRET,
    code_verifier: expect.stringMatching(/^[\w-]{43}$/),
  });
  const [stored] = await db.sql(
    `select u.email_verified, u.image, a.provider_id, a.account_id, to_jsonb(a)::text as all
       from auth."user" u join auth.account a on a.user_id = u.id where u.id = $1`,
    [user.id],
  );
  expect(stored).toMatchObject({
    email_verified: true,
    image: account.user.avatar_url,
    provider_id: "github",
    account_id: String(account.user.id),
  });
  expect(stored?.all).not.toContain("gho_");
  expect(server.log.join("")).not.toMatch(/gho_|the-client-secret-of-svc/);
});

test("a user is known again by GitHub's number, whatever the name and the address are now", async () => {
  const account = somebody();
  const before = await userOf(await signIn(account));
  const renamed = somebody({ id: account.user.id, login: "renamed" });
  expect((await userOf(await signIn(renamed))).id).toBe(before.id);
});

test("without a name the login is the name", async () => {
  expect(await userOf(await signIn(somebody({ name: null })))).toMatchObject({ name: `hub-${1000 + people}` });
});

test("a callback without an issuer, as of older servers, is accepted; one of another issuer is not", async () => {
  const back = async (other: Record<string, string>) => {
    const browser = new Browser(server);
    const { location } = await browser.begin({ provider: "github", callbackURL: page });
    const code = crypto.randomUUID();
    github.accounts.set(code, somebody());
    return results(await browser.back({ code, state: location?.searchParams.get("state") ?? "", ...other }, "github"));
  };
  expect(await back({})).toEqual({ code: expect.any(String) });
  expect(await back({ iss: "https://attacker.example" })).toEqual({ error: "provider_error" });
});

describe("an address counts only if it is the primary one and GitHub has verified it", () => {
  const other = { email: "second@example.com", primary: false, verified: true };
  test.for<[string, GitHubAccount["emails"], string]>([
    ["not verified", [{ email: "x@example.com", primary: true, verified: false }, other], "email_not_verified"],
    ["none is primary", [other], "email_missing"],
    ["none", [], "email_missing"],
  ])("%s", async ([, emails, error]) => {
    expect(results(await signIn(somebody({}, emails)))).toEqual({ error });
  });

  test("an app that may not read addresses", async () => {
    const { emails: _, ...account } = somebody();
    expect(results(await signIn(account))).toEqual({ error: "email_missing" });
  });

  test("the address of the profile, which need not be verified, is not read", async () => {
    const unverified = { email: "own@example.com", primary: true, verified: false };
    const account = somebody({ email: "victim@example.com" }, [unverified]);
    expect(results(await signIn(account))).toEqual({ error: "email_not_verified" });
  });
});

describe("a failure at GitHub", () => {
  test.for<[string, GitHubAccount | number, string]>([
    ["an outage", 502, "provider_unavailable"],
    ["a refused token", 401, "provider_error"],
    ["a limit", 429, "provider_error"],
    ["a user without a number", somebody({ id: "x" }), "provider_error"],
  ])("%s is told by one word", async ([, answer, error]) => {
    expect(results(await signIn(answer))).toEqual({ error });
  });

  test("a code that GitHub does not know", async () => {
    const browser = new Browser(server);
    const { location } = await browser.begin({ provider: "github", callbackURL: page });
    const state = location?.searchParams.get("state") ?? "";
    expect(results(await browser.back({ code: "unknown", state }, "github"))).toEqual({ error: "provider_error" });
  });

  test("a person who declines", async () => {
    const browser = new Browser(server);
    const { location } = await browser.begin({ provider: "github", callbackURL: page });
    const state = location?.searchParams.get("state") ?? "";
    const answer = await browser.back({ error: "access_denied", state }, "github");
    expect(results(answer)).toEqual({ error: "access_denied" });
  });
});
