// If this file fails, a document that the statement of a call by name answers differs from the same document that
// PostgreSQL answers through a plan of PostGraphile; or a plain document is slow, because it has such a plan.
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { fc } from "../support/properties.ts";
import { service, type User } from "../support/service.ts";
import { asker } from "./support.ts";

const db = database();
const app = service(db);
const base = { enabled: true, introspection: true, ruru: false, maxDepth: 12, maxFields: 400, maxAliases: 30 };
/** Its limit of statements is lower than that of calls by name, whose statements it therefore does not use. */
const planning = service(db, undefined, { graphql: { ...base, maxCost: 5000, statementTimeoutMs: 4999 } });
const ask = asker(app);
const askPlanning = asker(planning);
const numRuns = process.env.FUZZ_RUNS ? 5000 : 20;

const tables = {
  notes: { row: "note", fields: "id userId title done priority createdAt updatedAt", nullable: "" },
  posts: { row: "post", fields: "id userId title createdAt", nullable: "" },
  guestbooks: { row: "guestbook", fields: "id message", nullable: "" },
  announcements: { row: "announcement", fields: "id message", nullable: "" },
  flags: { row: "flag", fields: "id userId label gone", nullable: "" },
  boards: { row: "board", fields: "id teamId name", nullable: "" },
  articles: {
    row: "article",
    fields: "id userId title body published createdAt updatedAt",
    nullable: "mood priority rank price publishedAt day deletedAt",
  },
  samples: {
    row: "sample",
    fields: "id userId",
    nullable:
      "anInteger aBigint aNumber aNumeric aBoolean aText aShortText aUuid aMood aTimestamp anInstant aDate aJson someBytes someTags",
  },
};
type Table = keyof typeof tables;
const users: User[] = [];
const ids: Record<string, unknown[]> = {};

beforeAll(async () => {
  for (const name of ["ann", "ben"]) users.push(await app.signUp(name));
  for (const [index, { id }] of users.entries()) {
    await db.sql(
      "insert into notes (user_id, title, priority) select $1, 'note ' || n, n % 7 from generate_series(1, 45) n",
      [id],
    );
    await db.sql("insert into posts (user_id, title) select $1, 'p' || n from generate_series(1, 25) n", [id]);
    await db.sql(
      "insert into flags (id, user_id, label, gone) select $1 || n, $1, 'f' || n, n % 3 = 0 from generate_series(1, 9) n",
      [id],
    );
    await db.sql("insert into boards (team_id, name) values ($1, 'board')", [id]);
    await db.sql(
      `insert into articles (user_id, title, mood, priority, rank, price, published, published_at, day, deleted_at, created_at)
         select $1, 'article ' || n % 9, (array['calm', 'it''s complicated', null]::mood[])[1 + n % 3], nullif(n % 5, 0),
                9007199254740993 + n, n * 1.25, n % 2 = 0, '2026-01-01 00:00:00.12Z'::timestamptz + n * interval '1.007 s',
                nullif('2026-01-01'::date + n % 5, '2026-01-01'), case when n % 10 = 0 then now() end,
                '2026-01-01Z'::timestamptz + n * interval '0.5 s' + $2 * interval '1 us'
           from generate_series(1, 40) n`,
      [id, index],
    );
    await db.sql(
      `insert into samples (user_id, an_integer, a_bigint, a_number, a_numeric, a_boolean, a_text, a_short_text, a_uuid, a_mood,
                            a_timestamp, an_instant, a_date, a_json, some_bytes, some_tags)
         values ($1, -5, -9223372036854775808, 0.1, 1234567890.1200, true, E'a "text"\\n\\\\ \u{1F600}', 'short', gen_random_uuid(), 'calm',
                 '2026-02-03 04:05:06', '2026-02-03 04:05:06.5+02', '2026-02-28', '{"a": 12345678901234567890}', '\\x00ff', '{a,"b\\"c"}'),
                ($1, null, null, 'NaN', 'NaN', null, null, null, null, null,
                 'infinity', '0044-03-15 00:00:00Z BC', '-infinity', 'null', null, null),
                ($1, 2147483647, 1, 1e300, 0, false, '', '', null, 'it''s complicated',
                 '12026-02-03 04:05:06.123456', '0001-01-01Z', '0044-03-15 BC', '[]', '', '{}')`,
      [id],
    );
  }
  await db.sql("insert into guestbook (message) select 'hello ' || n from generate_series(1, 12) n");
  await db.sql("insert into announcements (message) select 'hear ' || n from generate_series(1, 12) n");
  for (const table of Object.keys(tables)) {
    const rows = await db.sql<{ id: unknown }>(`select id from ${table === "guestbooks" ? "guestbook" : table}`);
    ids[table] = rows.map(({ id }) => id);
  }
});

