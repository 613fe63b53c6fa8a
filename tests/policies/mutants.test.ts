// If this file fails, a policy helper could lose a clause, and with it protect fewer rows, without a failing test.
// Every policy that the helpers return is mutated in every way we know, and the behaviour must differ each time.
import { isDeepStrictEqual } from "node:util";
import { type AnyPgColumn, getTableConfig, type PgPolicy, pgTable, serial, text, uuid } from "drizzle-orm/pg-core";
import { beforeAll, describe, expect, test } from "vitest";
import { DefinitionError, memberRls, openRls, orgRls, ownerRls } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { ann, bob, createPolicy, mutantsOf, rendered } from "./mutations.ts";

// One table per helper and mode. `owner` is the user or team of a row, `other` that of another user's row.
const id = serial("id").primaryKey();
const columns = { id, owner: text("owner"), other: text("other"), body: text("body") };
const uuids = { id, owner: uuid("owner"), other: uuid("other"), body: text("body") };
const memberships = pgTable("memberships_of_all", {
  owner: text("owner"),
  userId: text("user_id"),
  other: text("other"),
});
const through = { through: memberships, user: memberships.userId };
const tables = [
  pgTable("owned", columns, (t) => ownerRls(t.owner)),
  pgTable("owned_by_uuid", uuids, (t) => ownerRls(t.owner)),
  pgTable("owned_with_reader", columns, (t) => ownerRls(t.owner, { read: [t.other] })),
  pgTable("owned_read_only", columns, (t) => ownerRls(t.owner, { write: "nobody" })),
  pgTable("owned_public", columns, (t) => ownerRls(t.owner, { read: "public" })),
  pgTable("of_team", columns, (t) => memberRls({ ...through, team: t.owner })),
  pgTable("of_team_read_only", columns, (t) => memberRls({ ...through, team: t.owner, write: "nobody" })),
  // Ann is the owner of one organization and a member of the other, in which Bob is an editor.
  pgTable("of_org", columns, (t) => orgRls(t.owner, { read: ["owner", "editor"] })),
  pgTable("of_org_read_only", columns, (t) => orgRls(t.owner, { read: ["owner", "editor"], write: "nobody" })),
  pgTable("of_org_roles", columns, (t) => orgRls(t.owner, { write: ["owner"] })),
  pgTable("open_anyone_anyone", columns, () => openRls({ read: "anyone", write: "anyone" })),
  pgTable("open_anyone_authenticated", columns, () => openRls({ read: "anyone", write: "authenticated" })),
  pgTable("open_anyone_nobody", columns, () => openRls({ read: "anyone", write: "nobody" })),
  pgTable("open_authenticated_authenticated", columns, () =>
    openRls({ read: "authenticated", write: "authenticated" }),
  ),
  pgTable("open_authenticated_nobody", columns, () => openRls({ read: "authenticated", write: "nobody" })),
];

// The statements of every caller. Ann owns one row, Bob two and nobody four, so that the number of rows tells the
// owner. A statement without WHERE and RETURNING reads nothing: PostgreSQL applies no SELECT policy, only that of its
// verb.
const statements = [
  "select from t",
  "select from t for update",
  "insert into t (owner) values (:ann)",
  "insert into t (owner) values (:bob)",
  "insert into t (owner) values (null)",
  "insert into t (owner) values (:ann) returning id",
  "update t set body = 'x'",
  "update t set body = 'x' where id > 0",
  "update t set owner = :ann",
  "update t set owner = :bob",
  "update t set owner = null",
  "update t set owner = :bob where id > 0",
  "delete from t",
  "delete from t where id > 0",
];
// By role and identity. The last two cannot occur, and must have no effect.
const callers = [
  ["svc_authenticated", ann],
  ["svc_authenticated", bob],
  ["svc_anonymous", ""],
  ["svc_authenticated", ""],
  ["svc_anonymous", ann],
] as const;

