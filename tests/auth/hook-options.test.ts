// If this file fails, options that the betterAuth hook leaves out are lost: sign-in by password ends, or an unverified
// address signs in.
import { createAuthEndpoint } from "better-auth/api";
import { parseState } from "better-auth/oauth2";
import { expect, test } from "vitest";
import { libraryOptions } from "../../src/auth/library-options.ts";
import type { AuthDefinition } from "../../src/contract/auth.ts";
import { ann, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

const db = database();

async function signUpWith(definition: AuthDefinition) {
  await db.sql('delete from auth."user"');
  const server = await startAuthServer(db, { definition });
  try {
    return await server.post("/sign-up", ann);
  } finally {
    await server.close();
  }
}

test("a hook that returns only its plugins keeps sign-in by password", async () => {
  expect(await signUpWith({ betterAuth: () => ({ plugins: [] }) })).toMatchObject({ status: 200 });
});

test("a hook that sets one rule for passwords keeps the other settings", async () => {
  const betterAuth: AuthDefinition["betterAuth"] = (defaults) => ({
    ...defaults,
    emailAndPassword: { enabled: true, minPasswordLength: 10 },
  });
  const emailVerification = { required: true, sendVerificationEmail: () => {} };
  const answer = await signUpWith({ betterAuth, emailVerification });
  expect(answer).toMatchObject({ status: 403, body: { code: "EMAIL_NOT_VERIFIED" } });
});

test("a hook that sets one rule for the rate of requests keeps the limit of the others, also outside production", () => {
  const betterAuth: AuthDefinition["betterAuth"] = () => ({
    rateLimit: { customRules: { "/sign-in/anonymous": false } },
  });
  expect(libraryOptions({ betterAuth }, {}, { basePath: "/api/auth" }).rateLimit).toMatchObject({ enabled: true });
});

test("an async hook is refused", () => {
  const betterAuth = (async (defaults: unknown) => defaults) as unknown as AuthDefinition["betterAuth"];
  expect(() => libraryOptions({ betterAuth }, {}, { basePath: "/api/auth" })).toThrow("betterAuth returned a promise");
});

test.for<[what: string, chosen: string | undefined, location: string]>([
  ["the application's page for errors", "/sorry", "/sorry?error=state_mismatch"],
  ["the root of the service without one: the library's own page is not there", undefined, "/?error=state_mismatch"],
])("a sign-in by a plugin that fails without a page to return to leads to %s", async ([, errorURL, location]) => {
  const back = createAuthEndpoint("/strange/callback", { method: "GET" }, async (ctx) => void (await parseState(ctx)));
  const server = await startAuthServer(db, {
    definition: {
      betterAuth: (defaults) => ({
        ...defaults,
        ...(errorURL && { onAPIError: { errorURL } }),
        plugins: [{ id: "strange", endpoints: { back } }],
      }),
    },
  });
  const answer = await fetch(`${server.url}/api/auth/strange/callback?state=x`, { redirect: "manual" });
  expect([answer.status, answer.headers.get("location")]).toEqual([302, location]);
  await server.close();
});
