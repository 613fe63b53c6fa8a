// If this file fails, a mail is lost when the service stops, or a mailer that hangs keeps it from stopping.
import { expect, test } from "vitest";
import { Mails } from "../../src/auth/mail/mails.ts";
import type { AuthMail } from "../../src/contract/auth.ts";
import { createLog } from "../../src/telemetry/log.ts";

const mail = { email: "ann@example.com", url: "https://app.test/?token=secret" };

function mails(sendResetPassword: (mail: AuthMail) => Promise<void>, timeout?: number) {
  const log: string[] = [];
  const definition = { emailAndPassword: { sendResetPassword } };
  const options = { definition, production: true, log: createLog("trace", { write: (line) => void log.push(line) }) };
  return { log, mails: new Mails(timeout === undefined ? options : { ...options, timeout }) };
}

test("a stop sends what waits, and waits until it is sent", async () => {
  const sent: AuthMail[] = [];
  const reached = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const { mails: one } = mails(async (given) => {
    reached.resolve();
    await finish.promise;
    sent.push(given);
  });
  one.later("password reset", async () => mail, 2 ** 30); // in twelve days
  let isClosed = false;
  const closing = one.close().then(() => {
    isClosed = true;
  });
  await reached.promise;
  expect({ isClosed, sent }).toEqual({ isClosed: false, sent: [] });
  finish.resolve();
  await closing;
  expect(sent).toEqual([mail]);
});

test("a mailer that never ends is waited for no longer than it may take, and the log says so", async () => {
  const { log, mails: one } = mails(() => new Promise(() => {}), 1);
  one.later("password reset", async () => mail);
  await one.close();
  expect(log.map((line) => JSON.parse(line))).toMatchObject([{ level: 50, mail: "password reset" }]);
  expect(log.join("")).toMatch(/did not finish in time/);
  expect(log.join("")).not.toMatch(/ann@|token=/);
});

test("a mailer that fails when nobody waits any more does no harm", async () => {
  const fail = Promise.withResolvers<void>();
  const { mails: one } = mails(() => fail.promise, 1);
  one.later("password reset", async () => mail);
  await one.close();
  fail.reject(new Error("too late")); // an unhandled rejection would fail this run
  await new Promise(setImmediate);
});

test("a mail for nobody is none, and what its making throws is logged", async () => {
  const sent: AuthMail[] = [];
  const { log, mails: one } = mails(async (given) => void sent.push(given));
  one.later("password reset", async () => null);
  one.later("password reset", () => Promise.reject(new Error("no database for ann@example.com")));
  await one.close();
  expect(sent).toEqual([]);
  expect(log.map((line) => JSON.parse(line))).toMatchObject([{ reason: "Error: no database for [address]" }]);
});