/** The same document to both, without the ids of requests. */
async function both(caller: User | null, query: string, variables?: Record<string, unknown>) {
  const answers = [];
  for (const send of [ask, askPlanning]) {
    const { status, data, errors } = await send(caller && signedIn(caller), query, variables);
    for (const { extensions } of errors) extensions.requestId = "…";
    answers.push({ status, data: JSON.stringify(data), errors });
  }
  return answers;
}

/** Session tokens are for every service, JWTs for the one that issued them, and for five minutes. */
const signedIn = (user: User) => ({ ...user, token: user.sessionToken });

const names = (table: Table) => `${tables[table].fields} ${tables[table].nullable} __typename`.trim().split(/\s+/);
const selection = (table: Table) =>
  fc
    .record({
      fields: fc.shuffledSubarray(names(table), { minLength: 1 }),
      alias: fc.boolean(),
      wrap: fc.constantFrom("", "", "", "inline", "repeat"),
    })
    .map(({ fields: [first = "id", ...others], alias, wrap }) => {
      const fields = [alias ? `other: ${first}` : first, ...others].join(" ");
      if (wrap === "inline") return `... { ${fields} } ${first}`;
      return wrap === "repeat" ? `${fields} ${fields}` : fields;
    });
const argument = (name: string, values: readonly unknown[]) =>
  fc.option(fc.constantFrom(...values.map((value) => `${name}: ${value}`)), { nil: "" });
const orderBy = (table: Table) => {
  const by = names(table).filter((name) => !/__typename|mood|json|bytes|tags/i.test(name));
  const constants = by.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase());
  return fc.option(
    fc
      .tuple(fc.constantFrom(...constants), fc.constantFrom("ASC", "DESC"), fc.constantFrom("ASC", "DESC"))
      .map(([name, direction, second]) =>
        name === "ID" ? `orderBy: [ID_${direction}]` : `orderBy: [${name}_${direction}, ID_${second}]`,
      ),
    { nil: "" },
  );
};
const conditions = [
  "{}",
  "null",
  '{ title: "article 3" }',
  "{ published: true, priority: null }",
  "{ mood: it_s_complicated }",
  '{ rank: "9007199254740994" }',
  '{ price: "2.50", priority: 2 }',
  '{ publishedAt: "2026-01-01T00:00:01.127Z" }',
  '{ publishedAt: "2026-01-01 02:00:01.127+02" }',
  '{ publishedAt: "soon" }',
  '{ day: "2026-01-03" }',
  '{ rank: "many" }',
];

const lists = fc.constantFrom(...(Object.keys(tables) as Table[])).chain((table) =>
  fc
    .record({
      args: fc.tuple(
        argument("first", [null, -1, 0, 1, 5, 7, 20, 130]),
        argument("offset", [null, 0, 3, 5, 7, 20, 21, 40]),
        argument("last", [null, 3]),
        argument("after", [null, '"WyJ4IiwxXQ=="']),
        orderBy(table),
        table === "articles" ? argument("condition", conditions) : fc.constant(""),
      ),
      nodes: selection(table).map((fields) => `nodes { ${fields} }`),
      others: fc.shuffledSubarray(["totalCount", "__typename", "pageInfo { hasNextPage }", "total: totalCount"]),
    })
    .map(({ args, nodes, others }) => {
      const given = args.filter((text) => text !== "").join(", ");
      return `{ ${table}${given && `(${given})`} { ${[nodes, ...others].join(" ")} } }`;
    }),
);

