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

test("a delivery that was sent while the database was away is noted when it is back, and the next ones are sent", async () => {
  const { promise: answer, resolve: respond } = Promise.withResolvers<number>();
  answers.set("/ann", answer);
  const lines: string[] = [];
  const to = new Writable({
    write: (line, _, done) => {
      lines.push(String(line));
      done();
    },
  });
  await worker({ log: pino(to) });
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
