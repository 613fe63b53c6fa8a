// If this file fails, the recipe of docs/how-to/passkeys.md tells nobody that an account has a new way in, or tells what was refused.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { twoFactor } from "better-auth/plugins";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { type AuthDefinition, defineAuth } from "../../src/contract/auth.ts";
import { snippets } from "../docs/markdown.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { Authenticator } from "../support/authenticator.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { totp } from "../support/totp.ts";

const db = database();
let server: AuthServer;
beforeAll(async () => {
  const recipe = (await snippets()).find(({ place, text }) => /passkeys\.md:/.test(place) && text.includes("hooks:"));
  const folder = join(root, ".svc", `passkey-mails-${process.pid}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "auth.ts"), recipe?.text ?? "");
  const shown = ((await import(join(folder, "auth.ts"))) as { default: AuthDefinition }).default;
  const definition = defineAuth({
    ...shown,
    betterAuth: (defaults) => ({
      ...shown.betterAuth?.(defaults),
      rateLimit: { enabled: false },
      plugins: [twoFactor()],
    }),
  });
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition });
  return async () => {
    await server.close();
    await rm(folder, { recursive: true });
  };
});
afterEach(() => vi.restoreAllMocks());

test("a passkey that is added or removed, and the end of the second factor, are told once, and nothing that was refused", async () => {
  const told = vi.spyOn(console, "log").mockReturnValue();
  const bearer = (await server.signUp(ann)).body.sessionToken as string;
  const post = (path: string, body: object) => server.post(path, body, { bearer });
  const { challenge, svcChallenge } = (await server.get("/passkey/generate-register-options", { bearer })).body;
  const body = { response: new Authenticator(origin).register(challenge), svcChallenge };
  const added = await post("/passkey/verify-registration", body);
  expect(added.status).toBe(200);
  expect((await post("/passkey/verify-registration", body)).status).toBe(400);
  expect((await post("/passkey/delete-passkey", { id: "another" })).status).not.toBe(200);
  expect((await post("/passkey/delete-passkey", { id: added.body.id })).status).toBe(200);
  const { totpURI } = (await post("/two-factor/enable", { password: ann.password })).body;
  const verified = await post("/two-factor/verify-totp", { code: totp(totpURI) });
  const now = { bearer: verified.body.sessionToken ?? bearer };
  expect((await server.post("/two-factor/disable", { password: "wrong horse" }, now)).status).toBe(400);
  expect((await server.post("/two-factor/disable", { password: ann.password }, now)).status).toBe(200);
  expect(told.mock.calls).toEqual(
    [
      "A passkey was added to your account",
      "A passkey was removed from your account",
      "The second factor of your account was switched off",
    ].map((subject) => [{ to: ann.email, subject }]),
  );
});
