// If this file fails, visitors behind a bridge lock each other out, or anybody can choose the address that is counted.
import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { createSvcAuthBridgeHandlers } from "../../client/sdk/src/server/index.ts";
import { RequestLimits } from "../../src/http/request-limits.ts";
import { SignedClientAddress } from "../../src/http/signed-client-address.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { load, refusal } from "../define/config-folder.ts";
import { bridgedFront, password } from "../support/bridged-front.ts";
import { database } from "../support/database.ts";

const db = database();
const [older, secret] = ["an older secret between bridge and backend", "the secret between the bridge and the backend"];
const auth = { url: null, secrets: [], bridgeSecrets: [secret, older], google: null };
const limits = { signInsPerAddress: 3 };
const from = (request: Request) => request.headers.get("x-visitor");
const running = bridgedFront(db, { auth, limits } as object, { clientAddress: { secret, from } });

const [ann, bob, server] = ["192.0.2.1", "192.0.2.2", "127.0.0.1"];
const person = () => ({ email: `${crypto.randomUUID()}@example.com`, password: "correct horse", name: "Ann" });
const as = (address: string) => ({ "x-visitor": address });
const addressesOf = async (email: string) =>
  (
    await db.sql<{ ip: string }>(
      `select s.ip_address as ip from auth.session s join auth."user" u on u.id = s.user_id where email = $1
      order by s.created_at`,
      [email],
    )
  ).map(({ ip }) => ip);

describe("behind a bridge that tells addresses", () => {
  test("a visitor's wrong passwords are that visitor's, and nobody else is kept out", async () => {
    const tab = running.tab();
    const right = person();
    expect((await tab.post("/sign-up", right, as(bob))).status).toBe(200);
    const statuses: number[] = [];
    for (let n = 0; n < 4; n++) statuses.push((await tab.post("/sign-in", person(), as(ann))).status);
    expect(statuses).toEqual([401, 401, 401, 429]);
    expect((await tab.post("/sign-in", right, as(bob))).status).toBe(200);
    expect((await tab.post("/sign-in", right, as(ann))).status).toBe(429);
    expect(await addressesOf(right.email)).toEqual([bob, bob]);
  });

  test.for([
    ["192.0.2.9:51234", "192.0.2.9"],
    ["[2001:db8::9]:443", "2001:0db8:0000:0000:0000:0000:0000:0000"], // the library keeps the /64
    ["", server],
    ["192.0.2.1, 192.0.2.2", server],
  ] as const)("%j is told as %s", async ([given, told]) => {
    const one = person();
    await running.tab().post("/sign-up", one, as(given));
    expect(await addressesOf(one.email)).toEqual([told]);
  });

  test("a visitor's own header is not passed on", async () => {
    const one = person();
    const seconds = String(Math.floor(Date.now() / 1000));
    await running.tab().post("/sign-up", one, { "svc-client-address": `v1 ${ann} ${seconds} x y` });
    expect(await addressesOf(one.email)).toEqual([server]);
  });
});

/** A request as a bridge sends it, by docs/reference/bridge.md, with changes. */
function handed(header: (signed: typeof sign) => string, changed: object = {}): IncomingMessage {
  const headers = { "svc-client-address": header(sign), authorization: "Bearer x" };
  return { method: "POST", url: "/api/auth/token", headers, socket: {}, ...changed } as unknown as IncomingMessage;
}

function sign({
  key = secret,
  path = "/api/auth/token",
  authorization = "Bearer x",
  address = ann,
  age = 0,
  body = "",
} = {}) {
  const digest = createHash("sha256").update(body).digest("base64url");
  const known = ["v1", address, String(Math.floor(Date.now() / 1000) - age), digest];
  const signature = createHmac("sha256", key).update([...known, "POST", path, authorization].join("\n"));
  return [...known, signature.digest("base64url")].join(" ");
}

