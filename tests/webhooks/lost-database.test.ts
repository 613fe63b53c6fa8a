// If this file fails, an endpoint gets nothing for a minute after the database was restarted or has failed over.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { until } from "../support/worker.ts";
import { webhooks } from "./application.ts";

const db = database();
const { got, answers, deliveries, worker, addEndpoint, addNote } = webhooks(db);

test("a delivery that was sent while the database was away is noted when it is back, and the next ones are sent", async () => {
  const { promise: answer, resolve: respond } = Promise.withResolvers<number>();
  answers.set("/ann", answer);
  await worker();
  await addEndpoint("ann", "/ann");
  await addNote("ann", "1");
  await until(() => got.length === 1);
  const named = (from: string, to: string) =>
    db.sql(`alter function svc_private.${from}(uuid, integer, integer, text, integer) rename to ${to}`);
  await named("end_delivery", "away");
  const failed = async () =>
    (await db.sql("select xact_rollback from pg_stat_database where datname = current_database()"))[0];
  const before = await failed();
  respond(200);
  await expect.poll(failed, { timeout: 20_000 }).not.toEqual(before);
  await addNote("ann", "2");
  await named("away", "end_delivery");
  const ends = async () => (await deliveries()).map(({ state, attempts }) => [state, attempts]);
  await expect.poll(ends, { timeout: 20_000 }).toEqual(Array(2).fill(["sent", 1]));
  expect(got.map(({ body }) => body.data.title)).toEqual(["1", "2"]);
});
