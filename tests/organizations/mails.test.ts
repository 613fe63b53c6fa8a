// If this file fails, the name of an organization or of a user adds headers to mails, or logs of production have addresses.

import { join } from "node:path";
import { Writable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import type { InvitationMail } from "../../src/contract/auth.ts";
import { createOrganizations, defineAuth } from "../../src/index.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";
import { install, schema } from "./application.ts";

const db = database();
const mails: InvitationMail[] = [];
const auth = defineAuth({ organizations: { sendInvitation: (mail) => void mails.push(mail) } });
const api = apiWith({ procedures: createOrganizations(auth) });
const silent = defineAuth({ organizations: true });
const without = apiWith({ procedures: createOrganizations(silent) });
const [start, startWithout] = [workers(db, api), workers(db, without)];
const running = new TestService(db, api, {}, schema, undefined, auth);
beforeAll(async () => {
  await install(db);
  await running.start();
});
afterAll(() => running.stop());

/** Invites an address, as a user with this name. */
async function invite(email: string, name = "ann", organization = "Acme") {
  const { sessionToken, ...user } = await running.signUp("ann");
  const by = { ...user, sessionToken, token: sessionToken }; // a new name ends its JWT
  await db.sql('update auth."user" set name = $2 where id = $1', [by.id, name]);
  const { body } = await running.mutate(by, "organizations.create", { name: organization });
  const answer = await running.mutate(by, "organizationInvitations.create", {
    orgId: body.json.id,
    email,
    role: "member",
  });
  expect(answer.status).toBe(200);
}

test("names that users chose stay on one line", async () => {
  const worker = await start({ app: { api, auth, schema } });
  await invite("guest@example.com", "Ann\r\nBcc: all@example.com", "Acme Inc");
  await until(async () => mails.length === 1);
  await worker.stop();
  expect(mails[0]).toMatchObject({
    inviter: "Ann Bcc: all@example.com",
    organization: "Acme Inc",
  });
});

test.for([
  ["development", /"mail":"invitation","email":"one@example.com","url":"[^"]*invitation=/],
  ["production", /"an invitation was not sent: auth.ts has no organizations.sendInvitation"/],
] as const)("without a mailer the log has the mail in development alone: %s", async ([where, expected]) => {
  let logged = "";
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      logged += chunk;
      done();
    },
  });
  const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  const worker = await startWithout({
    app: { api: without, auth: silent, schema },
    config: { ...config, production: where === "production" },
    log: createLog("info", sink),
  });
  // The other way round, in the same process.
  const other = new TestService(db, api, { production: where !== "production" } as object, schema, undefined, auth);
  await other.start();
  await invite("one@example.com");
  await until(async () => expected.test(logged));
  await Promise.all([worker.stop(), other.stop()]);
  if (where === "production") expect(logged).not.toMatch(/one@example|invitation=/);
});
