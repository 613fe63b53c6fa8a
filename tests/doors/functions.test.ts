// If this file fails, SQL inside a request reaches an index or documents without the policies: by a function that runs
// as the owner of both, or by text in a search.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import type { User } from "../support/service.ts";
import { RequestSql } from "./door.ts";

const db = database();
const sql = new RequestSql(db);
const nobody = { name: "nobody", user: null };
const ann = { name: "ann", user: { id: "ann" } as User };

beforeAll(() =>
  db.sql(
    `insert into pages (user_id, title, visibility) values ('ann', 'boat of ann', 'private'), ('bob', 'boat of bob', 'private')`,
  ),
);

interface Routine {
  name: string;
  source: string;
  owner: string;
  definer: boolean;
  exposed: boolean;
}

describe("a function that requests may call and that runs as the owner of the tables", () => {
  test("reads no document and no index, nor does a function that it calls", async () => {
    const routines = await db.sql<Routine>(
      `select p.pronamespace::regnamespace::text || '.' || p.proname as name, p.prosrc as source, p.prosecdef as definer,
              p.proowner::regrole::text as owner,
              has_function_privilege('svc_anonymous', p.oid, 'execute')
                or has_function_privilege('svc_authenticated', p.oid, 'execute') as exposed
         from pg_proc p where p.pronamespace in ('svc'::regnamespace, 'svc_hidden'::regnamespace, 'svc_private'::regnamespace)`,
    );
    const called = (source: string) =>
      routines.filter(({ name }) => new RegExp(`\\b${name.replace(".", "\\.")}\\(`).test(source));
    const reached = (routine: Routine, seen = new Set<Routine>()): Set<Routine> => {
      if (seen.has(routine)) return seen;
      seen.add(routine);
      for (const next of called(routine.source)) reached(next, seen);
      return seen;
    };
    const reads = ({ source }: Routine) =>
      /svc\.rag_\w+|svc_private\.history_entries|svc\.webhook_deliveries|svc_private\.search_(documents|counters|totals|groups)\b/.test(
        source.replace(/--.*$/gm, ""),
      );
    // Indexes the rows that its transaction wrote: it takes and returns nothing.
    const indexing = "svc_hidden.index_waiting_rows";
    const asOwner = routines.filter(
      ({ name, definer, owner, exposed }) => definer && exposed && owner === "svc_owner" && name !== indexing,
    );
    expect(asOwner.length).toBeGreaterThan(1);
    expect(
      asOwner.flatMap((one) => [...reached(one)].filter(reads).map(({ name }) => `${one.name} by ${name}`)),
    ).toEqual([]);
    // Proves that the search of the sources finds what it should.
    const finds = routines.find(({ name }) => name === "svc_private.find_chunks");
    expect([finds && reads(finds), finds?.exposed, finds?.owner]).toEqual([true, false, "svc_owner"]);
  });

  test("is a reader's where it looks into an index, and for the role of that reader alone", async () => {
    const wrong = await db.sql(
      `select p.oid::regprocedure::text from pg_proc p
        where p.proowner in ('svc_reader_anonymous'::regrole, 'svc_reader_authenticated'::regrole)
          and (not p.prosecdef
            or (has_function_privilege('svc_anonymous', p.oid, 'execute') and p.proowner <> 'svc_reader_anonymous'::regrole)
            or (has_function_privilege('svc_authenticated', p.oid, 'execute') and p.proowner <> 'svc_reader_authenticated'::regrole))`,
    );
    expect(wrong).toEqual([]);
  });

  test("compiles nothing where it turns plans off", async () => {
    const wrong = await db.sql(
      `select p.oid::regprocedure::text from pg_proc p
        where p.pronamespace in ('svc'::regnamespace, 'svc_hidden'::regnamespace, 'svc_private'::regnamespace)
          and p.proname ~ '^(find_|select_|search_)' and p.proconfig::text ~ 'enable_' and not 'jit=off' = any (p.proconfig)`,
    );
    expect(wrong).toEqual([]);
  });
});

