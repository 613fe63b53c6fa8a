// If this file fails, an endpoint gets nothing for a minute after the database was restarted or has failed over, or the log
// does not say that a delivery failed for good, or that its end is not stored; or a worker does not stop until then.
import { Writable } from "node:stream";
import { pino } from "pino";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { until } from "../support/worker.ts";
import { webhooks } from "./application.ts";

const db = database();
const { got, answers, deliveries, worker, addEndpoint, addNote, hurry, settled } = webhooks(db);

const named = (from: string, to: string) =>
  db.sql(`alter function svc_private.${from}(uuid, integer, integer, text, integer) rename to ${to}`);
const failed = async () =>
  (await db.sql("select xact_rollback from pg_stat_database where datname = current_database()"))[0];

/** Starts a worker. @returns the lines of its log */
async function logged(): Promise<string[]> {
  const lines: string[] = [];
  const to = new Writable({
    write: (line, _, done) => {
      lines.push(String(line));
      done();
    },
  });
  await worker({ log: pino(to) });
  return lines;
}

test("a delivery that was sent while the database was away is noted when it is back, and the next ones are sent", async () => {
  const { promise: answer, resolve: respond } = Promise.withResolvers<number>();
  answers.set("/ann", answer);
  const lines = await logged();
  await addEndpoint("ann", "/ann");
  await addNote("ann", "1");
  await until(() => got.length === 1);
  await named("end_delivery", "away");
  const before = await failed();
  respond(200);
  await expect.poll(failed, { timeout: 20_000 }).not.toEqual(before);
  const told = () => lines.filter((line) => line.includes("the end of a delivery could not be stored; trying again"));
  await expect.poll(told).toEqual([expect.stringMatching(/function svc_private\.end_delivery\(.*\) does not exist/)]);
  await addNote("ann", "2");
  await named("away", "end_delivery");
  const ends = async () => (await deliveries()).map(({ state, attempts }) => [state, attempts]);
  await expect.poll(ends, { timeout: 20_000 }).toEqual(Array(2).fill(["sent", 1]));
  expect(got.map(({ body }) => body.data.title)).toEqual(["1", "2"]);
});

test("deliveries that cannot be claimed are told once, asked for at a change alone, and sent once they can be", async () => {
  await addEndpoint("ann", "/ann");
  const lines = await logged();
  await db.sql(`create sequence public.asked;
    alter function svc_private.claim_deliveries(integer, interval) rename to away;
    create function svc_private.claim_deliveries(integer, interval) returns setof integer security definer language plpgsql
      as 'begin perform nextval(''public.asked''); raise exception ''cannot be claimed''; end';
    grant execute on function svc_private.claim_deliveries(integer, interval) to public`);
  const asked = async () =>
    (await db.sql("select case when is_called then last_value::integer else 0 end as count from public.asked"))[0]
      ?.count;
  for (const title of ["1", "2", "3"]) {
    const before = await asked();
    await addNote("ann", title);
    await expect.poll(asked).toBeGreaterThan(before);
  }
  expect(await asked()).toBeLessThan(20);
  expect(lines.filter((line) => line.includes("no delivery of a webhook could be claimed"))).toHaveLength(1);
  await db.sql(`drop function svc_private.claim_deliveries(integer, interval);
    alter function svc_private.away(integer, interval) rename to claim_deliveries`);
  await hurry();
  await settled();
  expect(got.map(({ body }) => body.data.title).sort()).toEqual(["1", "2", "3"]);
});

test("a worker stops though the end of a delivery cannot be stored, and the next one sends it again", async () => {
  const { promise: answer, resolve: respond } = Promise.withResolvers<number>();
  answers.set("/ann", answer);
  const stopped = await worker();
  await addEndpoint("ann", "/ann");
  await addNote("ann", "1");
  await until(() => got.length === 1);
  await named("end_delivery", "away");
  const before = await failed();
  respond(200);
  await expect.poll(failed, { timeout: 20_000 }).not.toEqual(before);
  await stopped.stop();
  await named("away", "end_delivery");
  await worker();
  await hurry();
  await settled();
  expect(got.map(({ headers }) => headers["webhook-id"])).toEqual(Array(2).fill((await deliveries())[0]?.id));
});

test("an end that is stored again, because its answer was lost, is told as it is stored", async () => {
  await addEndpoint("ann", "/ann");
  await addNote("ann", "1");
  const [claimed] = await db.sql("select id, attempt from svc_private.claim_deliveries(1, '1 minute')");
  const end = async (attempt: number) => {
    const values = [claimed?.id, attempt, 410, "The receiver answered 410."];
    return (await db.sql("select svc_private.end_delivery($1, $2, $3, $4, null) as state", values))[0]?.state;
  };
  expect([await end(1), await end(1), await end(2)]).toEqual(["dead", "dead", null]);
});
