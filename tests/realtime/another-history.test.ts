// If this file fails, a page shows rows of the server that a failover or a restore has replaced, and follows no change; or it
// counts as a member of a channel before the service has let it in.
import { expect, test } from "vitest";
import { z } from "zod";
import { createSvcClient, joinChannel } from "../../client/sdk/src/index.ts";
import type { Query } from "../../client/sdk/src/operation.ts";
import { createSvc } from "../../src/app/create-svc.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { open as openCluster, temporary } from "../postgres/clusters.ts";
import { execute } from "../support/admin.ts";
import { fixture } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, TestService } from "../support/service.ts";
import { procedures, schema, tables } from "./live-application.ts";

const db = database();

/** Lets everybody in, when the door is open. */
let door: Promise<void> | undefined;
const { channel } = createSvc({ schema });
const hall = channel("hall", {
  input: z.object({}),
  join: async () => {
    await door;
    return true;
  },
  presence: z.object({ mood: z.string() }),
  allowAnonymous: true,
});

test("a page follows another server, on which ids of transactions begin again lower", {
  timeout: 120_000,
}, async () => {
  const api = apiWith({ procedures, channels: { hall } });
  const { urls } = await openCluster(temporary(), { settings: { wal_level: "logical" } });
  await migrate({ adminUrl: urls.admin, platform: root, application: fixture });
  for (const statement of [tables, realtimeFile(followedTables(api, schema))]) {
    await db.sql(statement);
    await execute(urls.admin, statement);
  }
  const write = (url: string, count: number) =>
    execute(url, `insert into marks select 'there' from generate_series(1, ${count})`);
  // More transactions than the other server has had.
  await db.sql("do $$ begin for n in 1..5000 loop perform pg_current_xact_id(); commit; end loop; end $$");
  const first = new TestService(db, api, {}, schema);
  await first.start();
  const { url } = first;
  const client = createSvcClient({ api: {}, baseUrl: url });
  let shown: unknown;
  const marks = { kind: "query", name: "live.keyless" } as unknown as Query;
  client.watch(marks, {} as never, (result) => {
    shown = result;
  });
  await expect.poll(() => client.realtime.getStatus()).toBe("live");
  await write(db.url("admin"), 7);
  await expect.poll(() => shown).toBe(7);

  const room = joinChannel(client, { kind: "channel", name: "hall" } as never, {}, { state: { mood: "calm" } });
  const states = () => room.getState().members.map(({ state }) => state);
  await expect.poll(states).toEqual([{ mood: "calm" }]);
  const errors: unknown[] = [];
  room.subscribe(() => errors.push(...[room.getState().error].filter(Boolean)));

  await first.stop();
  let open: () => void = () => {};
  door = new Promise((resolve) => {
    open = resolve;
  });
  await write(urls.admin, 2);
  const second = new TestService({ urls } as never, api, {}, schema);
  await second.start(Number(new URL(url).port));
  try {
    await expect.poll(() => shown, { timeout: 40_000 }).toBe(2);
    await expect.poll(() => client.realtime.getStatus(), { timeout: 40_000 }).toBe("live");
    expect(room.getState().status).toBe("joining");
    open();
    await expect.poll(() => room.getState().status).toBe("joined");
    await expect.poll(states).toEqual([{ mood: "calm" }]);
    expect(errors).toEqual([]);
    await write(urls.admin, 1);
    await expect.poll(() => shown).toBe(3);
  } finally {
    client.close();
    await second.stop();
  }
});
