// If this file fails, the cache of verified JWTs keeps ended ones, loses valid ones, or grows without limit.
import { afterEach, describe, expect, test, vi } from "vitest";
import { type AuthenticateOptions, createAuthenticate, credentialIn } from "../../src/auth/sessions/authenticate.ts";
import { VerifiedTokens } from "../../src/auth/sessions/verified-tokens.ts";
import { collectGarbage } from "../support/collect-garbage.ts";

const later = Date.now() + 60_000;
const session = (user: string, id: string) => ({ id, user: { id: user, email: "", name: "" } });

function remembering(...entries: [token: string, user: string, id: string][]): VerifiedTokens {
  const verified = new VerifiedTokens(3);
  verified.trust(Number.POSITIVE_INFINITY);
  for (const [token, user, id] of entries) verified.add(token, session(user, id), later);
  return verified;
}
afterEach(() => {
  vi.restoreAllMocks();
});
const known = (verified: VerifiedTokens) => ["a", "b", "c", "d"].filter((token) => verified.get(token)).join("");

test("one session's tokens are forgotten without those of its user's other sessions", () => {
  const verified = remembering(["a", "ann", "1"], ["b", "ann", "1"], ["c", "ann", "2"]);
  verified.end({ user: "ann", session: "1" });
  expect(known(verified)).toBe("c");
  verified.end({ user: "ann", session: "2" });
  expect(known(verified)).toBe("");
});

test("a user's tokens are forgotten without those of others", () => {
  const verified = remembering(["a", "ann", "1"], ["b", "bob", "2"], ["c", "ann", "3"]);
  verified.end({ user: "ann" });
  expect(known(verified)).toBe("b");
});

test("the session of another user is not his to end", () => {
  const verified = remembering(["a", "ann", "1"]);
  verified.end({ user: "bob", session: "1" });
  expect(known(verified)).toBe("a");
});

test("all are forgotten at once", () => {
  const verified = remembering(["a", "ann", "1"], ["b", "bob", "2"]);
  verified.end({});
  expect(known(verified)).toBe("");
  verified.add("a", session("ann", "1"), later);
  verified.end({ user: "ann" });
  expect(known(verified)).toBe("");
});

test("whoever looks something up learns that something has ended meanwhile, known here or not", () => {
  const verified = remembering(["a", "ann", "1"]);
  const seen = [verified.endings];
  for (const end of [
    () => verified.end({ user: "ann", session: "1" }),
    () => verified.end({ user: "nobody" }),
    () => verified.end({}),
  ]) {
    end();
    seen.push(verified.endings);
  }
  expect(new Set(seen).size).toBe(4);
});

test("a full memory forgets what came first", () => {
  const verified = remembering(["a", "ann", "1"], ["b", "bob", "2"], ["c", "ann", "3"], ["d", "bob", "4"]);
  expect(known(verified)).toBe("bcd");
  verified.end({ user: "ann", session: "1" }); // gone already
  expect(known(verified)).toBe("bcd");
});

test("what is over is not found", () => {
  const verified = new VerifiedTokens();
  verified.trust(Number.POSITIVE_INFINITY);
  verified.add("a", session("ann", "1"), Date.now());
  expect(known(verified)).toBe("");
  verified.add("b", session("ann", "1"), later);
  verified.end({ user: "ann", session: "1" });
  expect(known(verified)).toBe("");
});

test.each([
  ["set back while the machine's own time passes", { now: -600_000, runs: 61_000 }],
  ["right, and the machine slept meanwhile", { now: 61_000, runs: 0 }],
])("a token ends at its time where the clock was %s", (_, { now, runs }) => {
  const verified = remembering(["a", "ann", "1"]);
  const [clock, own] = [Date.now(), performance.now()];
  vi.spyOn(Date, "now").mockReturnValue(clock + now);
  vi.spyOn(performance, "now").mockReturnValue(own + runs);
  expect(known(verified)).toBe("");
});

test("whoever listens hears of each end, after the tokens are gone", () => {
  const verified = remembering(["a", "ann", "1"], ["b", "bob", "2"]);
  const heard: unknown[] = [];
  verified.onEnd = (ended) => heard.push([ended, known(verified)]);
  verified.end({ user: "ann", session: "1" });
  verified.end({});
  expect(heard).toEqual([
    [{ user: "ann", session: "1" }, "b"],
    [{}, ""],
  ]);
});

test("a token does not keep the header from which it was read", () => {
  const verified = new VerifiedTokens();
  verified.trust(Number.POSITIVE_INFINITY);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 2_000; index++) {
    const header = Buffer.from(`Bearer ${" ".repeat(15_000)}a token of one user, number ${index}`).toString("latin1");
    verified.add(String(credentialIn(header, ["bearer"])), session("ann", "1"), later);
  }
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000); // 30 MB when they kept it
  expect(verified.get("a token of one user, number 1999")?.user.id).toBe("ann");
});