describe("SQL of a request may not ask", () => {
  const target = `'"public"."pages"'`;
  const scope = `'{"corpus":"default","visibility":"private","owner":"bob"}'`;
  test.for([
    [
      "the index",
      `select * from svc_private.find_matches(${target}, '{title}', 'boat', 'default', 'private', 'bob', 10)`,
    ],
    ["which words begin so", "select * from svc_private.search_endings(1, 'b', 10)"],
    ["where chunks lie", "select * from svc_private.find_chunks('{boat}', 'default', 'private', 'bob')"],
    [
      "for matches as itself",
      `select * from svc_private.select_matches(${target}, '{title}', 'boat', ${scope}, '[]', 9, 0, false)`,
    ],
    [
      "for evidence as itself",
      "select * from svc_private.select_evidence('{boat}', 'english', 'default', 'private', 'bob', null, 9, 9, null)",
    ],
    ["for entries of any row", "select * from svc_private.find_entries(1, 'b', null, 9)"],
    ["for deliveries to any endpoint", "select * from svc_private.find_endpoint_deliveries('x', 'b', null, null, 9)"],
    ["to send any delivery again", "select svc_private.retry_deliveries(null, null)"],
    ["for a history as itself", "select * from svc_private.select_entries('public.pages', 'b', null, 9)"],
    [
      "why a row matches",
      `select * from svc_private.explain_match(${target}, '{title}', 'boat', 'default', 'private', 'bob', true, '{}')`,
    ],
  ])("%s", async ([, text]) => {
    for (const who of [nobody, ann])
      await expect(sql.query(who, text as string)).rejects.toMatchObject({ code: "42501" });
  });

  test("as the other role", async () => {
    const matches = (role: string) =>
      `select * from svc_hidden.search_keyword_as_${role}(${target}, '{title}', 'boat', ${scope}, '[]', 9, 0, false)`;
    const evidence = (role: string) =>
      `select * from svc_hidden.find_evidence_as_${role}('{boat}', 'english', 'default', 'private', 'bob', null, 9, 9, null)`;
    const passages = (role: string) =>
      `select * from svc_hidden.find_passages_as_${role}('boat', 'english', 'default', 'private', 'bob', null, 9, null)`;
    for (const text of [matches, evidence, passages]) {
      await expect(sql.query(ann, text("anonymous"))).rejects.toMatchObject({ code: "42501" });
      await expect(sql.query(nobody, text("authenticated"))).rejects.toMatchObject({ code: "42501" });
      await expect(sql.query(ann, text("authenticated"))).resolves.toEqual([]);
    }
  });
});

describe("a search puts no text of its caller into SQL", () => {
  const leak = "text) or svc_private.find_chunks('{a}', 'b', 'c', 'd') is null --";
  const search = (target: object, filters: object[] = []) =>
    sql.query<{ id: string }>(
      ann,
      `select id from svc.search_keyword($1, '{title}', 'boat', '{"corpus":"default","visibility":"private"}', $2, 9, 0)`,
      [JSON.stringify(target), JSON.stringify(filters)],
    );

  test("the key and its type, columns of the scope and the owner are the declaration's", async () => {
    const plain = await search({ table: '"public"."pages"' });
    expect(plain).toHaveLength(1);
    const hostile = { id: "title", idType: leak, corpus: "title", visibility: null, always: "private", owner: null };
    expect(await search({ table: '"public"."pages"', ...hostile })).toEqual(plain);
  });

  test.for(["pages; select 1", '"public"."notes"', "svc.rag_chunks", "(select * from pages)", ""])(
    "%s is no searchable table",
    async (table) => {
      await expect(search({ table })).rejects.toMatchObject({ code: "55000" });
    },
  );

  test("the type of a filter's column is the catalog's", async () => {
    const filter = (name: string) => ({
      column: { name, kind: "enum", type: leak, values: ["boat of ann"] },
      op: "eq",
      value: "boat of ann",
    });
    expect(await search({ table: '"public"."pages"' }, [filter("title")])).toHaveLength(1);
    for (const name of ["ctid", "nothing", "title) or (true"]) {
      await expect(search({ table: '"public"."pages"' }, [filter(name)])).rejects.toMatchObject({ code: "22023" });
    }
  });
});

describe("words of a column that grants hide", () => {
  const search = (field: string) =>
    sql.query<{ id: string }>(
      ann,
      `select id from svc.search_keyword('{"table":"\\"public\\".\\"pages\\""}', $1, 'harbour',
         '{"corpus":"default","visibility":"private"}', '[]', 9, 0)`,
      [`{${field}}`],
    );
  const hybrid = (field: string) =>
    sql.query<{ id: string }>(
      ann,
      `select id from svc.search_hybrid('{"table":"\\"public\\".\\"pages\\""}', $1, 'harbour', 'embedding', '[1,0,0]',
         '{"corpus":"default","visibility":"private"}', '[]',
         '{"mode":"rrf","k":60,"keywordWeight":1,"vectorWeight":1,"keywordCandidateLimit":9,"vectorCandidateLimit":9}', 9, 0, false)`,
      [`{${field}}`],
    );

  test("are not found, those of other columns are", async () => {
    await db.sql(
      `insert into pages (user_id, title, body, visibility, embedding) values ('ann', 'harbour', 'harbour', 'private', '[1,0,0]')`,
    );
    for (const find of [search, hybrid]) expect(await find("title,body")).toHaveLength(1);
    await db.sql("revoke select on pages from svc_authenticated");
    await db.sql("grant select (id, user_id, title, corpus, visibility, embedding) on pages to svc_authenticated");
    try {
      for (const find of [search, hybrid]) {
        await expect(find("body")).rejects.toMatchObject({ code: "42501" });
        await expect(find("title,body")).rejects.toMatchObject({ code: "42501" });
        expect(await find("title")).toHaveLength(1);
      }
    } finally {
      await db.sql("grant select on pages to svc_authenticated");
    }
  });
});
