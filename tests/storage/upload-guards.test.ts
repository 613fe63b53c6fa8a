// If this file fails, somebody reads, changes or finishes the upload of another user, one of another kind, or one that
// has expired: the functions themselves refuse it, whatever their callers asked before.
import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { database, waitsForLock } from "../support/database.ts";

const db = database();
const token = "a".repeat(64);
const base = {
  user_id: "ann",
  kind: "parts",
  name: "x",
  type: "text/plain",
  size: 10,
  received: 4,
  parts: 1,
  claimed_at: null as string | null,
  expires_at: "tomorrow",
};
type Row = Partial<typeof base & { token_sha256: string }>;

beforeAll(async () => {
  await db.sql(`alter table auth."user" add column banned boolean`); // as better-auth's plugin admin
  await db.sql(`insert into auth."user" (id, name, email, banned) values
    ('ann', 'Ann', 'ann@x.test', false), ('bob', 'Bob', 'bob@x.test', false), ('eve', 'Eve', 'eve@x.test', true)`);
  await db.sql("select set_config('svc.user_id', 'ann', false)");
});

/** An upload of Ann's, with the given differences. */
async function upload(row: Row): Promise<string> {
  const id = randomUUID();
  const hash = row.kind === "url" ? token : null;
  await db.sql(
    `insert into svc.storage_uploads select r.* from jsonb_populate_record(null::svc.storage_uploads,
       $1::jsonb || '{"visibility": "private", "by_system": false, "created_at": "now"}') r`,
    [JSON.stringify({ id, ...base, token_sha256: hash, ...row })],
  );
  return id;
}

/** Whether the call found the upload. */
async function finds(call: string, id: string): Promise<boolean> {
  try {
    const [row] = await db.sql(`select * from ${call.replace(":id", `'${id}'`)} as result`);
    return row !== undefined && row.result !== false && row.result !== null;
  } catch (error) {
    if ((error as { code?: string }).code === "SV404") return false;
    throw error;
  }
}

const others = { "another user's": { user_id: "bob" } };
const banned = { "one of a user who is banned": { user_id: "eve" } };
const kinds = { "an upload by a URL": { kind: "url" }, "a reservation of a call": { kind: "call" } };
const expired = { "one that has expired": { expires_at: "yesterday" } };
const inParts = { "an upload in parts": { kind: "parts" } };
const sha = `'${"0".repeat(64)}'`;
const bytes = "gen_random_uuid()";

// Each call finds Ann's upload as the second column has it, and none with one of the differences.
const calls: [call: string, row: Row, differences: Record<string, Row>][] = [
  ["svc_private.find_upload(:id, 'ann')", {}, { ...others, ...kinds, ...expired }],
  ["svc_private.describe_upload(:id, 'ann')", {}, { ...others, ...kinds }],
  ["svc_private.remove_upload(:id, 'ann')", {}, { ...others, ...kinds, ...expired }],
  [
    `svc_private.add_upload_part(:id, 'ann', 4, 6, 'part', ${sha}, '1 hour')`,
    {},
    {
      ...others,
      ...kinds,
      ...expired,
      "one that has got less": { received: 3 },
      "one that has got more": { received: 5, size: 11 },
      "one that is shorter": { size: 9 },
      "one that has 10,000 parts": { parts: 10_000 },
    },
  ],
  [
    `svc_private.claim_upload(:id, '${token}')`,
    { kind: "url" },
    {
      ...banned,
      ...expired,
      "one with another token": { token_sha256: "b".repeat(64) },
      "one that is being sent": { claimed_at: "now" },
    },
  ],
  [
    `svc_private.finish_upload(:id, ${bytes}, 10, ${sha})`,
    { received: 10 },
    {
      ...banned,
      "a reservation of a call": { kind: "call" },
      "one of which a part is missing": { received: 4 },
      "a longer one": { size: 11, received: 11 },
      "an upload by a URL that nobody sends": { kind: "url" },
    },
  ],
  [
    `svc_private.finish_upload(:id, ${bytes}, 10, ${sha})`,
    { kind: "url", claimed_at: "now" },
    { "a shorter one": { size: 9 }, "one that nobody sends": { claimed_at: null } },
  ],
  [
    `svc.store_object(:id, ${bytes}, 10, ${sha})`,
    { kind: "call" },
    { ...others, ...inParts, "a smaller one": { size: 9 } },
  ],
  [`svc.open_upload_url(:id, '${token}', '1 hour')`, { kind: "call" }, { ...others, ...inParts }],
];

describe.each(calls)("%s", (call, row, differences) => {
  test("finds its upload", async () => {
    expect(await finds(call, await upload(row))).toBe(true);
  });

  test.each(Object.entries(differences))("does not find %s, and changes nothing of it", async (_, difference) => {
    const id = await upload({ ...row, ...difference });
    const before = await db.sql("select * from svc.storage_uploads where id = $1", [id]);
    expect(await finds(call, id)).toBe(false);
    expect(await db.sql("select * from svc.storage_uploads where id = $1", [id])).toEqual(before);
  });
});

