// If this file fails, a page keeps old data for ever when a synchronous standby answers late: PostgreSQL tells subscribers of
// a transaction as soon as it is in the log, and other transactions see it when the standby has answered.
import { expect, onTestFinished, test } from "vitest";
import { createSvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";

const db = database();
const running = service(db);

test("an answer that lacks the change for which it was asked is asked for again", async () => {
  const answers: string[] = [];
  let late = 0;
  // Gives the answer of before as often as `late` says.
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init);
    if (!String(input).endsWith("/api/query")) return response;
    answers.push(await response.text());
    return new Response(late-- > 0 ? answers[0] : answers.at(-1), response);
  };
  const client = createSvcClient({ api, baseUrl: running.url, fetch });
  onTestFinished(() => client.close());
  let shown: string[] | undefined;
  client.watch(api.guestbook.list, {}, ({ data }) => {
    shown = data.map(({ message }) => message);
  });
  await expect.poll(() => client.realtime.getStatus()).toBe("live");
  await expect.poll(() => shown).toEqual([]);
  late = 2;
  await db.sql("insert into guestbook (message) values ('hello')");
  await expect.poll(() => shown).toEqual(["hello"]);
});
