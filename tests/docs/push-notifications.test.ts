// If this file fails, docs/how-to/push-notifications.md notifies the wrong device, lets callers send requests into the network, or
// tries a device that is gone for ever.
import { execFileSync } from "node:child_process";
import { createDecipheriv, createECDH, createHmac, createPublicKey, verify } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer as createPlainServer } from "node:http";
import { createServer, globalAgent, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import webPush from "web-push";
import { chromiumPath, openBrowser, whySkipped } from "../browser/desk-app.ts";
import { bytesFolder } from "../support/files.ts";
import { documented } from "./documented.ts";
import { snippets } from "./markdown.ts";

const vapid = webPush.generateVAPIDKeys();
Object.assign(process.env, { VAPID_PUBLIC_KEY: vapid.publicKey, VAPID_PRIVATE_KEY: vapid.privateKey });
const { db, person, call, lint, startWorker } = documented("docs/how-to/push-notifications.md");

/** What a browser and its push service have of a device. */
function device() {
  const keys = createECDH("prime256v1");
  keys.generateKeys();
  return {
    keys,
    secret: Buffer.alloc(16, "auth"),
    got: [] as { notification: unknown; ttl: string | undefined }[],
    status: 201,
  };
}
type Device = ReturnType<typeof device>;
const devices = new Map<string, Device>();
let service: Server;
const folder = bytesFolder();

beforeAll(async () => {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  execFileSync(
    "openssl",
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ${key} -out ${cert} -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost`.split(
      " ",
    ),
    { stdio: "ignore" },
  );
  service = createServer({ key: await readFile(key), cert: await readFile(cert) }, async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const to = devices.get(request.url ?? "");
    const isSigned = isVapid(request.headers.authorization ?? "", `https://localhost:${port()}`);
    if (to && isSigned && to.status === 201)
      to.got.push({ notification: JSON.parse(decrypt(Buffer.concat(parts), to)), ttl: request.headers.ttl as string });
    response.writeHead(isSigned ? (to?.status ?? 404) : 403).end();
  });
  await new Promise<void>((done) => service.listen(0, "localhost", done));
  globalAgent.options.ca = await readFile(cert);
});
afterAll(() => {
  delete globalAgent.options.ca;
  service?.close();
});
const port = () => (service.address() as AddressInfo).port;

/** RFC 8292. */
function isVapid(header: string, audience: string): boolean {
  const { token = "", key } = /^vapid t=(?<token>[^,]+), ?k=(?<key>.+)$/.exec(header)?.groups ?? {};
  const [head, body = "", signature = ""] = token.split(".");
  const point = Buffer.from(vapid.publicKey, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString("base64url")) as [
    string,
    string,
  ];
  const publicKey = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  const isSigned = verify(
    "sha256",
    Buffer.from(`${head}.${body}`),
    { key: publicKey, dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  return isSigned && key === vapid.publicKey && JSON.parse(Buffer.from(body, "base64url").toString()).aud === audience;
}

/** RFC 8291 and 8188, of one record. */
function decrypt(body: Buffer, { keys, secret }: Device): string {
  const hmac = (key: Buffer, ...data: (Buffer | string)[]) =>
    data.reduce((sum, part) => sum.update(part), createHmac("sha256", key)).digest();
  const salt = body.subarray(0, 16);
  const sender = body.subarray(21, 21 + (body[20] ?? 0));
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), keys.getPublicKey(), sender, Buffer.from([1])]);
  const shared = hmac(hmac(secret, keys.computeSecret(sender)), info);
  const pseudoRandom = hmac(salt, shared);
  const key = hmac(pseudoRandom, "Content-Encoding: aes128gcm\0\x01").subarray(0, 16);
  const nonce = hmac(pseudoRandom, "Content-Encoding: nonce\0\x01").subarray(0, 12);
  const sealed = body.subarray(21 + sender.length);
  const decipher = createDecipheriv("aes-128-gcm", key, nonce);
  decipher.setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  return plain.subarray(0, plain.lastIndexOf(2)).toString();
}

