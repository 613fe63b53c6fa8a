// @vitest-environment jsdom
// If this file fails, open pages do not follow a release: they show who is not there any more, or stay out of a channel.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type ChannelOf, channel, joinChannel } from "../../client/sdk/src/index.ts";
import { createSvc } from "../../src/app/create-svc.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService } from "../support/service.ts";
import { connectTo } from "./react-client.ts";

const { channel: define } = createSvc({ schema });
const shared = { input: z.object({}), join: () => true, allowAnonymous: true };
const presence = z.object({ name: z.string() });
const room = define("room", { ...shared, presence });
const first = apiWith({ channels: { room, before: define("before", shared) } });
const second = apiWith({ channels: { room: define("room", shared), after: define("after", shared) } });

const db = database();
const old = new TestService(db, first, {}, schema);
const newer = new TestService(db, second, {}, schema);
beforeAll(async () => {
  await db.sql("set synchronous_commit to on");
  await db.sql(realtimeFile(followedTables(first, schema)));
  await old.start();
});
afterAll(() => Promise.all([old.stop(), newer.stop()]));

test("a release that removes presence and renames a channel", async () => {
  const { client } = connectTo(old);
  const named = (name: string) => joinChannel(client, channel(name) as ChannelOf<typeof room>, {});
  const joined = named("room");
  const [before, after] = [named("before"), named("after")];
  const status = (one: typeof joined) => one.getState().status;
  await joined.track({ name: "Ann" }).catch(() => {}); // it may not be there yet
  await expect.poll(() => joined.getState().members.length).toBe(1);
  await expect.poll(() => [status(before), status(after)]).toEqual(["joined", "refused"]);
  expect(after.getState().error).toMatchObject({ message: "There is no query or channel of that name." });

  const port = Number(new URL(old.url).port);
  await old.stop();
  await newer.start(port);
  await expect.poll(() => [status(before), status(after)], { timeout: 20_000 }).toEqual(["refused", "joined"]);
  await expect.poll(() => [status(joined), joined.getState().members]).toEqual(["joined", []]);
  client.close();
});
