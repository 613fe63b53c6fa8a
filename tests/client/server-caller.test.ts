// If this file fails, pages that a server renders show another user's data, or show one user's data to everybody.
import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { createServerCaller, readBridgeSession } from "../../client/sdk/src/server/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { bridgedFront, password } from "../support/bridged-front.ts";
import { database } from "../support/database.ts";

const running = bridgedFront(database());
const backend = (options: Partial<Parameters<typeof createServerCaller>[0]> = {}) =>
  createServerCaller({ baseUrl: running.proxy.url, origin: running.service.url, ...options });
const lastHeaders = () => running.proxy.passed.at(-1)?.headers ?? {};

/** A browser in cookie mode: the cookie that it sends with a page's request. */
async function cookieOf(email: string): Promise<string> {
  const answer = await fetch(`${running.service.url}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: running.service.url },
    body: JSON.stringify({ email, password: "correct horse" }),
  });
  return answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
}
const visit = (headers: Record<string, string>) => new Request("https://front.test/notes", { headers });

describe("in cookie mode", () => {
  test("a page is rendered as whoever asks for it, with rows as the SDK gives them", async () => {
    const [ann, bob] = [await running.signedIn("Ann"), await running.signedIn("Bob")];
    const cookie = await cookieOf(ann.email);
    const page = { host: "front.test", origin: "https://front.test" };
    await backend()
      .forRequest(new Headers({ ...page, cookie }))
      .mutate(api.notes.create, { title: "Ann's" });
    const mine = await backend().forRequest(visit({ cookie })).query(api.notes.list);
    expect(mine.data).toMatchObject([{ title: "Ann's", createdAt: expect.any(Date) }]);
    const his = visit({ cookie: await cookieOf(bob.email) });
    expect((await backend().forRequest(his).query(api.notes.list)).data).toEqual([]);
  });

  test("only the service's own cookies travel, and Origin is the service's", async () => {
    const cookie =
      "theme=dark; authlib.session_token=a.b%3D; __Secure-authlib.session_token=c; xauthlib.y=1; authlibx=2; " +
      "\tauthlib.z=3; svc_bridge_session=s; authlib.cache_1=4";
    await backend()
      .forRequest(visit({ cookie }))
      .query(api.posts.list)
      .catch(() => {});
    expect(lastHeaders().cookie).toBe(
      "authlib.session_token=a.b%3D; __Secure-authlib.session_token=c; authlib.cache_1=4",
    );
    expect(lastHeaders().origin).toBe(running.service.url);
    expect(lastHeaders().authorization).toBeUndefined();
  });

  test("a visitor without cookies is nobody", async () => {
    const nobody = backend().forRequest(visit({ cookie: "theme=dark", authorization: "Bearer x" }));
    await expect(nobody.query(api.notes.list)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    expect(lastHeaders()).not.toHaveProperty("cookie");
    expect(lastHeaders()).not.toHaveProperty("authorization");
    expect(await nobody.query(api.posts.list)).toMatchObject({ data: [] });
  });

  const host = { host: "front.test" };
  test.for([
    ["a page of this origin, as the browser says", { ...host, "sec-fetch-site": "same-origin" }, true],
    ["a page of this origin, as Origin says", { ...host, origin: "https://front.test" }, true],
    ["a link on another site", { ...host, "sec-fetch-site": "cross-site" }, false],
    ["a form of another site", { ...host, "sec-fetch-site": "cross-site", origin: "https://front.test" }, false],
    ["a neighbouring host", { ...host, "sec-fetch-site": "same-site" }, false],
    ["the address bar", { ...host, "sec-fetch-site": "none" }, false],
    ["an old browser's form of another site", { ...host, origin: "https://evil.test" }, false],
    ["nobody knows where", host, false],
    ["not even a host", {}, false],
    ["a sandboxed frame", { ...host, origin: "null" }, false],
  ] as const)("a mutation in answer to %s: %o, carried out: %s", async ([, headers, isAllowed]) => {
    const { email } = await running.signedIn();
    const cookie = await cookieOf(email);
    const caller = backend().forRequest(new Headers({ ...headers, cookie }));
    const before = running.proxy.count("/api/mutation");
    const call = caller.mutate(api.notes.create, { title: "changed" });
    if (isAllowed) await call;
    else await expect(call).rejects.toMatchObject({ code: "FORBIDDEN", status: 403 });
    expect(running.proxy.count("/api/mutation") - before).toBe(isAllowed ? 1 : 0);
    expect((await caller.query(api.notes.list)).total).toBe(isAllowed ? 1 : 0);
  });
});

describe("with the bridge's session", () => {
  test("a page is rendered as its user, by the session token and nothing else", async () => {
    const { tab, sessionToken, email } = await running.signedIn();
    const session = await readBridgeSession(visit({ cookie: tab.cookie }), { password });
    if (!session) throw new Error("no session");
    await backend().forSession(session).mutate(api.notes.create, { title: "by the bridge" });
    const { data } = await backend().forSession(session).query(api.notes.list);
    expect(data).toMatchObject([{ title: "by the bridge", userId: session.user.id }]);
    expect(session.user.email).toBe(email);
    expect(lastHeaders()).toMatchObject({ authorization: `Bearer ${sessionToken}` });
    expect(lastHeaders()).not.toHaveProperty("cookie");
  });

  test("a session that is over is 401, asked once", async () => {
    const before = running.proxy.count("/api/query");
    const over = { user: { id: "u", email: "e", name: "n" }, sessionToken: `${"x".repeat(32)}.y` };
    await expect(backend().forSession(over).query(api.notes.list)).rejects.toMatchObject({ status: 401 });
    expect(running.proxy.count("/api/query") - before).toBe(1);
  });
});

describe("as nobody", () => {
  test("public rows come without credentials, whoever has just been served", async () => {
    const { tab } = await running.signedIn();
    const session = await readBridgeSession(tab.cookie, { password });
    const caller = backend();
    if (session) await caller.forSession(session).query(api.notes.list);
    expect(await caller.prefetchPublic(api.posts.list, { limit: 5 })).toEqual({ data: [], total: 0 });
    for (const name of ["authorization", "cookie", "origin"]) expect(lastHeaders()).not.toHaveProperty(name);
    await expect(caller.prefetchPublic(api.notes.list)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  });

  test("frameworks are not told that the page is one visitor's", async () => {
    const caches: (RequestCache | undefined)[] = [];
    const caller = backend({
      fetch: (input, init) => {
        caches.push(init?.cache);
        return fetch(input, init);
      },
    });
    await caller.prefetchPublic(api.posts.list);
    await caller.forRequest(new Headers()).query(api.posts.list);
    expect(caches).toEqual([undefined, "no-store"]);
  });
});

test("a baseUrl or an origin with a path is told at once", () => {
  expect(() => createServerCaller({ baseUrl: "https://api.test/api" })).toThrow(/baseUrl must be an origin/);
  expect(() => createServerCaller({ baseUrl: "https://api.test", origin: "api.test" })).toThrow(/origin must be/);
});

// Next ended with "Can't resolve 'iron-session'" on a page that only forwards cookies.
test("the package of the bridge's cookie is not needed, and neither is the code that opens it", () => {
  const entry = new URL("../../client/sdk/src/server/", import.meta.url).href;
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ resolve(name, context, next) {
      if (name === "iron-session") throw new Error("It is not installed.");
      loaded.push(name);
      return next(name, context);
    } });
    await import("${entry}server-caller.ts");
    console.log(loaded.some((name) => name.includes("sealed-session")));
    console.log(typeof (await import("${entry}index.ts")).createServerCaller);`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect(output).toBe("false\nfunction\n");
});
