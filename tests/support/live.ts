/** Services whose clients hear of changes: realtime follows the tables as after `svc codegen` and `svc migrate`. */
import { afterAll, beforeAll, expect } from "vitest";
import type { Api } from "../../src/contract/api.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import * as fixture from "../fixture/backend/schema.ts";
import type { Database } from "./database.ts";
import { bearer, TestService, type User } from "./service.ts";
import type { Socket } from "./sockets.ts";

/** @param tables SQL that makes those of the schema. (Default: they are there) */
export function liveService(db: Database, api: Api, schema: Record<string, unknown> = fixture, tables = "") {
  const running = new TestService(db, api, {}, schema);
  begin(db, api, schema, tables, [running]);
  return running;
}

/** Two processes. */
export function liveServices(db: Database, api: Api) {
  const both = [new TestService(db, api, {}), new TestService(db, api, {})] as const;
  begin(db, api, fixture, "", both);
  return both;
}

function begin(
  db: Database,
  api: Api,
  schema: Record<string, unknown>,
  tables: string,
  services: readonly TestService[],
): void {
  beforeAll(async () => {
    await db.sql("set synchronous_commit to on");
    await db.sql(`${tables};${realtimeFile(followedTables(api, schema))}`);
    await Promise.all(services.map((one) => one.start()));
  });
  afterAll(() => Promise.all(services.map((one) => one.stop())));
}

/** Makes teams, each with a board and these members. @param channel whose input is a team */
export function teamsOf(db: Database, channel: string) {
  let count = 0;
  return async (...members: User[]): Promise<{ id: string; key: string }> => {
    const id = `team${++count}`;
    await db.sql("insert into boards (team_id, name) values ($1, 'plans')", [id]);
    for (const { id: user } of members)
      await db.sql("insert into memberships (user_id, team_id) values ($1, $2)", [user, id]);
    return { id, key: `${channel}::{"id":"${id}"}` };
  };
}

/** As the SDK does: asks, and hands what the answer read to the socket. @returns the answer, and the frame of a change */
export async function watch(running: TestService, socket: Socket, user: User | null, name: string, args?: unknown) {
  const query = args === undefined ? name : `${name}::${JSON.stringify(args)}`;
  const { status, body } = await running.fetch("/api/query", {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(user) },
    body: JSON.stringify({ name, args, watch: true }),
  });
  expect(status, JSON.stringify(body)).toBe(200);
  socket.send({ type: "subscribe", query, follows: body.follows });
  const taken = body.follows && { follows: body.follows.split(".")[0] };
  expect(await socket.wait({ type: "subscribed", query })).toMatchObject({ ...taken });
  return { body, changed: { type: "invalidate", queries: [query] } };
}
