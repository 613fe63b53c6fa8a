// If this file fails, a company's provider as in docs/how-to/company-sign-in.md signs in as users of others, or its employees do not
// get in.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Script, startScriptedProvider } from "../support/scripted-provider.ts";
import { documented } from "./documented.ts";

const page = "http://localhost:5173";
const orgId = "0197c2f0-5b6e-7c1a-9d53-0f3f6f1a2b3c";
const provider = await startScriptedProvider();
const { issuer, clientSecret } = provider.settings;
Object.assign(process.env, { ACME_ISSUER: issuer, ACME_CLIENT_SECRET: clientSecret, PAGES: `${page} ${issuer}` });
afterAll(() => {
  delete process.env.PAGES;
  return provider.close();
});
const { db, folder, url, person, lint } = documented("docs/how-to/company-sign-in.md");
beforeAll(() => db.sql("insert into svc.organizations (id, name) values ($1, 'Acme')", [orgId]));

/** A browser as far as this needs one. */
class Browser {
  readonly jar = new Map<string, string>();
  async go(path: string, init: RequestInit = {}) {
    const cookie = [...this.jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...(init.headers as object), ...(cookie && { cookie }) };
    const response = await fetch(url() + path, { ...init, redirect: "manual", headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0/i.test(line)) this.jar.delete(name);
      else this.jar.set(name, value);
    }
    return response;
  }
  post = (path: string, body: object, origin = page) =>
    this.go(path, {
      method: "POST",
      headers: { "content-type": "application/json", origin },
      body: JSON.stringify(body),
    });
  /** @returns the provider's page */
  async begin(more: object = {}): Promise<URL> {
    const body = {
      email: "kim@acme.example",
      callbackURL: `${page}/welcome`,
      errorCallbackURL: `${page}/sign-in`,
      ...more,
    };
    const response = await this.post("/api/auth/sign-in/sso", body);
    expect(response.status).toBe(200);
    return new URL((await response.json()).url);
  }
  /** @returns where the browser is sent */
  async back(state: string | null, script: Script | string): Promise<URL> {
    const code = typeof script === "string" ? script : provider.code(null, script);
    const response = await this.go(`/api/auth/sso/callback/acme?${new URLSearchParams({ code, state: state ?? "" })}`);
    return new URL(response.headers.get("location") ?? "http://none", url());
  }
  async signIn(claims: Record<string, unknown>): Promise<URL> {
    const at = await this.begin();
    return this.back(at.searchParams.get("state"), { claims: { name: "Kim", ...claims } });
  }
  session = () => this.jar.get("authlib.session_token");
  me = async () => (await (await this.go("/api/auth/me")).json()).user;
}

