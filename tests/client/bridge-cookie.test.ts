// If this file fails, a cookie that the bridge did not encrypt is accepted, or a valid one is not.
import { sealData } from "iron-session";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createSvcAuthBridgeHandlers, readBridgeSession } from "../../client/sdk/src/server/index.ts";
import { bridgedFront, password } from "../support/bridged-front.ts";
import { database } from "../support/database.ts";

const running = bridgedFront(database());
const session = { password };
const name = "svc_bridge_session";
const user = { id: "u1", email: "ann@example.com", name: "Ann" };
const day = 24 * 3600_000;

afterEach(() => vi.useRealTimers());

/** Mulberry32: the same numbers in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** As Next's `await headers()`: they have a member `headers`, which is the plain object of Node's request. */
class NextHeaders extends Headers {
  readonly headers: Record<string, string>;

  constructor(headers: Record<string, string>) {
    super(headers);
    this.headers = headers;
  }
}

describe("a sealed cookie", () => {
  test("is read from a request, from headers, and from the header's text", async () => {
    const { tab, email, sessionToken } = await running.signedIn();
    const cookie = `theme=dark; ${tab.cookie}; authlib.session_token=x`;
    const expected = { user: { id: expect.any(String), email, name: "Ann" }, sessionToken };
    const request = new Request("http://front.test", { headers: { cookie } });
    for (const from of [request, request.headers, new NextHeaders({ cookie }), cookie]) {
      expect(await readBridgeSession(from, session)).toEqual(expected);
    }
  });

  test("with any of its bits changed is none: 10,000 of them", async () => {
    const { tab } = await running.signedIn();
    const value = tab.cookies.get(name) ?? "";
    const random = seeded(20261121);
    const flipped = Array.from({ length: 10_000 }, (_, index) => {
      // Every character once, from the end, where the unsigned marks are; then random ones.
      const at = index < value.length ? value.length - 1 - index : Math.floor(random() * value.length);
      const other = String.fromCharCode(value.charCodeAt(at) ^ (1 << Math.floor(random() * 7)));
      return value.slice(0, at) + other + value.slice(at + 1);
    });
    for (let at = 0; at < flipped.length; at += 100) {
      const results = flipped.slice(at, at + 100).map((bad) => readBridgeSession(`${name}=${bad}`, session));
      expect((await Promise.all(results)).filter((found) => found !== null)).toEqual([]);
    }
    expect(await readBridgeSession(`${name}=${value}`, session)).not.toBeNull();
  });

  test("has one spelling: no other last character, no other mark behind the signature", async () => {
    const { tab } = await running.signedIn();
    const value = (tab.cookies.get(name) ?? "").replace(/~2$/, "");
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const others = [...alphabet].map((last) => `${value.slice(0, -1)}${last}~2`).filter((one) => one !== `${value}~2`);
    for (const bad of [...others, value, `${value}~1`, `${value}~2~2`, `${value}~`, `${value}=~2`, ` ${value}~2`]) {
      expect(await readBridgeSession(`${name}=${bad}`, session)).toBeNull();
    }
  });

  test("lasts seven days and no second longer", async () => {
    const { tab } = await running.signedIn();
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: now + 7 * day - 5000 });
    expect(await readBridgeSession(tab.cookie, session)).not.toBeNull();
    vi.setSystemTime(now + 7 * day + 1000);
    expect(await readBridgeSession(tab.cookie, session)).toBeNull();
  });

  test("of somebody else is none, whatever is in it", async () => {
    const contents = [{ cookie: name, user, sessionToken: "t" }];
    const strangers = [
      ...contents.map((content) => sealData(content, { password: "another password, of thirty-two and more" })),
      // Encrypted with the right password, but with other content than this cookie.
      sealData({ user, sessionToken: "t" }, session),
      sealData({ cookie: "other", user, sessionToken: "t" }, session),
      sealData({ cookie: name, user }, session),
      sealData({ cookie: name, sessionToken: "t" }, session),
      sealData("text", session),
    ];
    for (const value of await Promise.all(strangers)) {
      expect(await readBridgeSession(`${name}=${value}`, session)).toBeNull();
    }
    const own = await sealData({ cookie: name, user, sessionToken: "t" }, session);
    expect(await readBridgeSession(`${name}=${own}`, session)).toEqual({ user, sessionToken: "t" });
  });

  test("beside another of the same name is none: which of the two is ours, nobody knows", async () => {
    const [one, two] = [await running.signedIn(), await running.signedIn()];
    expect(await readBridgeSession(`${one.tab.cookie}; ${two.tab.cookie}`, session)).toBeNull();
    expect(await readBridgeSession(`${one.tab.cookie}; ${one.tab.cookie}`, session)).not.toBeNull();
  });

  test("and rubbish in its place never throws", async () => {
    const rubbish = [
      "",
      ";",
      "=",
      `${name}`,
      `${name}=`,
      `${name}=%`,
      `${name}=${"x".repeat(5000)}`,
      "\u0000",
      "a=b;;",
    ];
    const huge = `${name}=Fe26.2*1*${"0".repeat(64)}*${"A".repeat(22)}*${"A".repeat(1e6)}`;
    for (const cookie of [...rubbish, huge, null, undefined]) {
      expect(await readBridgeSession(cookie, session)).toBeNull();
    }
  });
});

