/** The doors to documents: `ctx.rag` and `ctx.grounding` over HTTP, and the SQL functions below them. */
import { type Door, isGiven, refusedAs, type Scope, type WritingDoor } from "./door.ts";
import { isOwn } from "./search-doors.ts";
import { ownLengths, type World, words } from "./world.ts";

const inScope = (row: string) =>
  `${row}.corpus = $1 and ${row}.visibility = $2 and coalesce(${row}.owner_id = $3, true)`;
const sources = `select s.id::text from svc.rag_sources s where ${inScope("s")}`;
/** A chunk is evidence if its section and its document, which are named beside it, may be read too. */
const evidence = `svc.rag_chunks c join svc.rag_sections p on p.id = c.section_id join svc.rag_sources s on s.id = c.source_id
  where ${inScope("c")}`;
const chunks = `select c.id::text from ${evidence}`;
const sections = `select p.id::text from svc.rag_sections p join svc.rag_sources s on s.id = p.source_id where ${inScope("p")}`;
const lengths = `select distinct cardinality(c.embedding)::text as id from svc.rag_chunks c where ${inScope("c")}`;

const readers = ["find_evidence_as_anonymous", "find_evidence_as_authenticated"];
const passageReaders = ["find_passages_as_anonymous", "find_passages_as_authenticated"];

