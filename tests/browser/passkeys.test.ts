// If this file fails, nobody can sign in with a passkey, or with one that is not theirs.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { twoFactor } from "better-auth/plugins";
import type { BrowserContext, CDPSession, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type * as sdk from "../../client/sdk/src/index.ts";
import { defineApi } from "../../src/app/api.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { TestService } from "../support/service.ts";
import { chromiumPath, openBrowser, whySkipped } from "./desk-app.ts";

declare const auth: sdk.AuthClient;
declare const passkeys: Pick<typeof sdk, "addPasskey" | "signInWithPasskey">;

/** Serves a page on an origin of its own, and the SDK as the browser's modules. */
class Front {
  api = "";
  readonly #server = createServer(({ url = "/" }, response) => {
    const { pathname, search } = new URL(url, "http://localhost");
    if (pathname.endsWith(".ts")) {
      response.setHeader("content-type", "text/javascript");
      response.end(stripTypeScriptTypes(readFileSync(join(root, "client/sdk/src", pathname), "utf8")));
      return;
    }
    response.setHeader("content-type", "text/html");
    response.end(`<link rel="icon" href="data:,"><title>Passkeys</title><script type="module">
      import { createAuthClient } from "/auth/create-auth-client.ts";
      globalThis.auth = createAuthClient("${this.api}", { strategy: { kind: "${search.slice(1)}" } });
      globalThis.passkeys = await import("/auth/passkeys.ts");</script>`);
  });
  async listen(): Promise<void> {
    this.#server.listen(0);
    await once(this.#server, "listening");
  }
  get origin(): string {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}`;
  }
  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

if (!chromiumPath) test.skip(`passkeys in a browser: ${whySkipped}`);

describe.skipIf(!chromiumPath)("a page", () => {
  const db = database("platform");
  const front = new Front();
  const definition = defineAuth({
    passkeys: { name: "Desk" },
    betterAuth: (defaults) => ({ ...defaults, plugins: [twoFactor({ issuer: "Desk" })] }),
  });
  let app: TestService;
  beforeAll(async () => {
    await migrateAuth(db, definition);
    await front.listen();
    app = new TestService(
      db,
      defineApi({ procedures: {} }),
      { frontendOrigins: [front.origin] },
      {},
      undefined,
      definition,
    );
    await app.start();
    front.api = app.url;
  });
  afterAll(async () => {
    await app.stop();
    front.close();
  });

  let context: BrowserContext | undefined;
  afterEach(() => context?.close());

  /** A page of the SDK, in a browser whose device makes passkeys. */
  async function open(kind: "cookie" | "token"): Promise<{ page: Page; device: CDPSession }> {
    context = await (await openBrowser()).newContext();
    const page = await context.newPage();
    const device = await context.newCDPSession(page);
    await device.send("WebAuthn.enable");
    const { authenticatorId } = await device.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    expect(authenticatorId).toBeTruthy();
    await page.goto(`${front.origin}/?${kind}`);
    await page.waitForFunction(() => "passkeys" in globalThis);
    return { page, device };
  }

  const signUp = (page: Page) =>
    page.evaluate(async () => {
      const { id } = await auth.signUp(`ann-${Math.random()}@example.com`, "correct horse", "Ann");
      const { name } = await passkeys.addPasskey(auth, "Laptop");
      return { id, name };
    });
  const signOut = (page: Page) => page.evaluate(() => auth.signOut());
  const signIn = (page: Page) =>
    page.evaluate(() =>
      passkeys.signInWithPasskey(auth).then(
        (user) => user?.id ?? null,
        (error) => `${error.code || error} ${error.hint ?? ""}`.trim(),
      ),
    );

  test.for(["cookie", "token"] as const)(
    "signs up, adds a passkey, signs out and signs in with it in %s mode",
    async (kind) => {
      const { page } = await open(kind);
      const { id, name } = await signUp(page);
      expect(name).toBe("Laptop");
      await signOut(page);
      expect(await page.evaluate(() => auth.getState().user)).toBe(null);
      expect(await signIn(page)).toBe(id);
      expect(await page.evaluate(() => auth.restore().then((user) => user?.id))).toBe(id);
      const listed = await page.evaluate(() => auth.call("/passkey/list-user-passkeys", {}, { method: "GET" }));
      expect(listed).toMatchObject([{ name: "Laptop", userId: id }]);
      // On another device of this browser, and for nobody else.
      await db.sql("delete from auth.passkey where user_id = $1", [id]);
      await signOut(page);
      expect(await signIn(page)).toBe("UNAUTHORIZED PASSKEY_NOT_FOUND");
    },
  );

  test.for(["cookie", "token"] as const)("is refused with what was used before, in %s mode", async (kind) => {
    const { page } = await open(kind);
    const { id } = await signUp(page);
    await signOut(page);
    const sent: { url: string; body: string; headers: Record<string, string> }[] = [];
    page.on("request", async (request) => {
      if (!request.url().endsWith("/verify-authentication")) return;
      sent.push({ url: request.url(), body: request.postData() ?? "", headers: await request.allHeaders() });
    });
    expect(await signIn(page)).toBe(id);
    await expect.poll(() => sent.length).toBe(1);
    const [{ url, body, headers } = { url: "", body: "{}", headers: {} }] = sent;
    const kept = Object.fromEntries(
      Object.entries(headers).filter(([name]) => !/^:|^content-length$|^host$/.test(name)),
    );
    const again = async (change: object = {}) => {
      const answer = await fetch(url, {
        method: "POST",
        headers: kept,
        body: JSON.stringify({ ...JSON.parse(body), ...change }),
      });
      expect(answer.headers.getSetCookie().filter((line) => line.includes("session_token"))).toEqual([]);
      return [answer.status, JSON.parse(await answer.text()).hint];
    };
    expect(await again()).toEqual([400, "CHALLENGE_NOT_FOUND"]);
    // A challenge is one cookie of the plugin, and never another one.
    const token = await page.evaluate(() => localStorage.getItem("svc.session") ?? "none");
    for (const svcChallenge of ["", `x; authlib.session_token=${token}`, 1, null, "x".repeat(501), {}]) {
      expect(await again({ svcChallenge })).toEqual([400, "CHALLENGE_NOT_FOUND"]);
    }
  });

  test("a challenge to add a passkey signs nobody in", async () => {
    const { page } = await open("token");
    await signUp(page);
    const said = await page.evaluate(async () => {
      const { svcChallenge, ...options } = (await auth.call("/passkey/generate-register-options", undefined, {
        method: "GET",
      })) as { svcChallenge: string; challenge: string; rp: { id: string } };
      const asked = { challenge: options.challenge, rpId: options.rp.id };
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(asked);
      const response = await navigator.credentials.get({ publicKey });
      await auth.signOut();
      const end = auth.call("/passkey/verify-authentication", { response, svcChallenge });
      return end.then(String, (error) => error.hint);
    });
    expect(said).toBe("CHALLENGE_NOT_FOUND");
  });

  test("of an origin that is not listed gets neither options nor a session", async () => {
    const { page } = await open("cookie");
    await signUp(page);
    for (const [path, method] of [
      ["generate-authenticate-options", "GET"],
      ["verify-authentication", "POST"],
    ]) {
      const answer = await fetch(`${app.url}/api/auth/passkey/${path}`, {
        method: method as string,
        headers: { origin: "http://localhost:6666", "svc-session": "token", "content-type": "application/json" },
        ...(method === "POST" && { body: "{}" }),
      });
      expect(answer.status).toBe(403);
    }
  });

  test.for(["cookie", "token"] as const)(
    "of a user with a second factor is asked for it if it lets the passkey be merely touched, in %s mode",
    async (kind) => {
      const { page } = await open(kind);
      const { id } = await signUp(page);
      await db.sql('update auth."user" set two_factor_enabled = true where id = $1', [id]);
      await db.sql(
        "insert into auth.two_factor (id, user_id, secret, backup_codes, verified) values ($1, $1, 'x', 'x', true)",
        [id],
      );
      const [{ credential } = { credential: "" }] = await db.sql<{ credential: string }>(
        "select credential_i_d as credential from auth.passkey where user_id = $1",
        [id],
      );
      await signOut(page);
      const said = await page.evaluate(async (credential) => {
        const path = "/passkey/generate-authenticate-options";
        const options = await auth.call<{ challenge: string; rpId: string; svcChallenge?: string }>(path, undefined, {
          method: "GET",
        });
        const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON({
          challenge: options.challenge,
          rpId: options.rpId,
          allowCredentials: [{ id: credential, type: "public-key" }],
          userVerification: "discouraged",
        });
        const response = await navigator.credentials.get({ publicKey });
        const { svcChallenge } = options;
        return auth.call("/passkey/verify-authentication", { response, svcChallenge }).then(
          (answer) => answer,
          (error) => error.code,
        );
      }, credential);
      if (kind === "token") expect(said).toBe("TWO_FACTOR_REQUIRED");
      else expect(said).toMatchObject({ twoFactorRedirect: true });
      expect(await db.sql("select from auth.session where user_id = $1", [id])).toEqual([]);
      // Unlocked, it is two factors.
      expect(await signIn(page)).toBe(id);
    },
  );

  test("opens no session of a user who is gone", async () => {
    const { page } = await open("cookie");
    const { id } = await signUp(page);
    await page.evaluate(() => auth.deleteUser("correct horse"));
    expect(await db.sql("select from auth.passkey where user_id = $1", [id])).toEqual([]);
    expect(await signIn(page)).toBe("UNAUTHORIZED PASSKEY_NOT_FOUND");
  });
});
