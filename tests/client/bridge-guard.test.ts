// If this file fails, other sites can act with a user's session, or a mistake in the set-up goes unnoticed.
import { describe, expect, test } from "vitest";
import { type BridgeOptions, createSvcAuthBridgeHandlers } from "../../client/sdk/src/server/index.ts";
import { serve } from "../../examples/bridge/frontend/fetch-server.ts";
import { bridgedFront, password } from "../support/bridged-front.ts";
import { database } from "../support/database.ts";

const running = bridgedFront(database());
const posts = ["/sign-in", "/sign-up", "/token", "/sign-out", "/oauth/exchange"];

describe("a POST of another page", () => {
  const own = () => running.front.url;
  const foreign: [string, () => Record<string, string | null>][] = [
    ["without Origin", () => ({ origin: null })],
    ["from another site", () => ({ origin: "https://evil.test" })],
    ["from a sandboxed frame", () => ({ origin: "null" })],
    ["from the backend's origin", () => ({ origin: running.service.url })],
    ["from another port", () => ({ origin: own().replace(/\d+$/, "1") })],
    ["over https", () => ({ origin: own().replace("http:", "https:") })],
    ["from a host that begins alike", () => ({ origin: `${own()}.evil.test` })],
    ["with a slash too many", () => ({ origin: `${own()}/` })],
    ["that the browser calls cross-site", () => ({ origin: own(), "sec-fetch-site": "cross-site" })],
    ["that the browser calls same-site", () => ({ origin: own(), "sec-fetch-site": "same-site" })],
    ["that a person has typed", () => ({ origin: own(), "sec-fetch-site": "none" })],
  ];

  test.for(posts.flatMap((path) => foreign.map(([name, headers]) => ({ path, name, headers }))))(
    "$path $name: 403, nothing asked, no cookie touched",
    async ({ path, headers }) => {
      const { tab, email } = await session();
      const before = [...running.proxy.asked.values()].reduce((sum, count) => sum + count);
      const sent = Object.entries({ "content-type": "application/json", cookie: tab.cookie, ...headers() });
      const answer = await fetch(`${own()}/api/auth${path}`, {
        method: "POST",
        headers: sent.filter((entry): entry is [string, string] => entry[1] !== null),
        body: JSON.stringify({ email, password: "correct horse", name: "Ann", code: "x" }),
      });
      expect([answer.status, await answer.json()]).toEqual([403, expect.objectContaining({ code: "FORBIDDEN" })]);
      expect(answer.headers.getSetCookie()).toEqual([]);
      expect([...running.proxy.asked.values()].reduce((sum, count) => sum + count)).toBe(before);
    },
  );

  test("and one that the browser calls same-origin is ours", async () => {
    const { tab } = await session();
    expect((await tab.post("/token", undefined, { "sec-fetch-site": "same-origin" })).status).toBe(200);
  });

  let known: ReturnType<typeof running.signedIn> | undefined;
  const session = () => {
    known ??= running.signedIn();
    return known;
  };
});

describe("a body", () => {
  const send = (path: string, type: string | undefined, body: BodyInit) =>
    fetch(`${running.front.url}/api/auth${path}`, {
      method: "POST",
      headers: { origin: running.front.url, ...(type && { "content-type": type }) },
      body,
    });

  test.for(posts.flatMap((path) => ["text/plain", "application/x-www-form-urlencoded"].map((type) => [path, type])))(
    "of %s as %s is refused: forms of other sites can send that",
    async ([path = "", type]) => expect((await send(path, type, "{}")).status).toBe(415),
  );

  test("may have 16 KiB, with or without a stated length, and no byte more", async () => {
    const before = running.proxy.count("/api/auth/sign-in");
    const fits = "{}".padStart(16 * 1024);
    expect((await send("/sign-in", "application/json", fits)).status).toBe(400); // the backend's word: no e-mail
    expect((await send("/sign-in", "application/json", ` ${fits}`)).status).toBe(413);
    const request = new Request(`${running.front.url}/api/auth/sign-in`, {
      method: "POST",
      headers: { origin: running.front.url, "content-type": "application/json" },
      body: new Blob([` ${fits}`]).stream(),
      duplex: "half",
    } as RequestInit);
    expect((await running.bridge().POST(request)).status).toBe(413);
    expect(running.proxy.count("/api/auth/sign-in")).toBe(before + 1);
  });

  test("that is no JSON gets the backend's own answer", async () => {
    const answer = await send("/sign-in", "application/json", "{");
    expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ code: "INVALID_JSON" })]);
  });
});

test("signing out clears the cookie, ends the session, and does so for nobody as well", async () => {
  const { tab } = await running.signedIn();
  const cookie = tab.cookie;
  const answer = await tab.post("/sign-out");
  expect([answer.status, await answer.json()]).toEqual([200, { success: true }]);
  expect(tab.set.at(-1)).toBe("svc_bridge_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax");
  tab.cookies.set("svc_bridge_session", cookie.replace("svc_bridge_session=", ""));
  expect((await tab.post("/token")).status).toBe(401); // the copy opens nothing any more
  expect((await running.tab().post("/sign-out")).status).toBe(200);
});