test("a token is believed until the moment up to which ends of sessions are heard", () => {
  const verified = remembering(["a", "ann", "1"]);
  verified.trust(10_000);
  const clock = vi.spyOn(performance, "now").mockReturnValue(9_999);
  expect(known(verified)).toBe("a");
  clock.mockReturnValue(10_000);
  expect(known(verified)).toBe("");
});

test.each<[string, (verified: VerifiedTokens) => void]>([
  ["the user's tokens are forgotten", (verified) => verified.forget("ann")],
  ["the session ends", (verified) => verified.end({ user: "ann", session: "1" })],
])("a token that is looked up while %s is not remembered", async (_, happens) => {
  const verified = remembering();
  const find = async () => {
    happens(verified);
    return { session: session("ann", "1"), expiresAt: later };
  };
  expect((await verified.lookUp("a", find))?.id).toBe("1");
  expect(known(verified)).toBe("");
});

test("a token that is over leaves its place to another", () => {
  const verified = remembering(["a", "ann", "1"]);
  verified.add("b", session("bob", "2"), Date.now());
  verified.add("c", session("ann", "3"), later);
  expect(known(verified)).toBe("ac");
  verified.add("d", session("bob", "4"), later);
  expect(known(verified)).toBe("acd");
});

test("a process remembers 20,000 tokens", () => {
  const verified = new VerifiedTokens();
  verified.trust(Number.POSITIVE_INFINITY);
  for (let index = 0; index < 20_000; index++) verified.add(`${index}`, session("ann", "1"), later);
  expect(verified.get("0")).toBeDefined();
  verified.add("one more", session("ann", "1"), later);
  expect(verified.get("0")).toBeUndefined();
  expect(verified.get("1")).toBeDefined();
});

test.each<[string, (verified: VerifiedTokens, index: number) => void]>([
  ["of one user", (verified, index) => verified.add(`token ${index}`, session("ann", "1"), later)],
  ["of many users", (verified, index) => verified.add(`token ${index}`, session(`user ${index}`, "1"), later)],
  [
    "that all end at once",
    (verified, index) => {
      verified.add(`token ${index}`, session(`user ${index}`, "1"), later);
      verified.end({});
    },
  ],
])("tokens that are gone, %s, take no memory", (_, pass) => {
  const verified = remembering();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 100_000; index++) pass(verified, index);
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_000_000); // 5 MB and more when something was left of each
  expect(known(verified)).toBe("");
});

describe("a session token", () => {
  /** Of `signed`, whose session ends after the given milliseconds; `pages` may send cookies. */
  function authenticating(lifetime: number, pages: string[] = []) {
    const expiresAt = new Date(Date.now() + lifetime);
    const find = vi.fn(async () => ({ ...session("ann", "1"), expiresAt, version: 1 }));
    const authenticate = createAuthenticate({
      verified: remembering(),
      schemes: ["bearer"],
      sessionTokens: { open: (token: string) => (token === "signed" ? "bare" : null) },
      sessions: { find },
      cookie: { read: (header?: string) => header ?? null },
      origins: { allows: (page?: string) => pages.includes(page ?? "") },
    } as unknown as AuthenticateOptions);
    return { authenticate, find };
  }
  const authorization = "Bearer signed";

  test.each([
    ["until its session ends", 60_000, 60_000],
    ["for five minutes, when its session lasts longer", 86_400_000, 300_000],
  ])("is remembered %s", async (_, lifetime, remembered) => {
    const { authenticate, find } = authenticating(lifetime);
    const begun = Date.now();
    vi.spyOn(Date, "now").mockReturnValue(begun);
    await authenticate({ authorization });
    vi.spyOn(Date, "now").mockReturnValue(begun + remembered - 1_000);
    await authenticate({ authorization });
    expect(find).toHaveBeenCalledTimes(1);
    vi.spyOn(Date, "now").mockReturnValue(begun + remembered + 1);
    await authenticate({ authorization });
    expect(find).toHaveBeenCalledTimes(2);
  });

  test("in a cookie that is not signed is nobody's, from any page, without a question to the database", () => {
    const { authenticate, find } = authenticating(60_000);
    expect(authenticate({ cookie: "forged", origin: "https://evil.test" })).toBeNull();
    expect(find).not.toHaveBeenCalled();
  });

  test("in a cookie counts beside an Authorization without a credential", async () => {
    const { authenticate } = authenticating(60_000, ["https://front.test"]);
    const cookie = { cookie: "signed", origin: "https://front.test" };
    expect(await authenticate({ ...cookie, authorization: "Bearer  " })).toMatchObject({ id: "1" });
    expect(await authenticate({ ...cookie, authorization: "Bearer other" })).toBeNull();
  });
});
