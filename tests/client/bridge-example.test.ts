// If this file fails, examples/bridge does not work when started.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FetchHandler, type FetchServer, serve } from "../../examples/bridge/frontend/fetch-server.ts";
import { createFrontend } from "../../examples/bridge/frontend/frontend.ts";
import { loadApp } from "../../src/app/load-app.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { Tab } from "../support/bridged-front.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { secret } from "../support/service.ts";

const db = database("platform");
const folder = join(root, "examples/bridge");
const bridgeSecret = "the secret between the example's two halves";
const password = "the password of the example's frontend";
let front: FetchServer;
let backend: Service;
beforeAll(async () => {
  let handle: FetchHandler = () => new Response(null, { status: 503 });
  front = await serve(0, (request) => handle(request));
  await migrate({ adminUrl: db.url("admin"), platform: root, application: folder });
  const config = {
    ...(await loadConfig({ cwd: folder, env: { SVC_BRIDGE_SECRET: bridgeSecret } })),
    port: 0,
    frontendOrigins: [front.url],
  };
  const app = await loadApp(config);
  backend = await startService({ app, config, urls: db.urls, secrets: [secret], log: createLog("silent") });
  handle = createFrontend({ backendUrl: backend.url, password, bridgeSecret });
});
afterAll(async () => {
  await front?.stop();
  await backend?.stop();
});

const browser = () => new Tab(() => front.url);
const text = async (tab: Tab, path: string) => (await tab.get(path)).text();

test("a visitor's page has the public line and a form, and is kept by nobody", async () => {
  const answer = await browser().get("/");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  const page = await answer.text();
  expect(page).toContain("Two origins, one session, no token to steal.");
  expect(page).toContain('<form id="sign-in"');
  expect(page).not.toContain("Sign out");
});

test("signed in, the server renders the person's own notes, as text, and never a token", async () => {
  const tab = browser();
  const person = { email: "eve@example.com", password: "correct horse", name: "<script>alert(1)</script>" };
  const { token } = (await (await tab.post("/sign-up", person)).json()) as { token: string };

  // As the page's script does: directly to the other origin, with the JWT, after a preflight.
  const url = `${backend.url}/api/mutation`;
  const asked = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
  const preflight = await fetch(url, { method: "OPTIONS", headers: { origin: front.url, ...asked } });
  expect(preflight.headers.get("access-control-allow-origin")).toBe(front.url);
  expect(preflight.headers.get("access-control-allow-headers")).toContain("authorization");
  const added = await tab.fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ name: "notes.create", args: { text: 'milk & "honey"' } }),
  });
  expect([added.status, added.headers.get("access-control-allow-origin")]).toEqual([200, front.url]);

  const page = await text(tab, "/");
  expect(page).toContain("<li>milk &amp; &quot;honey&quot;</li>");
  expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  expect(page).not.toContain("<script>alert");
  const sessions = await db.sql<{ token: string }>("select token from auth.session");
  for (const { token: bare } of sessions) expect([...tab.seen, ...tab.set].join("\n")).not.toContain(bare);
  expect(page).not.toContain(token);
  expect(await text(browser(), "/")).not.toContain("milk");

  await tab.post("/sign-out");
  expect(await text(tab, "/")).toContain('<form id="sign-in"');
});

test("everything that the page's script imports is served as JavaScript, and nothing else is", async () => {
  const tab = browser();
  const seen = new Set(["/browser/main.ts"]);
  for (const path of seen) {
    const answer = await tab.get(path);
    expect([path, answer.status, answer.headers.get("content-type")]).toEqual([path, 200, "text/javascript"]);
    const script = await answer.text();
    for (const [, to = ""] of script.matchAll(/\bfrom "([^"]+)"/g)) {
      expect(to).toMatch(/^[./]/); // browsers know no packages
      seen.add(new URL(to, front.url + path).pathname);
    }
  }
  expect([...seen]).toContain("/sdk/auth/token-strategy.ts");
  expect((await tab.get("/browser/style.css")).headers.get("content-type")).toBe("text/css");
  for (const path of ["/sdk/server/bridge.ts", "/server.ts", "/browser/../server.ts", `/sdk/${folder}/start.ts`]) {
    expect([path, (await tab.get(path)).status]).toEqual([path, 404]);
  }
});

test("without the backend there is a page that says so", async () => {
  const alone = createFrontend({ backendUrl: "http://127.0.0.1:9", password });
  const answer = await alone(new Request("http://localhost:3000/"));
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain("The backend does not answer at the moment.");
});
