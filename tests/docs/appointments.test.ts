// If this file fails, an appointment as in docs/how-to/appointments.md is confirmed by strangers, not at all, or leaves a gap
// between invoices.
import { randomUUID } from "node:crypto";
import { createTestApp, type TestApp } from "@svc/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { testServer } from "../support/test-server.ts";
import { documented } from "./documented.ts";

const { db, folder, lint } = documented("docs/how-to/appointments.md");
// biome-ignore lint/suspicious/noExplicitAny: the page's own references, written while the test runs
type Any = any;
let api: Any;
let app: TestApp<Any>;
let company: Any;
const mails: { to: string; key: string; text: string }[] = [];

beforeAll(async () => {
  testServer(db);
  vi.stubEnv("LINK_SECRET", "a secret of at least thirty-two characters");
  const print = console.log;
  vi.spyOn(console, "log").mockImplementation((said, ...more) =>
    said?.subject ? mails.push(said) : print(said, ...more),
  );
  api = (await import(`${folder}/web/svc/api.ts`)).api;
  app = await createTestApp({ api, cwd: folder, log: "silent" });
  company = await app.asUser();
});
afterAll(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await app?.close();
});

const inDays = (days: number) => new Date(Date.now() + days * 24 * 60 * 60 * 1000);
const plan = async (to: string, days: number) =>
  (await company.mutate(api.appointments.plan, { title: "Boiler", email: to, startsAt: inDays(days) })).id as string;
/** Time passes for the waits and, because the clock stays, for the appointment. */
async function pass(id: string, time: string) {
  await app.sql("update appointments set starts_at = starts_at - $2::interval where id = $1", [id, time]);
  await app.passTime(time);
  await app.flushJobs();
}
const stateOf = async (id: string) => (await company.query(api.appointments.get, { id })).state;
const sentTo = (email: string) => mails.filter(({ to }) => to === email);
function linkTo(email: string) {
  const { searchParams } = new URL(sentTo(email)[0]?.text.split(": ")[1] ?? "");
  return Object.fromEntries(searchParams) as { id: string; signature: string };
}

test("a person without an account is reminded a day before, and confirms by the link alone", async () => {
  const id = await plan("ann@example.com", 3);
  await app.flushJobs();
  expect(sentTo("ann@example.com")).toEqual([]);
  await pass(id, "2 days");
  expect(sentTo("ann@example.com")).toHaveLength(1);

  const visitor: Any = app.anonymous();
  const link = linkTo("ann@example.com");
  const others = [
    { ...link, id: randomUUID() },
    { ...link, signature: "" },
  ];
  for (const wrong of others) {
    await expect(visitor.mutate(api.appointments.confirm, wrong)).rejects.toMatchObject({ code: "FORBIDDEN" });
  }
  await visitor.mutate(api.appointments.confirm, link);
  await app.flushJobs();
  expect(await stateOf(id)).toBe("confirmed");
});

test("a moved appointment is reminded of at its new time; one that nobody confirms is seen", async () => {
  const id = await plan("bob@example.com", 3);
  await company.mutate(api.appointments.move, { id, startsAt: inDays(10) });
  await app.flushJobs();
  await pass(id, "3 days");
  expect(sentTo("bob@example.com")).toEqual([]);
  await pass(id, "6 days");
  expect(sentTo("bob@example.com")).toHaveLength(1);
  await pass(id, "6 hours");
  expect(await stateOf(id)).toBe("unanswered");
  await app.anonymous().mutate(api.appointments.confirm, linkTo("bob@example.com")); // late, but before the visit
  await app.flushJobs();
  expect(await stateOf(id)).toBe("confirmed");
});

test("a link that is used again and again sends its run one event, so that the one of the invoice still fits", async () => {
  const id = await plan("joy@example.com", 0.5);
  await app.flushJobs();
  for (let time = 0; time < 3; time++) {
    await app.anonymous().mutate(api.appointments.confirm, linkTo("joy@example.com"));
    await app.flushJobs();
  }
  const events =
    "select e.name from svc.workflow_events e join svc.workflow_runs r on r.id = e.run_id where r.idempotency_key = $1";
  expect(await app.sql(events, [id])).toEqual([{ name: "answered" }]);
});

test("a link that is opened after the visit changes nothing", async () => {
  const id = await plan("fay@example.com", 0.5);
  await app.flushJobs();
  await pass(id, "13 hours");
  await app.anonymous().mutate(api.appointments.confirm, linkTo("fay@example.com"));
  await app.flushJobs();
  expect(await stateOf(id)).toBe("unanswered");
});

test("an appointment that is moved while no worker runs is not reminded of at its old time", async () => {
  const id = await plan("gil@example.com", 3);
  await app.flushJobs();
  await company.mutate(api.appointments.move, { id, startsAt: inDays(10) });
  await app.passTime("2 days"); // the job of the move and the end of the wait are due together
  await app.flushJobs();
  expect(sentTo("gil@example.com")).toEqual([]);
});

test("each visit that is done has one invoice, and their numbers have no gap", async () => {
  const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => plan(`c${n}@example.com`, 0.5)));
  // Before the run is started, twice, and beside an invoice that fails and takes no number.
  for (const id of [...ids, ...ids]) await company.mutate(api.appointments.finish, { id });
  await app.sql("insert into invoices (id, user_id, year, number) values ($1, 'x', 1, 1)", [ids[3]]);
  await app.flushJobs({ failures: "return" });
  const rows = await app.sql<{ number: number }>("select number from invoices where year > 1 order by number");
  expect(rows.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(await stateOf(ids[0] as string)).toBe("done");
  expect(mails.filter(({ to }) => /^c\d@/.test(to))).toEqual([]);
  // Its run is tried again at some time, during the next tests.
  await app.sql("delete from invoices where year = 1");
});

test("a visit that is done early has its invoice at once, and no reminder", async () => {
  const id = await plan("dan@example.com", 3);
  await app.flushJobs();
  await company.mutate(api.appointments.finish, { id });
  await app.flushJobs({ failures: "return" });
  expect(await app.sql("select from invoices where id = $1", [id])).toHaveLength(1);
  await app.passTime("3 days");
  await app.flushJobs({ failures: "return" });
  expect(sentTo("dan@example.com")).toEqual([]);
  await expect(company.mutate(api.appointments.move, { id, startsAt: inDays(5) })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
});

test("a visit of today that is done has its invoice at once, and awaits no answer", async () => {
  const id = await plan("hal@example.com", 0.1);
  await app.flushJobs();
  await company.mutate(api.appointments.finish, { id });
  await app.flushJobs();
  expect(await app.sql("select from invoices where id = $1", [id])).toHaveLength(1);
});

test.each([null, inDays(-1), inDays(4000)])("no appointment is at %s", async (startsAt) => {
  await expect(
    company.mutate(api.appointments.plan, { title: "Boiler", email: "i@example.com", startsAt }),
  ).rejects.toMatchObject({ code: "VALIDATION_FAILED" });
});

test("an appointment is moved until a day before, because a link that was sent answers for its time", async () => {
  const id = await plan("eve@example.com", 0.5);
  await expect(company.mutate(api.appointments.move, { id, startsAt: inDays(10) })).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
});

test("nothing on the page worries the linter", async () => {
  expect(await lint()).toEqual([]);
});