describe("a backend that is not there", () => {
  const request = (path: string, cookie: string) =>
    new Request(`http://localhost:3000/api/auth${path}`, {
      method: "POST",
      headers: { origin: "http://localhost:3000", "content-type": "application/json", cookie },
      body: "{}",
    });

  /** A backend's address, and the answer of something else there. */
  const instead: [string, (() => Response) | null][] = [
    ["closed", null],
    ["a proxy's page", () => new Response("<h1>Bad gateway</h1>", { status: 502 })],
    ["a page", () => new Response("<h1>Welcome</h1>")],
    ["a redirect, even to a backend", () => Response.redirect(`${running.service.url}/api/auth/token`, 307)],
    ["another service", () => Response.json({ hello: "world" })],
  ];

  test.for(instead)("%s: 503 with what to do, and the cookie stays", async ([, answers]) => {
    const { tab } = await running.signedIn();
    const there = await serve(0, () => answers?.() as Response);
    if (!answers) await there.stop();
    const bridge = running.bridge({ baseUrl: there.url });
    for (const path of ["/sign-in", "/sign-up", "/token", "/oauth/exchange"]) {
      const answer = await bridge.POST(request(path, tab.cookie));
      expect([path, answer.status, await answer.json()]).toEqual([
        path,
        503,
        { error: expect.stringContaining("backend"), code: "UNAVAILABLE", hint: expect.stringContaining("baseUrl") },
      ]);
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
    await there.stop().catch(() => {});
  });

  test("signing out clears the cookie all the same, and says what is left", async () => {
    const { tab } = await running.signedIn();
    const answer = await running.bridge({ baseUrl: "http://127.0.0.1:9" }).POST(request("/sign-out", tab.cookie));
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ error: "You are signed out here, but the backend could not be told." });
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^svc_bridge_session=; Max-Age=0;/)]);
  });

  test("signing out is not taken for done when something else answers", async () => {
    const { tab } = await running.signedIn();
    const moved = () => Response.json({ moved: true }, { status: 302, headers: { location: "/elsewhere" } });
    const there = await serve(0, moved);
    const answer = await running.bridge({ baseUrl: there.url }).POST(request("/sign-out", tab.cookie));
    expect([answer.status, answer.headers.getSetCookie().length]).toEqual([503, 1]);
    await there.stop();
  });

  test("that is too busy says when to come back", async () => {
    const busy = await serve(0, () =>
      Response.json({ error: "Busy.", code: "RATE_LIMITED" }, { status: 429, headers: { "retry-after": "7" } }),
    );
    const answer = await running.bridge({ baseUrl: busy.url }).POST(request("/sign-in", ""));
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "7"]);
    await busy.stop();
  });
});

describe("options", () => {
  const good: BridgeOptions = { baseUrl: "https://api.test", session: { password } };
  const wrong: [string, Partial<BridgeOptions>, RegExp][] = [
    ["no password", { session: {} }, /needs a password.*environment variable/],
    ["an empty list", { session: { passwords: [] } }, /needs a password/],
    ["both", { session: { password, passwords: [password] } }, /not both/],
    ["a short password", { session: { password: "x".repeat(31) } }, /Password 1 .* fewer than 32 characters/],
    ["a short old one", { session: { passwords: [password, "short"] } }, /Password 2 /],
    ["a cookie's name with a semicolon", { session: { password, cookieName: "a;b" } }, /cookieName/],
    ["a backend with a path", { baseUrl: "https://api.test/v1" }, /baseUrl must be an origin/],
    ["no backend", { baseUrl: undefined as never }, /baseUrl must be an origin/],
    ["an origin with a path", { origin: "https://app.test/home" }, /origin must be an origin/],
    ["one wrong origin of two", { origin: ["https://app.test", "*"] }, /origin must be an origin/],
  ];
  test.for(wrong)("%s is told at once, without the password", ([, options, message]) => {
    const create = () => createSvcAuthBridgeHandlers({ ...good, ...options });
    expect(create).toThrow(message);
    expect(create).toThrow(expect.objectContaining({ message: expect.not.stringContaining(password) }));
  });

  test("origin: behind a proxy the browser's origin counts, not the address of the request", async () => {
    const { POST } = createSvcAuthBridgeHandlers({ ...good, origin: ["https://app.test", "https://www.app.test"] });
    const signOut = (origin: string) =>
      POST(new Request("http://10.0.0.7:3000/api/auth/sign-out", { method: "POST", headers: { origin } }));
    expect((await signOut("https://app.test")).status).toBe(200);
    expect((await signOut("https://www.app.test")).headers.getSetCookie()[0]).toMatch(/^__Host-.*; Secure$/);
    expect((await signOut("http://10.0.0.7:3000")).status).toBe(403);
  });

  test("basePath: elsewhere the endpoints are, and only there", async () => {
    const { GET } = createSvcAuthBridgeHandlers({ ...good, basePath: "/auth" });
    expect((await GET(new Request("https://app.test/auth/session"))).status).toBe(401);
    for (const path of ["/api/auth/session", "/auth", "/auth/", "/auth/toString", "/author/session"]) {
      expect((await GET(new Request(`https://app.test${path}`))).status).toBe(404);
    }
  });
});
