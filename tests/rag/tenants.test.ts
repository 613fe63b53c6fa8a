// If this file fails, an answer, a list, a count or a score discloses the content of other users' documents.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";
import { api } from "./application.ts";

const db = database();
const running = service(db, api);
const visibilities = ["private", "shared", "public"] as const;
const people = ["ann", "bob", null] as const;
const users: Record<string, User> = {};
const as = (name: string | null) => (name === null ? null : (users[name] as User));

beforeAll(async () => {
  for (const name of ["ann", "bob"]) users[name] = await running.signUp(name);
});
beforeEach(() => db.sql("delete from svc.rag_sources"));

const secret = (name: string, visibility: string) => `The ${visibility} vault of ${name} opens with a brass key.`;
async function ingest(name: string, visibility: string, text = secret(name, visibility), corpus = "vaults") {
  const input = { title: `${name} ${visibility}`, text, scope: { corpus, visibility } };
  const { status, body } = await running.mutate(as(name), "docs.ingest", input);
  expect([status, body]).toMatchObject([200, {}]);
  return body.json.sourceId as string;
}
const ask = (who: string | null, claimText: string, scope: object, more = {}) =>
  running.query(as(who), "docs.answer", {
    question: "Which key?",
    scope,
    mode: "qa",
    claims: [{ claimText }],
    ...more,
  });

describe("who is told what", () => {
  const mayRead = (who: string | null, owner: string, visibility: string) =>
    visibility === "public" || (who !== null && (visibility === "shared" || who === owner));
  const cases = people.flatMap((who) =>
    ["ann", "bob"].flatMap((owner) => visibilities.map((visibility) => ({ who, owner, visibility }))),
  );

  test.for(cases)("$who asks for a $visibility document of $owner", async ({ who, owner, visibility }) => {
    for (const name of ["ann", "bob"]) for (const one of visibilities) await ingest(name, one);
    const { status, body } = await ask(who, secret(owner, visibility), { corpus: "vaults", visibility });
    if (who === null && visibility !== "public") {
      expect(status).toBe(401);
      return;
    }
    const { claims, grounded } = body.json;
    expect(grounded).toBe(mayRead(who, owner, visibility));
    const snippets = claims.flatMap((claim: { citations: { snippet: string }[] }) => claim.citations);
    for (const { snippet } of snippets) {
      expect(snippet).toContain(` ${visibility} `);
      if (visibility === "private") expect(snippet).toContain(` ${who}`);
    }
  });

  test.for(cases)("$who lists the $visibility documents of $owner", async ({ who, owner, visibility }) => {
    for (const name of ["ann", "bob"]) for (const one of visibilities) await ingest(name, one);
    const { status, body } = await running.query(as(who), "docs.list", { scope: { corpus: "vaults", visibility } });
    if (who === null && visibility !== "public") {
      expect(status).toBe(401);
      return;
    }
    const titles = body.json.map(({ title }: { title: string }) => title);
    expect(titles.includes(`${owner} ${visibility}`)).toBe(mayRead(who, owner, visibility));
  });

  test.for(people)("%s gets from find_evidence() what the policies show, in every scope", async (who) => {
    for (const name of ["ann", "bob"]) for (const one of visibilities) await ingest(name, one);
    const client = await db.connect("request");
    await client.query("begin");
    await client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [
      as(who)?.id ?? "",
      who ? "svc_authenticated" : "svc_anonymous",
    ]);
    for (const visibility of visibilities) {
      for (const owner of [null, users.ann?.id, users.bob?.id]) {
        const found = await client.query(
          "select chunk_id from svc.find_evidence('{brass key}', 'english', 'vaults', $1, $2, null, 20, 20) order by 1",
          [visibility, owner],
        );
        const shown = await client.query(
          "select id as chunk_id from svc.rag_chunks where visibility = $1 and owner_id = coalesce($2, owner_id) order by 1",
          [visibility, owner],
        );
        expect(found.rows).toEqual(shown.rows);
      }
    }
    await client.query("rollback");
  });
});