test("a random list is the same both ways", { timeout: 3_600_000 }, async () => {
  const caller = fc.constantFrom(null, ...users);
  await fc.assert(
    fc.asyncProperty(lists, caller, async (query, user) => {
      const [plain, planned] = await both(user, query);
      expect(plain).toEqual(planned);
    }),
    { numRuns },
  );
});

test("a random row is the same both ways", { timeout: 3_600_000 }, async () => {
  const rows = fc.constantFrom(...(Object.keys(tables) as Table[])).chain((table) =>
    fc.record({
      query: selection(table).map((fields) => ({ table, fields })),
      id: fc.constantFrom(...(ids[table] ?? []), 2147483647, -1, "none", "9".repeat(40), "a\0b"),
      caller: fc.constantFrom(null, ...users),
      alias: fc.constantFrom("", "it: "),
    }),
  );
  await fc.assert(
    fc.asyncProperty(rows, async ({ query: { table, fields }, id, caller, alias }) => {
      const written = `{ ${alias}${tables[table].row}(id: ${JSON.stringify(id)}) { ${fields} } }`;
      const [plain, planned] = await both(caller, written);
      expect(plain).toEqual(planned);
      const type = { notes: "Int", guestbooks: "Int", boards: "Int", announcements: "BigInt", flags: "String" }[
        table as string
      ];
      const byVariable = `query ($id: ${type ?? "UUID"}!) { ${tables[table].row}(id: $id) { ${fields} } }`;
      const [plainer, plannedToo] = await both(caller, byVariable, { id });
      expect(plainer).toEqual(plannedToo);
    }),
    { numRuns },
  );
});

test("a random write is the same both ways", { timeout: 3_600_000 }, async () => {
  const values = fc.record(
    {
      anInteger: fc.constantFrom("1", "-7", "null", "2147483647"),
      aBigint: fc.constantFrom('"9223372036854775807"', "5", '"99999999999999999999"'),
      aNumeric: fc.constantFrom('"1.5"', '"NaN"', "2"),
      aBoolean: fc.constantFrom("true", "null"),
      aText: fc.string().map((text) => JSON.stringify(text)),
      aShortText: fc.constantFrom('"four"', '"longer than five"'),
      aMood: fc.constantFrom("it_s_complicated", "calm", "null"),
      anInstant: fc.constantFrom('"2026-01-01T00:00:00.5Z"', '"2026-01-01"', '"soon"'),
      aTimestamp: fc.constantFrom('"2026-01-01T00:00:00"', "null"),
      aDate: fc.constantFrom('"2026-02-28"', '"2026-02-30"'),
      someBytes: fc.constantFrom('"AAEC/w=="'),
    },
    { requiredKeys: [] },
  );
  const shown = names("samples").filter((name) => name !== "id");
  const write = fc.record({
    values,
    shown: fc.shuffledSubarray(shown, { minLength: 1 }),
    caller: fc.constantFrom(null, ...users),
    id: fc.constantFrom(...(ids.samples ?? [])),
    verb: fc.constantFrom("create", "update"),
  });
  await fc.assert(
    fc.asyncProperty(write, async ({ values, shown, caller, id, verb }) => {
      const given = Object.entries(values).map(([name, value]) => `${name}: ${value}`);
      const args = verb === "create" ? `input: { ${given} }` : `id: "${id}", patch: { ${given} }`;
      await db.sql(
        "update samples set a_number = 0.5, a_timestamp = null, an_instant = now(), a_date = null where id = $1",
        [id],
      );
      await db.sql("update samples set an_instant = '2026-02-03 04:05:06.5+02' where id = $1", [id]);
      const [plain, planned] = await both(caller, `mutation { ${verb}Sample(${args}) { ${shown.join(" ")} } }`);
      expect(plain).toEqual(planned);
    }),
    { numRuns },
  );
});

