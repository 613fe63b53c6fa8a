// If this file fails, a service that is being developed answers everybody on the same network.
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { load, refusal, secret } from "../define/config-folder.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService } from "../support/service.ts";

const db = database();

/** On Linux all of 127.0.0.0/8 is this machine: another address of it, as the network would use one. */
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
  const kept = new TestService(db, apiWith(), {});
  const open = new TestService(db, apiWith(), { host: "0.0.0.0" });
  beforeAll(() => Promise.all([kept.start(), open.start()]));
  afterAll(() => Promise.all([kept.stop(), open.stop()]));

  test("is there for this machine alone outside production, unless host says more", async () => {
    expect([await isOpen(kept, "127.0.0.1"), await isOpen(kept, "127.0.0.2")]).toEqual([true, false]);
    expect([await isOpen(open, "127.0.0.1"), await isOpen(open, "127.0.0.2")]).toEqual([true, true]);
    expect((await fetch(`http://localhost:${new URL(kept.url).port}/healthz`)).status).toBe(200);
  });
});

test("in production it listens on all addresses, and the environment decides before the file", async () => {
  const production = { NODE_ENV: "production", AUTHLIB_SECRET: secret };
  expect((await load("{}")).host).toBe("127.0.0.1");
  expect((await load("{}", production)).host).toBeNull();
  expect((await load('{ host: "::1" }', { ...production, SVC_HOST: "127.0.0.1" })).host).toBe("127.0.0.1");
  expect(await refusal('{ host: "localhost" }')).toContain("host: must be an address of this machine");
});
