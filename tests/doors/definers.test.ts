// If this file fails, a definer function of the application that searches for its caller finds other users' rows, or a
// job that runs as the system finds too few.
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import type { User } from "../support/service.ts";
import { RequestSql } from "./door.ts";

const db = database();
const sql = new RequestSql(db);
const nobody = { name: "nobody", user: null };
const ann = { name: "ann", user: { id: "ann" } as User };
const keyword = (owner: string) =>
  `select count(*)::integer from svc.search_keyword('{"table":"\\"public\\".\\"pages\\""}', '{title}', 'boat',
     '{"corpus":"default","visibility":"private","owner":"${owner}"}', '[]', 9, 0)`;
const evidence =
  "select count(*)::integer from svc.find_evidence('{boat}', 'english', 'default', 'private', null, null, 9, 9)";
const passages =
  "select count(*)::integer from svc.find_passages('boat', 'english', 'default', 'private', null, null, 9)";

beforeAll(async () => {
  await db.sql(`
    insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test'), ('bob', 'Bob', 'bob@x.test');
    insert into pages (user_id, title) values ('ann', 'boat'), ('bob', 'boat');
    insert into svc.rag_sources (corpus, visibility, owner_id, key, title, checksum)
      select 'default', 'private', id, 'key', 'title', 'none' from auth."user";
    insert into svc.rag_sections (source_id, corpus, visibility, owner_id, position, level, title, path)
      select id, corpus, visibility, owner_id, 1, 0, '', '{}' from svc.rag_sources;
    insert into svc.rag_chunks (section_id, source_id, corpus, visibility, owner_id, position, text, sentence_starts,
        start_offset, end_offset, page_start, page_end, words)
      select id, source_id, corpus, visibility, owner_id, 1, 'A boat.', '{1}', 0, 1, 1, 1, to_tsvector('english', 'A boat.')
        from svc.rag_sections;
    create function public.app_counts() returns integer[]
    language sql stable security definer set search_path = '' as $$
      select array[(${keyword("ann")}), (${keyword("bob")}), (${evidence}), (${passages})]
    $$;
    alter function public.app_counts() owner to svc_owner;
    grant execute on function public.app_counts() to svc_anonymous, svc_authenticated;`);
});

test("a definer function of the application finds what its caller may read", async () => {
  expect(await sql.query(ann, "select public.app_counts() as counts")).toEqual([{ counts: [1, 0, 1, 1] }]);
  expect(await sql.query(nobody, "select public.app_counts() as counts")).toEqual([{ counts: [0, 0, 0, 0] }]);
});

test("the system finds the rows of everybody", async () => {
  const system = await db.connect("system");
  const { rows } = await system.query(
    `select array[(${keyword("ann")}), (${keyword("bob")}), (${evidence}), (${passages})] as counts`,
  );
  expect(rows).toEqual([{ counts: [1, 1, 2, 2] }]);
});