describe("passwords", () => {
  const old = "the old password, which is long enough";
  const fresh = "the new password, which is long enough";

  test("a new one in front signs nobody out, seals from now on, and lets the old one go", async () => {
    const { tab } = await running.signedIn();
    const sealedByOld = tab.cookie;
    const both = { passwords: [fresh, password] };
    expect(await readBridgeSession(sealedByOld, both)).not.toBeNull();

    const headers = { origin: "http://localhost:3000", cookie: sealedByOld };
    const request = new Request("http://localhost:3000/api/auth/token", { method: "POST", headers });
    const answer = await running.bridge({ session: both }).POST(request);
    const sealedByNew = answer.headers.getSetCookie()[0]?.split(";")[0];
    for (const passwords of [[fresh, password], [fresh], [old, fresh]]) {
      expect(await readBridgeSession(sealedByNew, { passwords })).not.toBeNull();
    }
    expect(await readBridgeSession(sealedByNew, session)).toBeNull();
    expect(await readBridgeSession(sealedByOld, { passwords: [fresh] })).toBeNull();
    expect(await readBridgeSession(sealedByOld, { passwords: [old, fresh] })).toBeNull();
  });
});

describe("the cookie's name", () => {
  const signIn = async (origin: string, options: { secure?: boolean; cookieName?: string } = {}) => {
    const email = `${crypto.randomUUID()}@example.com`;
    const request = new Request(`${origin}/api/auth/sign-up`, {
      method: "POST",
      headers: { origin, "content-type": "application/json" },
      body: JSON.stringify({ email, password: "correct horse", name: "Ann" }),
    });
    const { POST } = createSvcAuthBridgeHandlers({ baseUrl: running.proxy.url, session: { ...session, ...options } });
    return (await POST(request)).headers.getSetCookie()[0] ?? "";
  };

  test.for([
    ["https://front.test", {}, /^__Host-svc_bridge_session=.*; Secure$/],
    ["http://front.test", {}, /^__Host-svc_bridge_session=.*; Secure$/],
    ["http://localhost.evil.test", {}, /^__Host-svc_bridge_session=.*; Secure$/],
    ["http://localhost:3000", {}, /^svc_bridge_session=.*; SameSite=Lax$/],
    ["http://127.0.0.1", {}, /^svc_bridge_session=.*; SameSite=Lax$/],
    ["http://localhost:3000", { secure: true }, /^__Host-svc_bridge_session=.*; Secure$/],
    ["https://front.test", { secure: false }, /^svc_bridge_session=.*; SameSite=Lax$/],
    ["https://front.test", { cookieName: "__Secure-mine" }, /^__Host-mine=.*; Secure$/],
  ] as const)("at %s with %o is as it should be, and is read again", async ([origin, options, expected]) => {
    const cookie = await signIn(origin, options);
    expect(cookie).toMatch(expected);
    expect(await readBridgeSession(cookie.split(";")[0], { ...session, ...options })).not.toBeNull();
  });

  test("is part of the seal: what was sealed without https opens nothing under the name of https", async () => {
    const [plain = ""] = (await signIn("http://localhost:3000")).split(";");
    const [secure = ""] = (await signIn("https://front.test")).split(";");
    expect(await readBridgeSession(`__Host-${plain}`, session)).toBeNull();
    expect(await readBridgeSession(secure.replace("__Host-", ""), session)).toBeNull();
    expect(await readBridgeSession(plain, { ...session, secure: true })).toBeNull();
  });
});