test("what others store changes no score, count or citation of mine", async () => {
  for (const text of [secret("ann", "private"), "The attic holds a chest of maps.", "Keys hang in the hall."]) {
    await ingest("ann", "private", text);
  }
  const claim = "The private vault of ann opens with an iron key.";
  const before = await ask("ann", claim, { corpus: "vaults", visibility: "private" });
  for (const visibility of visibilities) {
    for (let copy = 0; copy < 5; copy++) await ingest("bob", visibility, `${claim} Copy ${copy} of the iron key.`);
  }
  const after = await ask("ann", claim, { corpus: "vaults", visibility: "private" });
  expect(before.body.json.meta.sentences).toBeGreaterThan(0);
  expect(after.body).toEqual(before.body);
});

test("a corpus says nothing of another one", async () => {
  await ingest("ann", "private", "The cellar is flooded.", "cellars");
  const { body } = await ask("ann", "The cellar is flooded.", { corpus: "vaults", visibility: "private" });
  expect(body.json).toMatchObject({ grounded: false, meta: { sentences: 0 } });
});

test.for(visibilities)("a section of a %s document opens for whoever may read it", async (visibility) => {
  await ingest("bob", visibility);
  const [section] = await db.sql("select id from svc.rag_sections");
  for (const who of people) {
    const { status, body } = await running.query(as(who), "docs.section", section?.id);
    const may = visibility === "public" || who === "bob" || (visibility === "shared" && who !== null);
    expect([who, status, body.json?.text]).toEqual([who, 200, may ? secret("bob", visibility) : undefined]);
  }
});

test("naming the id of a foreign source shows nothing of it", async () => {
  const id = await ingest("bob", "private");
  const { body } = await ask(
    "ann",
    secret("bob", "private"),
    { corpus: "vaults", visibility: "private" },
    { sourceIds: [id] },
  );
  expect(body.json).toMatchObject({ grounded: false, meta: { sentences: 0 } });
});

test.for(visibilities)(
  "a %s document of others cannot be removed, and answers as if there were none",
  async (visibility) => {
    const id = await ingest("bob", visibility);
    expect((await running.mutate(as("ann"), "docs.remove", id)).status).toBe(404);
    expect((await running.mutate(null, "docs.remove", id)).status).toBe(401);
    expect(await db.sql("select id from svc.rag_sources")).toEqual([{ id }]);
  },
);

describe("SQL of a request", () => {
  const columns = "source_id, corpus, visibility, owner_id, position, level, title, path";
  const passage = (
    section: string,
    source: string,
    from: string,
  ) => `insert into svc.rag_chunks (section_id, source_id, corpus,
      visibility, owner_id, position, text, sentence_starts, start_offset, end_offset, page_start, page_end, words)
    select ${section}.id, ${source}, theirs.corpus, theirs.visibility, svc.current_user_id(), 9, 'forged', '{0}', 0, 6, 1, 1, 'forg'
      from ${from} where theirs.owner_id <> svc.current_user_id()`;
  const attempts = {
    "hangs a section below a document of others": `insert into svc.rag_sections (${columns})
      select id, corpus, visibility, svc.current_user_id(), 9, 1, 'forged', '{}' from svc.rag_sources`,
    "hangs a passage below a section of others": passage("theirs", "theirs.source_id", "svc.rag_sections theirs"),
    "hangs a passage of its own section below a document of others": passage(
      "mine",
      "theirs.id",
      "svc.rag_sources theirs join svc.rag_sections mine on mine.owner_id = svc.current_user_id()",
    ),
    "writes in the name of others": `insert into svc.rag_sources (corpus, visibility, owner_id, key, title, checksum)
      select 'vaults', 'public', owner_id, 'k', 'forged', 'c' from svc.rag_sources`,
    "takes a document": "update svc.rag_sources set owner_id = svc.current_user_id()",
    "changes a text": "update svc.rag_chunks set text = 'forged'",
  };
  test.for(Object.entries(attempts))("never %s", async ([, statement]) => {
    for (const owner of ["ann", "bob"]) await ingest(owner, "public");
    const before = await db.snapshot("svc.rag_sections");
    const client = await db.connect("request");
    await client.query("begin");
    await client.query("select set_config('svc.user_id', $1, true), set_config('role', 'svc_authenticated', true)", [
      as("ann")?.id,
    ]);
    await expect(client.query(statement)).rejects.toMatchObject({ code: "42501" });
    await client.query("rollback");
    expect(await db.snapshot("svc.rag_sections")).toEqual(before);
  });
});