test.each(["find_upload", "describe_upload"])(
  "svc_private.%s() finds what is stored for its owner alone",
  async (name) => {
    const id = randomUUID();
    await db.sql(
      `insert into svc.storage_objects (id, user_id, name, size, type, sha256) values ($1, 'ann', 'x', 1, 'text/plain', ${sha})`,
      [id],
    );
    expect(await finds(`svc_private.${name}(:id, 'ann')`, id)).toBe(true);
    expect(await finds(`svc_private.${name}(:id, 'bob')`, id)).toBe(false);
  },
);

test("the end of a call releases its reservations alone, not the URL that it made of one", async () => {
  const ids = await Promise.all(["call", "url", "parts"].map((kind) => upload({ kind })));
  await db.sql("select svc_private.release_reservations($1)", [ids]);
  const left = await db.sql("select kind from svc.storage_uploads where id = any ($1) order by kind", [ids]);
  expect(left).toEqual([{ kind: "parts" }, { kind: "url" }]);
});

test("an upload by a URL that is being sent does not expire for a day", async () => {
  const row = { kind: "url", expires_at: "yesterday" };
  const sent = await upload({ ...row, claimed_at: "now" });
  const waiting = await upload({ kind: "url" });
  const abandoned = await upload({ ...row, claimed_at: "2020-01-01" });
  const unused = await upload(row);
  await db.sql("select svc_private.expire_uploads(1000)");
  const left = await db.sql("select id from svc.storage_uploads where id = any ($1)", [
    [sent, waiting, abandoned, unused],
  ]);
  expect(left.map(({ id }) => id).sort()).toEqual([sent, waiting].sort());
});

describe("a reservation", () => {
  const reserve = (unfinished: number, quota: number | null = null) =>
    `select refused from svc_private.reserve_upload('ann', false, 'parts', 'x', 'text/plain', 'private', 10, '1 hour',
       ${unfinished}, ${quota}, null)`;
  beforeEach(() => db.sql("delete from svc.storage_uploads"));

  test("counts uploads in parts of its user that have not expired", async () => {
    for (const row of [{ kind: "url" }, { kind: "call" }, { user_id: "bob" }, { expires_at: "yesterday" }])
      await upload(row);
    expect(await db.sql(reserve(1))).toEqual([{ refused: null }]);
    expect(await db.sql(reserve(1))).toEqual([{ refused: "unfinished" }]);
  });

  test.each([
    ["uploads in progress", reserve(1), "unfinished"],
    ["bytes", reserve(9, 6000), "quota"],
  ])("waits for another one of its user, so that both do not take the last room of %s", async (_, text, refused) => {
    await db.sql("delete from svc.storage_objects");
    const [one, other] = [await db.connect("admin"), await db.connect("admin")];
    await one.query("begin");
    expect((await one.query(text)).rows).toEqual([{ refused: null }]);
    const late = other.query(text);
    await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
    await one.query("commit");
    expect((await late).rows).toEqual([{ refused }]);
  });
});

test("a URL is not made of a reservation whose file the policies would refuse", async () => {
  const id = await upload({ kind: "call", name: "forbidden" });
  await db.sql(`create policy named on svc.storage_objects as restrictive for insert to svc_authenticated
    with check (name <> 'forbidden')`);
  const opened = db.sql(`select svc.open_upload_url('${id}', '${token}', '1 hour')`);
  await expect(opened).rejects.toMatchObject({ code: "42501" });
  await db.sql("drop policy named on svc.storage_objects");
  expect(await db.sql("select kind from svc.storage_uploads where id = $1", [id])).toEqual([{ kind: "call" }]);
});

test("a read grant of a user who is banned finds nothing", async () => {
  const ids = [randomUUID(), randomUUID()];
  await db.sql(
    `insert into svc.storage_objects (id, user_id, name, size, type, sha256)
       select id, user_id, 'x', 1, 'text/plain', ${sha} from unnest($1::uuid[], '{ann,eve}'::text[]) as u (id, user_id)`,
    [ids],
  );
  const find = "select reader from svc_private.find_storage_objects($1, '{user ann,user eve}')";
  expect(await db.sql(find, [ids])).toEqual([{ reader: "user ann" }]);
});

test("an upload in parts begins with the scopes of its API key, as the policies ask for them", async () => {
  await db.sql(`create policy by_scope on svc.storage_objects as restrictive for insert to svc_authenticated
    with check ((select svc.has_scope('files:write')))`);
  const start = (identity: string) =>
    db.sql(
      "select refused from svc_private.start_upload('ann', 'x', 'text/plain', 'private', 10, '1 hour', 99, null, null, $1)",
      [identity],
    );
  await expect(start("ann\tkey\tfiles:read")).rejects.toMatchObject({ code: "42501" });
  for (const identity of ["ann\tkey\tfiles:write", "ann"]) expect(await start(identity)).toEqual([{ refused: null }]);
  await db.sql("drop policy by_scope on svc.storage_objects");
});
