// If this file fails, guesses of codes are not limited: the service and the library read one body in two ways.
import { createAuthEndpoint } from "better-auth/api";
import { phoneNumber } from "better-auth/plugins";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";

let sent = "";
const keep = ({ code }: { code: string }) => {
  sent = code;
};
const takingForms = {
  id: "taking-forms",
  endpoints: {
    redeem: createAuthEndpoint(
      "/forms/redeem",
      {
        method: "POST",
        body: z.object({ code: z.string() }),
        metadata: { allowedMediaTypes: ["application/x-www-form-urlencoded"] },
      },
      async ({ body, json, error }) => {
        if (body.code !== "right") throw error("BAD_REQUEST");
        return json({});
      },
    ),
  },
};
const definition = defineAuth({
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    plugins: [phoneNumber({ sendOTP: keep }), takingForms],
  }),
});
const db = database();
let server: AuthServer;
beforeAll(async () => {
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition, limits: { redemptionsPerAddress: 2 } });
});
afterAll(() => server.close());

const post = (path: string, type: string, raw: string) =>
  server.post(path, undefined, { raw, headers: { origin, "content-type": type } });
/** As JSON it has one member, and as a form these. */
const inBoth = (members: Record<string, string>) => `{"a":"&${new URLSearchParams(members)}&b="}`;

test("a header that names two types of a body is refused, also with the right code", async () => {
  await server.post("/phone-number/send-otp", { phoneNumber: "+4922" }, { headers: { origin } });
  const body = inBoth({ phoneNumber: "+4922", code: sent });
  for (const type of [
    "x/application/json, application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded, application/json",
    "application/json, application/x-www-form-urlencoded",
    "application/jsonapplication/x-www-form-urlencoded",
  ]) {
    expect(await post("/phone-number/verify", type, body), type).toMatchObject({ status: 415 });
  }
  expect(await db.sql(`select count(*)::integer as count from auth.verification where identifier = '+4922'`)).toEqual([
    { count: 1 },
  ]);
});

test("a form counts as a form, also if it could be read as JSON", async () => {
  const redeem = (code: string) =>
    post("/forms/redeem", "application/x-www-form-urlencoded; charset=utf-8", inBoth({ code }));
  const statuses = [];
  for (const code of ["1", "right", "2", "3"]) statuses.push((await redeem(code)).status);
  expect(statuses).toEqual([400, 200, 400, 429]);
});

test("a type that only begins as JSON's is refused: the library would read it, and svc would not", async () => {
  await db.sql("delete from auth.attempt");
  await server.post("/phone-number/send-otp", { phoneNumber: "+4944" }, { headers: { origin } });
  const body = JSON.stringify({ phoneNumber: "+4944", code: sent });
  for (const type of ["application/jsonx", "application/json-seq", "application/vnd.x+jsonx", "application/json+x"]) {
    expect(await post("/phone-number/verify", type, body), type).toMatchObject({ status: 415 });
  }
  expect(await post("/phone-number/send-otp", "application/jsonx", body)).toMatchObject({ status: 415 });
  expect(await db.sql(`select count(*)::integer as count from auth.verification where identifier = '+4944'`)).toEqual([
    { count: 1 },
  ]);
});