// Rows that each statement affects, "-" when it is refused, in the order of the statements; a line per caller.
// biome-ignore format: a table
const line = {
  //         select,lock insert ann,bob,none,ret. update,where to ann,bob,none,bob where delete,where
  annOnly:   "1    1     1 - - 1                  1    1       1 - - -                   1    1",
  bobOnly:   "2    2     - 1 - -                  2    2       - 2 - 2                   2    2",
  annShown:  "7    1     1 - - 1                  1    1       1 - - -                   1    1",
  bobShown:  "7    2     - 1 - -                  2    2       - 2 - 2                   2    2",
  annOthers: "3    1     1 - - 1                  1    1       1 - - -                   1    1",
  bobOthers: "3    2     - 1 - -                  2    2       - 2 - 2                   2    2",
  annReads:  "1    0     - - - -                  0    0       0 0 0 0                   0    0",
  bobReads:  "2    0     - - - -                  0    0       0 0 0 0                   0    0",
  nothing:   "0    0     - - - -                  0    0       0 0 0 0                   0    0",
  readOnly:  "7    0     - - - -                  0    0       0 0 0 0                   0    0",
  all:       "7    7     1 1 1 1                  7    7       7 7 7 7                   7    7",
};
const { annOnly, bobOnly, annShown, bobShown, annOthers, bobOthers, annReads, bobReads, nothing, readOnly, all } = line;
// biome-ignore format: a table
const behaviour: Record<string, string[]> = {
  //                                 ann,      bob,      nobody,    no identity, no account
  owned:                            [annOnly,  bobOnly,  nothing,   nothing,     nothing],
  owned_by_uuid:                    [annOnly,  bobOnly,  nothing,   nothing,     nothing],
  owned_with_reader:                [annOthers, bobOthers, nothing, nothing,     nothing],
  owned_read_only:                  [annReads, bobReads, nothing,   nothing,     nothing],
  owned_public:                     [annShown, bobShown, readOnly,  readOnly,    readOnly],
  of_team:                          [annOnly,  bobOnly,  nothing,   nothing,     nothing],
  of_team_read_only:                [annReads, bobReads, nothing,   nothing,     nothing],
  of_org:                           [annOnly,  bobOnly,  nothing,   nothing,     nothing],
  of_org_read_only:                 [annReads, bobReads, nothing,   nothing,     nothing],
  of_org_roles:                     [annOthers, bobReads, nothing,   nothing,     nothing],
  open_anyone_anyone:               [all,      all,      all,       all,         all],
  open_anyone_authenticated:        [all,      all,      readOnly,  all,         readOnly],
  open_anyone_nobody:               [readOnly, readOnly, readOnly,  readOnly,    readOnly],
  open_authenticated_authenticated: [all,      all,      nothing,   all,         nothing],
  open_authenticated_nobody:        [readOnly, readOnly, nothing,   readOnly,    nothing],
};

/**
 * Mutants that no statement can distinguish from the original, and why. Each is run too: a distinguishable one does not
 * belong here.
 */
const equivalents: { mutants: RegExp; because: string }[] = [
  {
    mutants: / update_\w+ check: none$/,
    because: "An update without WITH CHECK checks new rows by USING, which is the same condition.",
  },
  {
    mutants: / (using|check): identity asked per row$/,
    because: "The rows are the same. The sub-select makes PostgreSQL ask once per statement: speed, not behaviour.",
  },
  {
    mutants: / update_\w+ check: (is not distinct from|or nobody is signed in)$/,
    because: "Only a caller without identity would pass, and USING leaves that one no row to update.",
  },
  {
    mutants: /^((owned|owned_by_uuid|of_team|of_org) \w+|owned_with_reader (insert|update|delete)_owner) for all$/,
    because: "All four verbs have this very condition and role already, so it adds nothing to any of them.",
  },
  {
    mutants: /^(owned_public|of_org_roles) (insert|update|delete)_\w+ for all$/,
    because:
      "It adds the owner's rows to the other verbs: select shows them anyway, the rest have this condition already.",
  },
  {
    mutants: /^of_org\w* insert_org also to svc_anonymous$/,
    because:
      "Callers who are not signed in may not execute svc.my_orgs(), so they are refused with and without the policy.",
  },
  {
    mutants: /^open_\w+ insert_\w+ for all$/,
    because:
      "A policy without USING lets no verb see a row, and insert and update let the same roles write any already.",
  },
  {
    mutants: /^open_(anyone_anyone (s|u|d)|authenticated_authenticated (s|u|d)|anyone_authenticated (u|d))\w+ for all$/,
    because: "The same roles may do everything already.",
  },
];

