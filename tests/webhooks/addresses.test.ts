// If this file fails, a user reaches the network of the service by the URL of an endpoint.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isPublicAddress, lookupPublic } from "../../src/kit/public-address.ts";
import { post } from "../../src/webhooks/post.ts";

let server: Server;
const reached: (string | undefined)[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    reached.push(request.url);
    response.writeHead(200);
    if (request.url !== "/endless") return response.end();
    const timer = setInterval(() => response.write("x".repeat(65_536)), 1);
    response.on("close", () => clearInterval(timer));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const refused = "The URL leads to a private address.";
const port = () => (server.address() as AddressInfo).port;
const send = (url: string, isTrusted = false) => post({ url, headers: {}, body: "{}", timeoutMs: 5_000, isTrusted });

describe("the URL of a user's endpoint", () => {
  test.for(["127.0.0.1", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "[fd00::1]"])(
    "is refused with the private address %s",
    async (host) => {
      await expect(send(`https://${host}:${port()}/`)).rejects.toThrow(refused);
    },
  );

  test("is refused with a name that resolves to a private address", async () => {
    await expect(send(`https://localhost:${port()}/`)).rejects.toThrow(refused);
  });

  test("is refused without TLS, and with what is no URL", async () => {
    await expect(send(`http://127.0.0.1:${port()}/`)).rejects.toThrow("The URL must begin with https://.");
    await expect(send("file:///etc/passwd")).rejects.toThrow("The URL must begin with https://.");
    await expect(send("nonsense")).rejects.toThrow("The URL is not valid.");
  });

  test("reaches nothing when it is refused; the operator's own may be private", async () => {
    expect(reached).toEqual([]);
    expect(await send(`http://localhost:${port()}/own`, true)).toBe(200);
    expect(reached).toEqual(["/own"]);
  });
});

test("an answer without end is cut off", async () => {
  expect(await send(`http://127.0.0.1:${port()}/endless`, true)).toBe(200);
  expect(reached).toContain("/endless");
});

test("a socket connects only to addresses that were checked", async () => {
  const look = (all: boolean) =>
    new Promise((resolve) => lookupPublic("localhost", { all }, (error, found) => resolve(error?.message ?? found)));
  expect([await look(true), await look(false)]).toEqual([refused, refused]);
});

test("addresses of the public internet are told from others", () => {
  const privates =
    "10.1.2.3 100.64.0.1 172.16.0.1 192.168.1.1 0.0.0.0 255.255.255.255 224.0.0.1 fd00::1 fe80::1 :: ::1 64:ff9b::a00:1 " +
    "2002:a00:1:: 2001:0:1:: 2001:db8::1 ::ffff:10.0.0.1 nonsense";
  const publics = "1.1.1.1 172.32.0.1 100.128.0.1 2606:4700::1111 2a00:1450::1";
  expect(privates.split(" ").filter(isPublicAddress)).toEqual([]);
  expect(publics.split(" ").filter((address) => !isPublicAddress(address))).toEqual([]);
});
