// If this file fails, somebody takes over an account by signing up with its owner's address first.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuthDefinition } from "../../src/contract/auth.ts";
import { type AuthServer, startAuthServer } from "../support/auth-server.ts";
import { Browser, exchange, type Page, results } from "../support/browser.ts";
import { database } from "../support/database.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";

const db = database();
const page = "https://front.test";
const password = "correct horse";
let provider: ScriptedProvider;
let server: AuthServer;
beforeAll(async () => {
  provider = await startScriptedProvider();
  server = await start();
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

const start = (definition: AuthDefinition = {}) =>
  startAuthServer(db, { google: provider.settings, definition, frontendOrigins: [page], max: 10 });
/** A new user with a Google account. */
let people = 0;
function somebody(change: Record<string, unknown> = {}) {
  const sub = `sub-${++people}`;
  return { sub, email: `${sub}@example.com`, email_verified: true, name: "Some Body", ...change };
}
const signIn = (claims: object, at = server) =>
  new Browser(at).signIn(provider, { claims: { ...claims } }, { callbackURL: page });
const userOf = async (answer: Page) => (await exchange(server, results(answer).code)).body.user;
const verify = (email: string) => db.sql('update auth."user" set email_verified = true where email = $1', [email]);
const accountsOf = (sub: string) => db.sql("select user_id from auth.account where account_id = $1", [sub]);

describe("a new person", () => {
  test("becomes a user with the address in lower case", async () => {
    const claims = somebody({ email: "  New.Person@EXAMPLE.com " });
    expect(await userOf(await signIn(claims))).toMatchObject({ email: "new.person@example.com", name: "Some Body" });
  });

  test.for<[string, Record<string, unknown>, string]>([
    ["without a name is called as in the address", { name: undefined, email: "calla@example.com" }, "calla"],
    ["with an invisible name likewise", { name: "\u200b\u3164", email: "calla2@example.com" }, "calla2"],
    ["with an empty name likewise", { name: "  ", email: "callb@example.com" }, "callb"],
    ["with a name that is no text likewise", { name: ["x"], email: "callc@example.com" }, "callc"],
    ["with a name of 300 characters keeps 200", { name: "n".repeat(300) }, "n".repeat(200)],
    ["with a name of 300 emoji keeps 200", { name: `n${"🐈".repeat(299)}` }, `n${"🐈".repeat(199)}`],
    ["with what cannot be stored in the name loses that", { name: "A\0B" }, "AB"],
  ])("%s", async ([, change, name]) => {
    expect(await userOf(await signIn(somebody(change)))).toMatchObject({ name });
  });

  test.for([["http://pictures.test/a.png"], ["javascript:alert(1)"], ["data:image/png;base64,AA"], [7], ["/a.png"]])(
    "keeps no picture like %j",
    async ([picture]) => {
      const { id } = await userOf(await signIn(somebody({ picture })));
      expect(await db.sql('select image from auth."user" where id = $1', [id])).toEqual([{ image: null }]);
    },
  );

  test.for<[string, Record<string, unknown>, string]>([
    ["has no address", { email: undefined }, "email_missing"],
    ["has something else for an address", { email: "no address" }, "email_missing"],
    ["has a list of addresses", { email: ["a@example.com"] }, "email_missing"],
    ["has an address that Google has not verified", { email_verified: false }, "email_not_verified"],
    ["has one of which Google says nothing", { email_verified: undefined }, "email_not_verified"],
    ["has one that is verified in a vague way", { email_verified: "true" }, "email_not_verified"],
  ])("that %s becomes no user", async ([, change, error]) => {
    const claims = somebody(change);
    expect(results(await signIn(claims))).toEqual({ error });
    expect(await accountsOf(claims.sub)).toEqual([]);
  });

  test("gets a user without a password: nobody can sign in with one", async () => {
    const { email } = await userOf(await signIn(somebody()));
    expect((await server.post("/sign-in", { email, password })).status).toBe(401);
  });
});

describe("a known person", () => {
  test("is found by Google's id, whatever happens to the address there", async () => {
    const claims = somebody();
    const user = await userOf(await signIn(claims));
    for (const change of [{ email: "moved@example.com" }, { email_verified: false }, { email: undefined }]) {
      expect(await userOf(await signIn({ ...claims, ...change }))).toEqual(user);
    }
  });

  test("is not whoever holds the address later: another id at Google is another person", async () => {
    const claims = somebody();
    await signIn(claims);
    const heir = { ...claims, sub: `${claims.sub}-heir` };
    expect(results(await signIn(heir))).toEqual({ error: "account_not_linked" });
    expect(await accountsOf(heir.sub)).toEqual([]);
  });
});

describe("an address that has a password here", () => {
  test("is linked when both sides have verified it, and both ways in lead to one user", async () => {
    const claims = somebody();
    const { user } = (await server.signUp({ email: claims.email, password, name: "Local" })).body;
    await verify(claims.email);
    expect(await userOf(await signIn(claims))).toEqual(user);
    expect((await server.post("/sign-in", { email: claims.email, password })).body.user).toEqual(user);
    expect(await accountsOf(claims.sub)).toEqual([{ user_id: user.id }]);
  });

  test("and was never verified is not linked: the one who signed up may not be its owner", async () => {
    const claims = somebody();
    const mallory = (await server.signUp({ email: claims.email, password, name: "Mallory" })).body;
    expect(results(await signIn(claims))).toEqual({ error: "account_not_linked" });
    expect(await accountsOf(claims.sub)).toEqual([]);
    const [user] = await db.sql('select email_verified from auth."user" where id = $1', [mallory.user.id]);
    expect(user).toEqual({ email_verified: false }); // nor has the attempt verified it
  });

  test("is not linked, nor told apart, when Google has not verified it", async () => {
    const claims = somebody({ email_verified: false });
    await server.signUp({ email: claims.email, password, name: "Local" });
    await verify(claims.email);
    expect(results(await signIn(claims))).toEqual({ error: "email_not_verified" });
    expect(results(await signIn(somebody({ email_verified: false })))).toEqual({ error: "email_not_verified" });
  });
});

describe("callbacks at the same moment", () => {
  test("of one new person make one user", async () => {
    const claims = somebody();
    const answers = await Promise.all(Array.from({ length: 8 }, () => signIn(claims)));
    const users = await Promise.all(answers.map(userOf));
    expect(new Set(users.map((user) => user?.id)).size).toBe(1);
    expect(users[0]).toMatchObject({ email: claims.email });
    expect(await accountsOf(claims.sub)).toHaveLength(1);
  });

  test("of one person who is to be linked make one account", async () => {
    const claims = somebody();
    const { user } = (await server.signUp({ email: claims.email, password, name: "Local" })).body;
    await verify(claims.email);
    const answers = await Promise.all(Array.from({ length: 8 }, () => signIn(claims)));
    for (const found of await Promise.all(answers.map(userOf))) expect(found).toEqual(user);
    expect(await accountsOf(claims.sub)).toHaveLength(1);
  });
});

describe("the application", () => {
  /** Signs a user in at a service with these options of better-auth. */
  async function under(options: object, claims: object = somebody()) {
    const strict = await start({ betterAuth: (defaults) => ({ ...defaults, ...options }) });
    const answer = await signIn(claims, strict);
    await strict.close();
    return answer;
  }
  const refused = { error: "sign_up_refused" };

  test("sees new users in its hooks, and may change them", async () => {
    const create = { before: async (user: object) => ({ data: { ...user, name: "Renamed" } }) };
    expect(await userOf(await under({ databaseHooks: { user: { create } } }))).toMatchObject({ name: "Renamed" });
  });

  test.for(["user", "account"])("may refuse a %s, and nothing is left", async (model) => {
    const claims = somebody();
    const databaseHooks = { [model]: { create: { before: async () => false } } };
    expect(results(await under({ databaseHooks }, claims))).toEqual(refused);
    expect(await db.sql('select id from auth."user" where email = $1', [claims.email])).toEqual([]);
  });

  test("may refuse by validateUserInfo, whoever it is and whatever is to be done", async () => {
    const seen: string[] = [];
    const validateUserInfo = (data: { source: { action: string; oauth: { profile: { hd?: string } } } }) => {
      seen.push(data.source.action);
      return data.source.oauth.profile.hd === "example.com" ? undefined : { error: "not_one_of_us" };
    };
    const options = {
      user: {
        fields: { emailVerified: "email_verified", createdAt: "created_at", updatedAt: "updated_at" },
        validateUserInfo,
      },
    };
    const claims = somebody();
    expect(results(await under(options, claims))).toEqual(refused);
    const member = { ...claims, hd: "example.com" };
    expect(results(await under(options, member))).toEqual({ code: expect.any(String) });
    expect(results(await under(options, claims))).toEqual(refused); // no longer a member

    const local = somebody();
    await server.signUp({ email: local.email, password, name: "Local" });
    await verify(local.email);
    expect(results(await under(options, local))).toEqual(refused);
    expect(seen).toEqual(["create-user", "create-user", "sign-in", "link-account"]);
  });

  test.for([{ enabled: false }, { disableImplicitLinking: true }])("may forbid linking: %j", async (accountLinking) => {
    const claims = somebody();
    await server.signUp({ email: claims.email, password, name: "Local" });
    await verify(claims.email);
    const strict = await start({
      betterAuth: (given) => ({ ...given, account: { ...given.account, accountLinking } }),
    });
    expect(results(await signIn(claims, strict))).toEqual({ error: "account_not_linked" });
    await strict.close();
  });
});