test("a message reaches the recipient's devices alone, and a device that is gone is removed", async () => {
  const [ann, bob, eve] = await Promise.all(["ann", "bob", "eve"].map(person));
  const [phone, laptop, gone, other] = [device(), device(), device(), device()];
  gone.status = 410;
  for (const [who, path, to] of [
    [bob, "/phone", phone],
    [bob, "/laptop", laptop],
    [bob, "/gone", gone],
    [eve, "/other", other],
  ] as const) {
    devices.set(path, to);
    const endpoint = `https://updates.push.services.mozilla.com${path}`;
    const keys = { p256dh: to.keys.getPublicKey("base64url"), auth: to.secret.toString("base64url") };
    expect(await call("mutation", who.token, "devices.add", { endpoint, keys })).toMatchObject({ status: 200 });
  }
  // The push service of this test is this machine.
  await db.sql("update devices set endpoint = replace(endpoint, 'updates.push.services.mozilla.com', $1)", [
    `localhost:${port()}`,
  ]);
  await startWorker();
  const { body } = await call("mutation", ann.token, "messages.create", { recipientId: bob.user.id, body: "Hello" });
  const { id } = body.json;
  await expect.poll(() => db.sql("select endpoint from devices where endpoint like '%/gone'")).toEqual([]);
  const notification = { title: "New message", body: "Hello", url: `/messages/${id}` };
  await expect.poll(() => [phone.got, laptop.got]).toEqual(Array(2).fill([{ notification, ttl: "86400" }]));
  expect(other.got).toEqual([]);
  expect(await db.sql("select count(*)::integer as left from devices")).toEqual([{ left: 3 }]);
});

test.each([
  "https://localhost/x",
  "https://169.254.169.254/googleapis.com",
  "https://googleapis.com.evil.example/x",
  "https://evilgoogleapis.com/x",
  "http://fcm.googleapis.com/x",
  "https://fcm.googleapis.com:8443/x",
  "https://fcm.googleapis.com@evil.example/x",
])("%s is not called", async (endpoint) => {
  const { token } = await person(`mallory${endpoint.length}${endpoint.charCodeAt(9)}`);
  const keys = { p256dh: "a", auth: "b" };
  expect(await call("mutation", token, "devices.add", { endpoint, keys })).toMatchObject({ status: 400 });
});

test("nobody removes or reads devices of others", async () => {
  const [fay, gil] = await Promise.all(["fay", "gil"].map(person));
  const endpoint = "https://fcm.googleapis.com/fay";
  const add = (token: string) => call("mutation", token, "devices.add", { endpoint, keys: { p256dh: "a", auth: "b" } });
  expect([await add(fay.token), await add(fay.token)]).toMatchObject([{ status: 200 }, { status: 200 }]);
  expect(await call("mutation", gil.token, "devices.remove", { endpoint })).toMatchObject({ status: 200 });
  const left = () => db.sql("select user_id from devices where endpoint = $1", [endpoint]);
  expect(await left()).toEqual([{ user_id: fay.user.id }]);
  await call("mutation", fay.token, "devices.remove", { endpoint });
  expect(await left()).toEqual([]);
});

test.skipIf(!chromiumPath)(
  `the service worker shows what arrives${chromiumPath ? "" : `: ${whySkipped}`}`,
  async () => {
    const snippet = (await snippets()).find(({ file }) => file === "web/public/push.js");
    const site = createPlainServer(({ url }, response) => {
      const [type, text] =
        url === "/push.js" ? ["text/javascript", snippet?.text] : ["text/html", "<title>page</title>"];
      response.setHeader("content-type", type).end(text);
    });
    await new Promise<void>((done) => site.listen(0, "localhost", done));
    onTestFinished(() => void site.close());
    const origin = `http://localhost:${(site.address() as AddressInfo).port}`;
    const context = await (await openBrowser()).newContext();
    onTestFinished(() => context.close());
    await context.grantPermissions(["notifications"], { origin });
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    const registered = new Promise<string>((resolve) => {
      devtools.on("ServiceWorker.workerVersionUpdated", ({ versions }) => {
        const active = versions.find(({ status }) => status === "activated");
        if (active) resolve(active.registrationId);
      });
    });
    await devtools.send("ServiceWorker.enable");
    await page.goto(origin);
    await page.evaluate(async () => void (await navigator.serviceWorker.register("/push.js")));
    const data = JSON.stringify({ title: "New message", body: "Hello", url: "/messages/1" });
    await devtools.send("ServiceWorker.deliverPushMessage", { origin, registrationId: await registered, data });
    const shown = () =>
      page.evaluate(async () => {
        const registration = await navigator.serviceWorker.ready;
        const notifications = await registration.getNotifications();
        return notifications.map(({ title, body, tag }) => ({ title, body, tag }));
      });
    await expect.poll(shown).toEqual([{ title: "New message", body: "Hello", tag: "/messages/1" }]);
  },
);

test("the linter finds nothing", async () => {
  expect(await lint()).toEqual([]);
});