test("employees get in with their company's provider, and become members of its organization", async () => {
  const browser = new Browser();
  const at = await browser.begin();
  expect(at.origin + at.pathname).toBe(`${issuer}/authorize`);
  const asked = Object.fromEntries(at.searchParams);
  expect(asked).toMatchObject({ client_id: "svc", response_type: "code", code_challenge_method: "S256" });
  expect(asked.redirect_uri).toMatch(/\/api\/auth\/sso\/callback\/acme$/);
  const claims = { sub: "kim", email: "kim@acme.example", email_verified: true, name: "Kim" };
  expect((await browser.back(asked.state ?? "", { claims })).href).toBe(`${page}/welcome`);
  const verifier = provider.exchanges.at(-1)?.get("code_verifier") ?? "";
  expect(createHash("sha256").update(verifier).digest("base64url")).toBe(asked.code_challenge);

  const join = await browser.post("/api/mutation", { name: "companies.join", args: {} });
  expect(join.status).toBe(200);
  const report = await browser.post("/api/mutation", { name: "reports.create", args: { orgId, title: "May" } });
  expect(report.status).toBe(200);
  const rows = await db.sql(
    `select u.email, u.email_verified, m.org_id, m.role, a.provider_id, a.refresh_token = 'a-refresh-token' as plain
     from auth."user" u join auth.account a on a.user_id = u.id left join svc.organization_members m on m.user_id = u.id`,
  );
  expect(rows).toEqual([
    { email: claims.email, email_verified: false, org_id: orgId, role: "member", provider_id: "acme", plain: false },
  ]);
  const stranger = await person("stranger");
  const refused = await fetch(`${url()}/api/mutation`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${stranger.token}` },
    body: JSON.stringify({ name: "companies.join", args: {} }),
  });
  expect(refused.status).toBe(403);
});

test("a provider speaks for nobody else: not for other domains, and not for users that there are", async () => {
  const victim = await person("victim");
  const own = (await person("own")).user.id;
  await db.sql(`update auth."user" set email_verified = true`);
  await db.sql(`update auth."user" set email = 'own@acme.example' where id = $1`, [own]);
  const users = () => db.sql(`select id, email from auth."user" order by id`);
  const before = await users();
  for (const [email, error] of [
    [victim.user.email, "account not linked"],
    ["own@acme.example", "account not linked"],
    ["new@other.example", "foreign_address"],
    ["new@evil-acme.example", "foreign_address"],
    ["new@acme.example.evil.example", "foreign_address"],
  ]) {
    const browser = new Browser();
    const to = await browser.signIn({ sub: `as ${email}`, email, email_verified: true });
    expect([to.origin + to.pathname, to.searchParams.get("error")], email).toEqual([`${page}/sign-in`, error]);
    expect(browser.session()).toBeUndefined();
  }
  expect(await users()).toEqual(before);
  // The address of an employee who had signed in changes to one of another domain.
  expect((await new Browser().signIn({ sub: "kim", email: "victim@example.com" })).searchParams.get("error")).toBe(
    "foreign_address",
  );
});

test("tokens of others, and tokens that are not signed, are refused", async () => {
  const claims = { sub: "kim", email: "kim@acme.example" };
  const unsigned = ["eyJhbGciOiJub25lIn0", Buffer.from(JSON.stringify(claims)).toString("base64url"), ""].join(".");
  for (const script of [
    { claims: { ...claims, aud: "another-client" } },
    { claims: { ...claims, iss: "https://evil.example" } },
    { claims: { ...claims, exp: 1 } },
    { claims, idToken: () => unsigned },
  ] satisfies Script[]) {
    const browser = new Browser();
    const state = (await browser.begin()).searchParams.get("state");
    expect((await browser.back(state, script)).searchParams.get("error")).toBe("invalid_provider");
    expect(browser.session()).toBeUndefined();
  }
});

test("a sign-in ends in the browser that began it, once", async () => {
  const claims = { sub: "kim", email: "kim@acme.example" };
  const [attacker, victim] = [new Browser(), new Browser()];
  const state = (await attacker.begin()).searchParams.get("state");
  for (const stolen of [state, null, "0".repeat(32)]) {
    const to = await victim.back(stolen, { claims });
    expect(to.searchParams.has("error"), String(stolen)).toBe(true);
    expect(victim.session()).toBeUndefined();
  }
  // The state is used up, or not: its browser gets in at most once.
  const browser = new Browser();
  const mine = (await browser.begin()).searchParams.get("state");
  const before = [...browser.jar];
  const code = provider.code(null, { claims });
  // While its row is locked nobody deletes it, so a return that only looks for it finds it.
  const admin = await db.connect("admin");
  await admin.query("begin");
  await admin.query("select from auth.verification where identifier = $1 for update", [`auth-state:${mine}`]);
  const returns = [browser.back(mine, code), browser.back(mine, code)];
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await expect.poll(async () => (await db.sql(waiting)).length).toBeGreaterThan(0);
  await admin.query("commit");
  const both = await Promise.all(returns);
  expect(both.filter((to) => to.href === `${page}/welcome`)).toHaveLength(1);
  browser.jar.clear();
  for (const [name, value] of before) browser.jar.set(name, value);
  expect((await browser.back(mine, code)).searchParams.has("error")).toBe(true);
});

test("the browser is sent to pages of ours alone, and a foreign page begins nothing", async () => {
  for (const key of ["callbackURL", "errorCallbackURL", "newUserCallbackURL"]) {
    for (const foreign of ["https://evil.example/", "//evil.example", "/\\evil.example"]) {
      const body = { email: "kim@acme.example", callbackURL: `${page}/welcome`, [key]: foreign };
      expect((await new Browser().post("/api/auth/sign-in/sso", body)).status, `${key} ${foreign}`).toBe(403);
    }
  }
  const body = { email: "kim@acme.example", callbackURL: `${page}/welcome` };
  expect((await new Browser().post("/api/auth/sign-in/sso", body, "https://evil.example")).status).toBe(403);
});

test("a session from before is replaced, and nobody registers a provider", async () => {
  const browser = new Browser();
  const { sessionToken } = await person("planted");
  browser.jar.set("authlib.session_token", encodeURIComponent(sessionToken));
  expect((await browser.signIn({ sub: "kim", email: "kim@acme.example" })).href).toBe(`${page}/welcome`);
  expect(browser.session()).not.toBe(encodeURIComponent(sessionToken));
  expect(await browser.me()).toMatchObject({ email: "kim@acme.example" });
  const evil = { providerId: "evil", issuer, domain: "example.com", oidcConfig: { clientId: "a", clientSecret: "b" } };
  expect((await browser.post("/api/auth/sso/register", evil)).status).toBe(403);
});

test("the linter finds nothing", async () => {
  expect(await lint()).toEqual([]);
});

test("the page's client begins a sign-in, and leaves for the provider", async () => {
  const { signIn } = await import(join(folder, "web/company.ts"));
  const { fetch } = globalThis;
  vi.stubGlobal("fetch", (target: string | URL, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set("origin", page); // as a browser does
    return fetch(String(target).replace("http://localhost:4000", url()), { ...init, headers });
  });
  const location = { origin: page, href: "" };
  vi.stubGlobal("location", location);
  try {
    await signIn("kim@acme.example");
  } finally {
    vi.unstubAllGlobals();
  }
  expect(location.href.startsWith(`${issuer}/authorize?`), location.href).toBe(true);
});