describe("an address that comes along", () => {
  const logged: string[] = [];
  const addresses = new SignedClientAddress(
    [secret, older],
    createLog("info", { write: (line) => void logged.push(line) }),
  );

  test("counts under each of the secrets, for a minute by either clock", () => {
    for (const given of [{}, { key: older }, { age: 55 }, { age: -55 }, { address: bob }]) {
      expect(addresses.read(handed((sign) => sign(given)))).toBe(given.address ?? ann);
    }
  });

  const flip = (text: string, at: number) => text.slice(0, at) + (text[at] === "2" ? "3" : "2") + text.slice(at + 1);
  const forgeries: [what: string, header: (signed: typeof sign) => string, changed?: object][] = [
    ["under another secret", (sign) => sign({ key: "a secret that somebody made up by themselves" })],
    ["under none", (sign) => sign({ key: "" })],
    ["that is older", (sign) => sign({ age: 62 })],
    ["that is yet to come", (sign) => sign({ age: -63 })],
    ["for another path", (sign) => sign({ path: "/api/auth/sign-in" })],
    ["for another query", (sign) => sign(), { url: "/api/auth/token?x=1" }],
    ["for another method", (sign) => sign(), { method: "GET" }],
    ["for another caller", (sign) => sign({ authorization: "Bearer y" })],
    ["that was changed", (sign) => flip(sign(), 5)],
    ["whose time was changed", (sign) => flip(sign(), `v1 ${ann} 17`.length)],
    ["whose body was changed", (sign) => flip(sign(), `v1 ${ann} 1700000000 a`.length)],
    ["that is no address", (sign) => sign({ address: "1.2.3.4.5" })],
    ["twice", (sign) => `${sign()}, ${sign()}`],
    ["as it is", () => ann],
    ["as nothing", () => ""],
  ];
  test.for(forgeries)("%s counts for nothing", ([, header, changed]) => {
    expect(addresses.read(handed(header, changed))).toBeUndefined();
  });

  test("counts for nothing where there is no secret, and that is said once, without what came", () => {
    const nobody = new SignedClientAddress([], createLog("info", { write: (line) => void logged.push(line) }));
    for (let n = 0; n < 3; n++) expect(nobody.read(handed((sign) => sign()))).toBeUndefined();
    const lines = logged.filter((line) => line.includes("SVC_BRIDGE_SECRET is not set"));
    expect(lines).toHaveLength(1);
    expect(logged.join("")).not.toContain(ann);
  });

  test("is counted as a request of that visitor", () => {
    const options = { requestsPerAddress: 1, requestsPerUser: 1, trustProxy: false, handed: addresses };
    const limits = new RequestLimits(options);
    const from = (address: string) => () => limits.countAddress(handed((sign) => sign({ address })));
    from(ann)();
    expect(from(ann)).toThrow("Too many requests");
    from(bob)();
  });

  test("is for one body: with another one the request is refused", async () => {
    const send = async (signed: string) => {
      const headers = { "svc-client-address": signed, "content-type": "application/json" };
      const body = '{"email":"nobody@example.com","password":"wrong horse"}';
      return (await running.service.fetch("/api/auth/sign-in", { method: "POST", body, headers })).status;
    };
    const signIn = { path: "/api/auth/sign-in", authorization: "", address: "192.0.2.77" };
    const own = { ...signIn, body: '{"email":"nobody@example.com","password":"wrong horse"}' };
    expect([await send(sign(own)), await send(sign(signIn))]).toEqual([401, 400]);
  });
});

test("secrets that are short, missing or those of sessions are slips", async () => {
  const bridge = (clientAddress: object) => () =>
    createSvcAuthBridgeHandlers({
      baseUrl: "http://localhost:4000",
      session: { password },
      clientAddress: clientAddress as never,
    });
  expect(bridge({ from })).toThrow(/SVC_BRIDGE_SECRET/);
  expect(bridge({ secret: "short", from })).toThrow(/at least 32 characters/);
  expect(bridge({ secret })).toThrow(/clientAddress.from has to be a function/);
  expect((await load("{}", { SVC_BRIDGE_SECRET: `${secret},${older}` })).auth.bridgeSecrets).toEqual([secret, older]);
  expect(await refusal("{}", { SVC_BRIDGE_SECRET: "short" })).toContain("SVC_BRIDGE_SECRET");
  const same = { SVC_BRIDGE_SECRET: secret, AUTHLIB_SECRET: secret };
  expect(await refusal("{}", same)).toContain("SVC_BRIDGE_SECRET: is one of AUTHLIB_SECRET");
});
