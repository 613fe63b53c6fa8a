// If this file fails, a service in development answers the whole network. Or a page whose host name resolves to
// 127.0.0.1 can read its answers.
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AllowedHostsSettings, createHostCheck } from "../../src/http/allowed-hosts.ts";
import { load, refusal, secret } from "../define/config-folder.ts";
import { database } from "../support/database.ts";
import { rawRequest } from "../support/raw-http.ts";
import { apiWith, TestService } from "../support/service.ts";

const db = database();

/** On Linux all of 127.0.0.0/8 is this machine. Connects to another address of it, as from the network. */
async function isOpen(service: TestService, address: string): Promise<boolean> {
  const socket = connect(Number(new URL(service.url).port), address);
  const opened = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return opened;
}

describe.runIf(process.platform === "linux")("a service", () => {
  const kept = new TestService(db, apiWith(), { frontendOrigins: ["https://front.test"] });
  const open = new TestService(db, apiWith(), {
    host: "0.0.0.0",
    allowedHosts: ["dev.test", ".tunnel.test"],
  } as object);
  beforeAll(() => Promise.all([kept.start(), open.start()]));
  afterAll(() => Promise.all([kept.stop(), open.stop()]));

  test("is there for this machine alone outside production, unless host says more", async () => {
    expect([await isOpen(kept, "127.0.0.1"), await isOpen(kept, "127.0.0.2")]).toEqual([true, false]);
    expect([await isOpen(open, "127.0.0.1"), await isOpen(open, "127.0.0.2")]).toEqual([true, true]);
    expect((await fetch(`http://localhost:${new URL(kept.url).port}/healthz`)).status).toBe(200);
  });

  test("answers nobody by a stranger's name, not by a socket either, and says how to allow it", async () => {
    const by = (service: TestService, host: string, path = "/healthz") =>
      rawRequest(service.url, { method: "GET", path, host });
    const { status, body } = await by(kept, "evil.test");
    expect([status, JSON.parse(body)]).toMatchObject([
      403,
      { code: "FORBIDDEN", hint: expect.stringContaining("allowedHosts in svc.config.ts") },
    ]);
    expect((await by(kept, "front.test")).status).toBe(200);
    expect((await by(open, "a.tunnel.test")).status).toBe(200);
    const upgrade: [string, string][] = [
      ["Upgrade", "websocket"],
      ["Sec-WebSocket-Version", "13"],
      ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="],
    ];
    const socket = { method: "GET", path: "/ws", host: "evil.test", headers: upgrade };
    expect((await rawRequest(kept.url, socket)).status).toBe(403);
  });
});

describe("a name that leads here", () => {
  const listed = { allowedHosts: ["dev.test", ".tunnel.test"], production: false, host: "127.0.0.1" };
  const origins = ["http://localhost:4000", "https://front.test:8443"];
  const isRefused = (settings: Partial<AllowedHostsSettings>, host: string | undefined) => {
    const check = createHostCheck({ ...listed, origins, ...settings });
    const headers = host === undefined ? {} : { host };
    return refused(() => check?.({ headers }));
  };

  test.for([
    ["localhost:4000", "LOCALHOST", "localhost.", "app.localhost:4000", "127.0.0.1:4000", "[::1]:4000", "192.0.2.7"],
    ["front.test:8443", "front.test", "dev.test:4000", "DEV.test.", "tunnel.test", "a.b.tunnel.test:1", "", undefined],
  ])("is one of this machine's, or listed", (hosts) => {
    expect(hosts.filter((host) => isRefused({}, host))).toEqual([]);
  });

  test.for([
    [
      "evil.test",
      "evil.test:4000",
      "localhost.evil.test",
      "evillocalhost",
      "127.0.0.1.evil.test",
      "api",
      "other.dev.test",
    ],
    [
      "eviltunnel.test",
      "localhost:4000:1",
      "localhost@evil.test",
      "[::1].evil.test",
      "localhost, evil.test",
      "::1",
      ".",
    ],
  ])("is a stranger's", (hosts) => {
    expect(hosts.filter((host) => !isRefused({}, host))).toEqual([]);
  });

  test("may be any where that is said, and in production; without a dot where the network comes in anyway", () => {
    expect(isRefused({ allowedHosts: true }, "evil.test")).toBe(false);
    expect(isRefused({ allowedHosts: null, production: true }, "api.test")).toBe(false);
    expect(isRefused({ allowedHosts: [], production: true }, "api.test")).toBe(true);
    expect(isRefused({ host: null }, "api:4000")).toBe(false);
    expect(isRefused({ host: "0.0.0.0" }, "evil.test")).toBe(true);
  });
});

function refused(check: () => void): boolean {
  try {
    check();
    return false;
  } catch (error) {
    return (error as { code?: string }).code === "FORBIDDEN";
  }
}

test("the file and the environment list names, and say what is none", async () => {
  expect((await load("{}")).allowedHosts).toBeNull();
  expect((await load('{ allowedHosts: ["a.test"] }', { SVC_ALLOWED_HOSTS: "b.test, .c.test" })).allowedHosts).toEqual([
    "b.test",
    ".c.test",
  ]);
  for (const name of ["https://a.test", "a.test:4000", "*.a.test", "A.test"]) {
    expect(await refusal(`{ allowedHosts: ["${name}"] }`)).toContain("allowedHosts[0]: must be a host name such as");
  }
});

test("in production it listens on all addresses, and the environment decides before the file", async () => {
  const production = { NODE_ENV: "production", AUTHLIB_SECRET: secret };
  expect((await load("{}")).host).toBe("127.0.0.1");
  expect((await load("{}", production)).host).toBeNull();
  expect((await load('{ host: "::1" }', { ...production, SVC_HOST: "127.0.0.1" })).host).toBe("127.0.0.1");
  expect(await refusal('{ host: "localhost" }')).toContain("host: must be an address of this machine");
});