const db = database();
beforeAll(async () => {
  // Everybody may read all memberships and has every privilege: only the policies decide.
  await db.sql(`
    create table memberships_of_all (owner text, user_id text, other text);
    insert into memberships_of_all values ('${ann}', '${ann}', '${bob}'), ('${bob}', '${bob}', '${ann}'),
      ('${bob}', null, null);
    grant select on memberships_of_all to svc_anonymous, svc_authenticated;
    insert into auth."user" (id, name, email) values ('${ann}', 'Ann', 'ann@x.test'), ('${bob}', 'Bob', 'bob@x.test');
    insert into svc.organizations (id, name) values ('${ann}', 'of Ann'), ('${bob}', 'of Bob');
    insert into svc.organization_members (org_id, user_id, role)
      values ('${ann}', '${ann}', 'owner'), ('${bob}', '${bob}', 'editor'), ('${bob}', '${ann}', 'member');
    create function attempt(role text, identity text, statement text) returns text language plpgsql as $$
    declare
      touched bigint;
    begin
      perform set_config('svc.user_id', identity, true), set_config('role', role, true);
      execute statement;
      get diagnostics touched = row_count;
      raise exception sqlstate 'UNDO0';
    exception
      when sqlstate 'UNDO0' then return touched;
      when insufficient_privilege then return '-';
      when others then return sqlstate;
    end
    $$`);
  for (const table of tables) {
    const { name, policies } = getTableConfig(table);
    const type = name === "owned_by_uuid" ? "uuid" : "text";
    await db.sql(`
      create table ${name} (id serial primary key, owner ${type}, other ${type}, body text);
      alter table ${name} enable row level security;
      insert into ${name} (owner, other) values ('${ann}', '${bob}'), ('${bob}', '${ann}'), ('${bob}', '${ann}'),
        (null, null), (null, null), (null, null), (null, null);
      grant all on ${name} to svc_anonymous, svc_authenticated;
      grant usage on sequence ${name}_id_seq to svc_anonymous, svc_authenticated;
      ${policies.map((policy) => createPolicy(name, rendered(policy))).join("\n")}`);
  }
});

/** The results of every caller's statements, in the form of the tables above. */
async function behaviourOf(table: string): Promise<string[]> {
  const texts = statements.map((statement) =>
    statement.replace(/\bt\b/, table).replace(":ann", `'${ann}'`).replace(":bob", `'${bob}'`),
  );
  const [row] = await db.sql<{ lines: string[] }>(
    `select array_agg(line order by number) as lines from (
       select c.number, string_agg(attempt(c.role, c.identity, s.statement), ' ' order by s.number) as line
         from unnest($1::text[], $2::text[]) with ordinality as c (role, identity, number),
              unnest($3::text[]) with ordinality as s (statement, number)
        group by c.number) as lines`,
    [callers.map(([role]) => role), callers.map(([, one]) => one), texts],
  );
  return row?.lines ?? [];
}

const needed = new Set<unknown>();
let killed = 0;