test("the documents of a user go with the account", async () => {
  const gone = await running.signUp("gone");
  users.gone = gone;
  await ingest("gone", "public");
  await db.sql(`delete from auth."user" where id = $1`, [gone.id]);
  expect(await db.sql("select from svc.rag_chunks")).toEqual([]);
});

test("the system removes documents that have no owner, and no others", async () => {
  const id = await ingest("bob", "public");
  const system = await db.connect("system");
  const remove = async () => (await system.query("select svc.remove_source($1) as it", [id])).rows[0].it;
  expect(await remove()).toBe(false);
  await db.sql("update svc.rag_sources set owner_id = null");
  expect(await remove()).toBe(true);
});

test("a definer function of the application finds what its caller may read, and no more", async () => {
  for (const name of ["ann", "bob"]) await ingest(name, "private");
  await db.sql(`create function public.find_all() returns setof uuid language sql security definer set search_path = '' as $$
      select source_id from svc.find_evidence('{brass key}', 'english', 'vaults', 'private', null, null, 20, 20) $$;
    alter function public.find_all() owner to svc_owner`);
  const client = await db.connect("request");
  const found = async (user: User | null) => {
    await client.query("begin");
    const role = user ? "svc_authenticated" : "svc_anonymous";
    await client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [
      user?.id ?? "",
      role,
    ]);
    const { rows } = await client.query("select find_all() as id");
    await client.query("rollback");
    return rows;
  };
  for (const name of ["ann", "bob"])
    expect(await found(as(name))).toEqual(
      await db.sql("select id from svc.rag_sources where owner_id = $1", [as(name)?.id]),
    );
  expect(await found(null)).toEqual([]);
});

test("a document of the system is superseded by a later run that stored it, and by none of a user", async () => {
  const args = JSON.stringify({
    json: { document: { scope: { corpus: "vaults", visibility: "public" }, sourceUri: "file:1" } },
  });
  await db.sql(`insert into svc.rag_sources (corpus, visibility, key, title, checksum)
    values ('vaults', 'public', 'file:1', 'of the system', 'c')`);
  const ended = async (user: string | null, day: string, error: object | null = null) => {
    const [run] = await db.sql(
      `insert into svc.workflow_runs (name, version, args, status, user_id, is_system, created_at)
         values ('rag.ingest', 1, $1, 'completed', $2::text, $2::text is null, $3) returning id`,
      [args, user, day],
    );
    await db.sql(
      `insert into svc.workflow_steps (run_id, position, kind, name, is_done, user_id, error)
         values ($1, '1', 'step', 'rag.ingest', true, $2, $3)`,
      [run?.id, user, error],
    );
    return run?.id;
  };
  const system = await db.connect("system");
  const newer = async (run: string) =>
    (await system.query("select svc.find_newer_document($1) ->> 'status' as it", [run])).rows[0].it;
  const first = await ended(null, "yesterday");
  await ended(as("bob")?.id as string, "today");
  expect(await newer(first)).toBe(null);
  const second = await ended(null, "today");
  await ended(null, "tomorrow", { message: "It stored nothing." });
  expect([await newer(first), await newer(second)]).toEqual(["superseded", null]);
});