test("a row without access or that is gone is refused the same both ways", async () => {
  const [ann, ben] = users as [User, User];
  const mine = (await ask(ann, 'mutation { createNote(input: { title: "mine" }) { id } }')).data.createNote.id;
  for (const caller of [ben, null]) {
    for (const field of [`updateNote(id: ${mine}, patch: { title: "x" }) { id }`, `it: removeNote(id: ${mine})`]) {
      const [plain, planned] = await both(caller, `mutation { ${field} }`);
      expect(plain).toEqual(planned);
      expect(plain?.errors[0].extensions.code).toBe(caller ? "NOT_FOUND" : "UNAUTHORIZED");
    }
  }
  expect((await ask(ann, `mutation { removeNote(id: ${mine}) }`)).data).toEqual({ removeNote: mine });
});

test("a time of a written row that JSON has no digits for is given as by name", async () => {
  const [ann] = users as [User];
  const [row] = await db.sql<{ id: string }>(
    "insert into samples (user_id, an_instant) values ($1, 'infinity') returning id",
    [ann.id],
  );
  const patch = `updateSample(id: "${row?.id}", patch: { anInteger: 1 }) { anInstant anInteger }`;
  const { data, errors } = await ask(ann, `mutation { ${patch} }`);
  expect([data.updateSample, errors]).toEqual([{ anInstant: "infinity", anInteger: 1 }, []]);
});

/** What connections of requests ran last. */
const lastStatements = async () =>
  JSON.stringify(
    await db.sql(
      "select query from pg_stat_activity where application_name = 'svc request' and datname = current_database()",
    ),
  );

test.for([
  ["notes { nodes { id title } totalCount }", /json_build_object/],
  ["notes(first: 5, orderBy: [TITLE_ASC, ID_ASC]) { list: nodes { ...fields __typename } }", /json_build_object/],
  ["note(id: 1) { ...fields createdAt }", /row_to_json/],
] as const)("%s is one statement of a call by name", async ([field, statement]) => {
  const query = `{ ${field} } ${field.includes("...fields") ? "fragment fields on Note { id done }" : ""}`;
  for (let times = 0; times < 12; times++) {
    // Every connection has answered a document with a plan before.
    await Promise.all(Array.from({ length: 8 }, () => ask(users[0] as User, "{ notes { pageInfo { hasNextPage } } }")));
    expect((await ask(users[0] as User, query)).errors).toEqual([]);
    expect(await lastStatements()).toMatch(statement);
  }
});

test("a written row is not read back", async () => {
  const [ann] = users as [User];
  const { data } = await ask(ann, 'mutation { createNote(input: { title: "a" }) { id } }');
  await db.sql("create sequence readings; grant usage on sequence readings to public");
  await db.sql(`create function noted() returns boolean language sql volatile security definer
                  as 'select nextval(''public.readings'') > 0'`);
  await db.sql("create policy noted on notes as restrictive for select using (public.noted())");
  const readings = async () =>
    (await db.sql<{ n: number }>("select last_value::int as n from readings where is_called"))[0]?.n ?? 0;
  const patch = `updateNote(id: ${data.createNote.id}, patch: { title: "b" }) { title }`;
  const read: number[] = [];
  for (const send of [ask, askPlanning]) {
    const before = await readings();
    expect((await send(signedIn(ann), `mutation { ${patch} }`)).data.updateNote).toEqual({ title: "b" });
    read.push((await readings()) - before);
  }
  await db.sql("drop policy noted on notes");
  expect((read[1] as number) - (read[0] as number)).toBe(1);
});