describe.for(tables.map((table) => getTableConfig(table)))("$name", ({ name, policies }) => {
  const expected = (behaviour[name] ?? []).map((one) => one.replace(/ +/g, " "));

  test("behaves as declared", async () => {
    expect(await behaviourOf(name)).toEqual(expected);
  });

  test.for(policies.map(rendered))("$name: whatever is broken in it shows", async (policy) => {
    const wrong: string[] = [];
    for (const { what, policy: broken } of mutantsOf(policy)) {
      await db.sql("begin");
      await db.sql(`drop policy ${policy.name} on ${name}; ${broken ? createPolicy(name, broken) : ""}`);
      const survives = isDeepStrictEqual(await behaviourOf(name), expected);
      await db.sql("rollback");
      const mutant = `${name} ${policy.name} ${what}`;
      const equivalent = equivalents.find(({ mutants }) => mutants.test(mutant));
      if (survives && !equivalent) wrong.push(`${mutant}: survives`);
      if (!survives && equivalent) wrong.push(`${mutant}: shows, although "${equivalent.because}"`);
      if (equivalent) needed.add(equivalent);
      if (!survives) killed++;
    }
    expect(wrong).toEqual([]);
  });
});

test("there were mutants, and every excuse was needed", () => {
  expect(killed).toBeGreaterThan(350);
  expect(equivalents.filter((one) => !needed.has(one))).toEqual([]);
});

describe("openRls", () => {
  const open = openRls as (options: { read: unknown; write: unknown }) => PgPolicy[]; // the types refuse them too
  const audiences = ["anyone", "authenticated", "nobody", "everybody", undefined];
  const combinations = audiences.flatMap((read) => audiences.map((write) => ({ read, write })));

  test.for(combinations)("with read $read and write $write is tested above or refused", ({ read, write }) => {
    const isTested = `open_${read}_${write}` in behaviour;
    if (isTested) expect(open({ read, write })).not.toEqual([]);
    else expect(() => open({ read, write })).toThrow(DefinitionError);
  });

  test("says why strangers may not write what only others read, and what to write instead", () => {
    expect(() => open({ read: "authenticated", write: "anyone" })).toThrow(
      'openRls: anyone could change and delete rows that only signed-in users may read.\n  Make it read: "anyone"',
    );
  });
});

test("ownerRls with another reader than the public is refused, not taken for private", () => {
  const columns = { id, owner: text("owner") };
  const table = pgTable("misspelt", columns, (t) => ownerRls(t.owner, { read: "anyone" as "public" }));
  expect(() => getTableConfig(table)).toThrow('ownerRls: read is "anyone".\n  Give nothing, "public" or [a column].');
  const given = (read: unknown) => () =>
    getTableConfig(
      pgTable("misspelt", columns, (t) => ownerRls(t.owner, { read: read === "owner" ? t.owner : read } as never)),
    );
  expect(given("owner")).toThrow("ownerRls: read is an object.");
  expect(given([])).toThrow("ownerRls: read is an object.");
  expect(given([undefined])).toThrow("ownerRls got no column");
});

test("memberRls with another writer than nobody is refused, not taken for all members", () => {
  const table = pgTable("misspelt", columns, (t) =>
    memberRls({ ...through, team: t.owner, write: "owner" as "nobody" }),
  );
  expect(() => getTableConfig(table)).toThrow('memberRls: write is "owner".\n  Give nothing or "nobody".');
});

test("a misspelt option of ownerRls, memberRls, orgRls and openRls is refused, not left out", () => {
  const columns = { id, owner: text("owner"), team: text("team") };
  const refused = (policies: (t: { owner: AnyPgColumn; team: AnyPgColumn }) => PgPolicy[]) =>
    expect(() => getTableConfig(pgTable("misspelt", columns, (t) => policies(t))));
  const nobody = { wirte: "nobody" } as object;
  refused((t) => ownerRls(t.owner, nobody)).toThrow(
    'ownerRls: "wirte" is not a known key. Did you mean "write"? Known here: read, write',
  );
  refused((t) => memberRls({ ...through, team: t.team, ...nobody })).toThrow('memberRls: "wirte" is not a known key.');
  refused((t) => orgRls(t.team, nobody)).toThrow('orgRls: "wirte" is not a known key.');
  refused(() => openRls({ read: "anyone", write: "anyone", ...nobody })).toThrow(
    'openRls: "wirte" is not a known key.',
  );
});
