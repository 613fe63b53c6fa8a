/** People, a team, and rows of every scope that all say the same words: two owners, two corpora, odd ones and even ones. */
import { beforeAll, inject } from "vitest";
import type { Database } from "../support/database.ts";
import type { TestService } from "../support/service.ts";
import { type Caller, RequestSql, type Scope } from "./door.ts";

export const words = "The harbour crane lifts nine tons.";
export const corpora = ["open", "team-1"] as const;
export const visibilities = ["private", "shared", "public"] as const;

/** In the order in which they sign up: the first two own rows, the first and the third are members of the team. */
export const names = ["owner", "stranger", "member"] as const;

export interface World {
  sql: RequestSql;
  callers: Caller[];
  /** Every scope: of all owners, and of each. */
  scopes: Scope[];
}

const scoped = `unnest($1::text[]) as owner cross join unnest('{${visibilities}}'::text[]) as visibility
    cross join unnest('{${corpora}}'::text[]) as corpus`;

/** Call it at the top of a test file. */
export function world(db: Database, running: TestService): World {
  const made: World = { sql: new RequestSql(db), callers: [{ name: "nobody", user: null }], scopes: [] };
  beforeAll(async () => {
    for (const name of names) made.callers.push({ name, user: await running.signUp(name) });
    const [, owner, stranger, member] = made.callers.map(({ user }) => user?.id ?? null);
    for (const corpus of corpora) {
      for (const visibility of visibilities) {
        for (const one of [null, owner, stranger]) made.scopes.push({ corpus, visibility, owner: one ?? null });
      }
    }
    await db.sql(`
      create table door_members (team integer, user_id text);
      alter table door_members enable row level security;
      create function public.door_teams() returns setof integer
      language sql stable security definer set search_path = '' as
        'select team from public.door_members where user_id = (select svc.current_user_id())';
      revoke execute on function public.door_teams() from public;
      grant execute on function public.door_teams() to svc_authenticated, svc_anonymous;`);
    await db.sql("insert into door_members select 1, unnest($1::text[])", [[owner, member]]);
    await db.sql(
      `insert into pages (user_id, corpus, visibility, rank, title, body)
       select owner, corpus, visibility, odd, 'page', $2 from ${scoped} cross join generate_series(0, 1) as odd`,
      [[owner, stranger], words],
    );
    if (inject("vector")) await db.sql("update pages set embedding = '[1,2,3]'");
    await db.sql(
      `insert into svc.rag_sources (corpus, visibility, owner_id, key, title, checksum)
       select corpus, visibility, owner, concat_ws(' ', owner, kind), 'document', 'none'
         from ${scoped} cross join unnest('{even,odd}'::text[]) as kind`,
      [[owner, stranger]],
    );
    await db.sql(
      `insert into svc.rag_sections (source_id, corpus, visibility, owner_id, position, level, title, path)
       select id, corpus, visibility, owner_id, part, 1, (array['even', 'odd'])[part], '{part}'
         from svc.rag_sources cross join generate_series(1, 2) as part`,
    );
    // Each vector has a length of its own: lengths tell of rows as ids do.
    await db.sql(
      `insert into svc.rag_chunks (section_id, source_id, corpus, visibility, owner_id, position, text, sentence_starts,
         start_offset, end_offset, page_start, page_end, words, embedding)
       select id, source_id, corpus, visibility, owner_id, 2 * position + odd, $1, '{1}', 0, 1, 1, 1,
              svc_hidden.words_of($1, 'english'), array_fill(1::real, array[(row_number() over (order by id, odd))::integer])
         from svc.rag_sections cross join generate_series(0, 1) as odd`,
      [words],
    );
  });
  return made;
}
