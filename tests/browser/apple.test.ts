// If this file fails, a browser drops the cookie of a sign-in with Apple, whose page answers with a form from another site.
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SvcConfig } from "../../src/config/config.ts";
import { database } from "../support/database.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";
import { apiWith, TestService } from "../support/service.ts";
import { chromiumPath, whySkipped } from "./desk-app.ts";

if (!chromiumPath) {
  test.skip(`a sign-in with Apple in a browser: ${whySkipped}`);
} else {
  const db = database();
  let provider: ScriptedProvider;
  let service: TestService;
  const claims = { sub: "apple-1", email: "relay@example.com", email_verified: true };

  /** The provider's page at 127.0.0.1, which is another site than localhost. */
  const page = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://127.0.0.1");
    const action = searchParams.get("redirect_uri");
    const code = provider.code(searchParams.get("nonce"), { claims });
    const fields = Object.entries({ state: searchParams.get("state"), code, user: '{"name":{"firstName":"Ada"}}' })
      .map(([name, value]) => `<input name="${name}" value="${String(value).replaceAll('"', "&quot;")}">`)
      .join("");
    response.setHeader("content-type", "text/html");
    response.end(`<form method="post" action="${action}">${fields}</form><script>document.forms[0].submit()</script>`);
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
    provider = await startScriptedProvider();
    provider.metadata = { authorization_endpoint: `http://127.0.0.1:${(page.address() as AddressInfo).port}/` };
    const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const clients = {
      APPLE_CLIENT_ID: provider.settings.clientId,
      APPLE_CLIENT_SECRET: key.export({ type: "pkcs8", format: "pem" }).toString(),
      APPLE_ISSUER: provider.settings.issuer,
    };
    const config = { auth: { url: null, secrets: [], google: null, clients } } as Partial<SvcConfig>;
    const social = { apple: { teamId: "TEAM123456", keyId: "KEY1234567" } };
    const auth = { social, oauth: { allowedReturnModes: ["cookie"] as const } };
    service = new TestService(db, apiWith(), config, undefined, undefined, auth);
    await service.start();
  });
  afterAll(async () => {
    await service.stop();
    await provider.close();
    page.close();
  });

  test("the form leads back, and the browser is signed in", async () => {
    const browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] });
    const tab = await browser.newPage();
    await tab.goto(`${service.url}/api/auth/sign-in/social/redirect?provider=apple&callbackURL=/api/auth/me`);
    await tab.waitForURL(/oauth=success/);
    expect(JSON.parse(await tab.innerText("body"))).toMatchObject({ user: { email: claims.email, name: "Ada" } });
    await browser.close();
  });
}
