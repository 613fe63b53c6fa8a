// If this file fails, a copy of the documentation's webhook accepts requests without a valid signature.
import { createHmac } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, TestService } from "../support/service.ts";
import { snippets } from "./markdown.ts";

const db = database();
// Inside the project, where @svc/core resolves.
const folder = join(root, ".svc", `webhook-${process.pid}`);
let svc: TestService;
beforeAll(async () => {
  const [snippet, other] = (await snippets()).filter(
    ({ place, text }) => /http-routes/.test(place) && text.includes("/hooks/"),
  );
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "routes.ts"), snippet?.text ?? "");
  await writeFile(join(folder, "payments.ts"), other?.text ?? "");
  const { hook } = await import(pathToFileURL(join(folder, "routes.ts")).href);
  svc = new TestService(db, apiWith({ httpRoutes: { hook } }), {});
  await svc.start();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await svc?.stop();
  await rm(folder, { recursive: true, force: true });
});

const secret = "what the sender and we know";
const body = '{ "paid":  true, "by": "\u00e9" }';
const sign = (text: string, key = secret) => createHmac("sha256", key).update(text).digest("hex");
const send = async (signature?: string, text = body) => {
  const headers = { "content-type": "application/json", ...(signature !== undefined && { "x-signature": signature }) };
  return (await svc.fetch("/api/hooks/billing", { method: "POST", headers, body: text })).status;
};

test("the webhook of the documentation takes what its sender has signed, byte by byte, and nothing else", async () => {
  expect(await send(sign(body, ""))).toBe(500); // without a secret anybody could sign
  vi.stubEnv("BILLING_HOOK_SECRET", secret);
  expect(await send(sign(body))).toBe(202);
  for (const forged of [
    undefined,
    "",
    "zz",
    sign(body).slice(2),
    `${sign(body)}00`,
    sign(body, "a guess"),
    sign("{}"),
  ]) {
    expect(await send(forged)).toBe(403);
  }
  expect(await send(sign(body), JSON.stringify(JSON.parse(body)))).toBe(403);
});

test("a payment that is signed and not JSON is the sender's mistake", async () => {
  vi.stubEnv("WEBHOOK_SECRET", secret);
  const payments = new TestService(db, (await import(pathToFileURL(join(folder, "payments.ts")).href)).default, {});
  await payments.start();
  const pay = async (body: string, signature = sign(body)) => {
    const headers = { "x-signature": signature };
    return (await payments.fetch("/api/hooks/payments", { method: "POST", headers, body })).status;
  };
  const answers = [await pay("paid", "zz"), await pay("paid"), await pay('{"order":7}')];
  await payments.stop();
  expect(answers).toEqual([401, 400, 202]);
});