export function documentDoors({ running, sql }: World): Door[] {
  /** @param input the input besides the scope @param ids reads the ids of rows from an answer */
  const http = (
    name: string,
    call: string,
    door: { rows: string; functions: string[] },
    input: object,
    // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
    ids: (json: any) => string[],
  ): Door => ({
    name,
    functions: door.functions,
    serves: isOwn,
    async read({ user }, { corpus, visibility, owner }) {
      const scope = { corpus, visibility, ...(owner !== null && { ownerUserId: owner }) };
      const { status, body } = await running.query(user, call, { ...input, scope });
      if (status !== 200) throw new Error(`${call} answered ${status}: ${JSON.stringify(body)}`);
      return ids(body.json);
    },
    // A private scope means the caller's own rows there.
    rows: door.rows.replaceAll("$3", "coalesce($3, case $2 when 'private' then svc.current_user_id() end)"),
  });
  const direct = (name: string, functions: string[], rows: string, text: string, more: unknown[] = []): Door => ({
    name,
    functions,
    rows,
    read: async (caller, { corpus, visibility, owner }: Scope) =>
      (await sql.query<{ id: string }>(caller, text, [corpus, visibility, owner, ...more])).map(({ id }) => id),
  });
  /** A call finds chunks whose vectors have the length of its own: meanwhile all of them have the same vector. */
  const byVector = (door: Door): Door => ({
    ...door,
    async read(caller, scope) {
      await sql.all("update svc.rag_chunks set embedding = '{1,1,1}'");
      try {
        return await door.read(caller, scope);
      } finally {
        await sql.all(ownLengths);
      }
    },
  });
  const call = (variant: string, claims: string, vectors: string) =>
    `select chunk_id::text as id from ${variant ? "svc_hidden" : "svc"}.find_evidence${variant}(${claims}, 'english', $1, $2, $3, null, 50, 50, ${vectors})`;
  const passages = (variant: string, question: string, vector: string) =>
    `${variant ? "svc_hidden" : "svc"}.find_passages${variant}(${question}, 'english', $1, $2, $3, null, 50, ${vector})`;

  return [
    http(
      "ctx.rag.search",
      "docs.search",
      { rows: chunks, functions: ["find_passages", ...passageReaders] },
      { query: words, limit: 20 },
      (found) => found.map(({ chunkId }: { chunkId: string }) => chunkId),
    ),
    http(
      "ctx.grounding.answer",
      "docs.answer",
      { rows: chunks, functions: ["find_evidence", ...readers] },
      {
        question: "What lifts nine tons?",
        mode: "qa",
        claims: [{ claimText: words }],
        budget: { chunks: 50, sentences: 50, citations: 10 },
      },
      ({ claims }) =>
        claims.flatMap(({ citations }: { citations: { chunkIds: string[] }[] }) =>
          citations.flatMap(({ chunkIds }) => chunkIds),
        ),
    ),
    http("ctx.rag.list", "docs.list", { rows: sources, functions: ["list_sources"] }, {}, (found) =>
      found.map(({ id }: { id: string }) => id),
    ),
    {
      name: "ctx.rag.section",
      functions: ["read_section"],
      rows: sections,
      async read({ user }, { corpus, visibility, owner }) {
        const ids = await sql.all<{ id: string }>(sections, [corpus, visibility, owner]);
        const answers = await Promise.all(ids.map(({ id }) => running.query(user, "docs.section", id)));
        return answers.flatMap(({ body }) => (body.json ? [body.json.id] : []));
      },
    },
    direct("svc.find_evidence()", ["find_evidence", ...readers], chunks, call("", `array['${words}']`, "null")),
    byVector(
      direct(
        "svc.find_evidence() by vectors",
        ["find_evidence", ...readers],
        chunks,
        call("", "array['zebra']", "'[[1,1,1]]'"), // a word that no chunk has
      ),
    ),
    {
      ...direct("the reader's own find_evidence", readers, chunks, ""),
      read: async (caller, { corpus, visibility, owner }) => {
        const text = call(caller.user ? "_as_authenticated" : "_as_anonymous", `array['${words}']`, "null");
        return (await sql.query<{ id: string }>(caller, text, [corpus, visibility, owner])).map(({ id }) => id);
      },
    },
    direct(
      "svc.find_passages()",
      ["find_passages", ...passageReaders],
      chunks,
      `select chunk_id::text as id from ${passages("", `'${words}'`, "null")}`,
    ),
    byVector(
      direct(
        "svc.find_passages() by vectors",
        ["find_passages", ...passageReaders],
        chunks,
        `select chunk_id::text as id from ${passages("", "'zebra'", "'{1,1,1}'")}`,
      ),
    ),
    {
      ...direct("the reader's own find_passages", passageReaders, chunks, ""),
      read: async (caller, { corpus, visibility, owner }) => {
        const variant = caller.user ? "_as_authenticated" : "_as_anonymous";
        const text = `select chunk_id::text as id from ${passages(variant, `'${words}'`, "null")}`;
        return (await sql.query<{ id: string }>(caller, text, [corpus, visibility, owner])).map(({ id }) => id);
      },
    },
    direct(
      "svc.list_sources()",
      ["list_sources"],
      sources,
      "select s ->> 'id' as id from jsonb_array_elements(svc.list_sources($1, $2, $3, 100, 0)) as s",
    ),
    {
      ...direct("svc.find_unchanged()", ["find_unchanged"], sources, ""),
      // Only for the caller's own documents, which are found by their keys.
      serves: ({ user }, { owner }) => user !== null && owner === user.id,
      read: async (caller, { corpus, visibility, owner }) => {
        const text = `select found ->> 'sourceId' as id
          from unnest(array[$3 || ' even', $3 || ' odd']) as key, svc.find_unchanged($1, $2, key, 'none') as found
         where found is not null`;
        return (await sql.query<{ id: string }>(caller, text, [corpus, visibility, owner])).map(({ id }) => id);
      },
    },
    {
      ...direct("svc.find_newer_document()", ["find_newer_document"], sources, ""),
      // Only for the caller's own runs of the caller's own documents.
      serves: ({ user }, { owner }) => user !== null && owner === user.id,
      read: async (caller, { corpus, visibility, owner }) => {
        const ofScope = `select id::text from svc.workflow_runs where user_id = $3
          and args::jsonb #> '{json,document,scope}' = jsonb_build_object('corpus', $1::text, 'visibility', $2::text)`;
        const all = await sql.all<{ id: string }>(ofScope, [corpus, visibility, owner]);
        const text = `select found ->> 'sourceId' as id
          from unnest($1::uuid[]) as run, svc.find_newer_document(run) as found where found is not null`;
        return (await sql.query<{ id: string }>(caller, text, [all.map(({ id }) => id)])).map(({ id }) => id);
      },
    },
    direct(
      "svc.vector_lengths()",
      ["vector_lengths"],
      lengths,
      "select unnest(svc.vector_lengths($1, $2, $3))::text as id",
    ),
  ];
}

export function documentWrites({ running, sql }: World): WritingDoor[] {
  const removals = {
    table: "svc.rag_sources",
    may: "with d as (delete from svc.rag_sources returning id) select id::text from d",
    functions: ["remove_source"],
  };
  return [
    {
      name: "ctx.rag.remove",
      ...removals,
      write: async ({ user }, id) => isGiven(await running.mutate(user, "docs.remove", id)),
    },
    {
      name: "svc.remove_source()",
      ...removals,
      async write(caller, id) {
        const text = "select svc.remove_source($1) as it";
        return (await sql.query<{ it: boolean }>(caller, text, [id]).catch(refusedAs([{ it: false }])))[0]?.it === true;
      },
    },
  ];
}
