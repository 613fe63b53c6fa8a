// If this file fails, a user reaches the network of the service by the URL of an endpoint.
import { createSocket } from "node:dgram";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { type AddressInfo, isIPv4 } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { isPublicAddress, publicLookup } from "../../src/kit/public-address.ts";
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
    expect((await send(`http://localhost:${port()}/own`, true)).status).toBe(200);
    expect(reached).toEqual(["/own"]);
  });
});

test("an answer without end is cut off", async () => {
  expect((await send(`http://127.0.0.1:${port()}/endless`, true)).status).toBe(200);
  expect(reached).toContain("/endless");
});

/** A DNS server with these addresses. null: it answers when `answer` is called, that there is no such name. */
async function nameServer(names: Record<string, string[] | null>) {
  const socket = createSocket("udp4");
  const held: (() => void)[] = [];
  socket.on("message", (asked, { port }) => {
    const end = asked.indexOf(0, 12) + 5;
    const labels = asked.subarray(12, end - 5).toString("latin1");
    const name = labels.replace(/[^a-z]/g, ".").slice(1);
    const isFour = asked.readUInt16BE(end - 4) === 1;
    const found = names[name]?.filter((address) => isIPv4(address) === isFour) ?? [];
    const header = Buffer.alloc(12);
    asked.copy(header, 0, 0, 2);
    header.writeUInt16BE(name in names && names[name] ? 0x8180 : 0x8183, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(found.length, 6);
    const records = found.map((address) => {
      const data = isFour
        ? Buffer.from(address.split(".").map(Number))
        : Buffer.from(
            address
              .split(":")
              .map((part) => part.padStart(4, "0"))
              .join(""),
            "hex",
          );
      return Buffer.concat([Buffer.from([0xc0, 12, 0, isFour ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length]), data]);
    });
    const send = () => socket.send(Buffer.concat([header, asked.subarray(12, end), ...records]), port);
    if (names[name] === null) held.push(send);
    else send();
  });
  await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done));
  onTestFinished(() => new Promise<void>((done) => void socket.close(done)));
  const look = (host: string, all = true) =>
    new Promise((resolve) =>
      publicLookup([`127.0.0.1:${socket.address().port}`])(host, { all }, (error, found, family) =>
        resolve(
          error?.message ?? (all ? (found as { address: string }[]).map(({ address }) => address) : [found, family]),
        ),
      ),
    );
  return { look, held, answer: () => held.splice(0).map((send) => send()) };
}

test("a socket connects only to addresses that were checked", async () => {
  const { look } = await nameServer({
    "private.test": ["10.0.0.1", "fd00:0:0:0:0:0:0:1"],
    "mixed.test": ["169.254.169.254", "1.1.1.1", "2606:4700:0:0:0:0:0:1111"],
    "six.test": ["2606:4700:0:0:0:0:0:1111"],
    localhost: ["1.1.1.1"],
  });
  expect([await look("private.test"), await look("private.test", false)]).toEqual([refused, refused]);
  expect(await look("mixed.test")).toEqual(["1.1.1.1", "2606:4700::1111"]);
  expect(await look("mixed.test", false)).toEqual(["1.1.1.1", 4]);
  expect(await look("six.test", false)).toEqual(["2606:4700::1111", 6]);
  expect(await look("unknown.test")).toBe("queryA ENOTFOUND unknown.test");
  for (const name of ["localhost", "LOCALHOST.", "a.localhost"]) expect(await look(name)).toBe(refused);
});

test("names whose server does not answer keep no thread that reads files", async () => {
  const { look, held, answer } = await nameServer({ "slow.test": null });
  let ended = 0;
  const looks = Array.from({ length: 8 }, () => look("slow.test").finally(() => ended++));
  await expect.poll(() => held.length).toBeGreaterThanOrEqual(16);
  await readFile(import.meta.filename);
  expect(ended).toBe(0);
  answer();
  expect(new Set(await Promise.all(looks))).toEqual(new Set(["queryA ENOTFOUND slow.test"]));
});

test("addresses of the public internet are told from others", () => {
  const privates =
    "10.1.2.3 100.64.0.1 172.16.0.1 192.168.1.1 0.0.0.0 255.255.255.255 224.0.0.1 fd00::1 fe80::1 :: ::1 64:ff9b::a00:1 " +
    "2002:a00:1:: 2001:0:1:: 2001:db8::1 ::ffff:10.0.0.1 nonsense";
  const publics = "1.1.1.1 172.32.0.1 100.128.0.1 2606:4700::1111 2a00:1450::1";
  expect(privates.split(" ").filter(isPublicAddress)).toEqual([]);
  expect(publics.split(" ").filter((address) => !isPublicAddress(address))).toEqual([]);
});
