/**
 * Users, a team, and rows of every scope with the same words: odd and even ones, and in tables with a corpus those of
 * two owners. The text of a row describes it: `team-1 shared odd`.
 */
import { beforeAll, inject } from "vitest";
import { defineAuth } from "../../src/index.ts";
import { type Database, database } from "../support/database.ts";
import { bytesFolder, stored } from "../support/files.ts";
import { service, type TestService } from "../support/service.ts";
import { api, pagesSql } from "./application.ts";
import { type Caller, nobody, RequestSql, type Scope } from "./door.ts";

export const words = "The harbour crane lifts nine tons.";
const corpora = ["open", "team-1"] as const;
const visibilities = ["private", "shared", "public"] as const;

/** In the order of their sign-up: the first two own rows, the first and the third are members of the team. */
export const names = ["owner", "stranger", "member"] as const;

export interface World {
  db: Database;
  running: TestService;
  /** Storage of the files' bytes. */
  storage: { driver: "disk"; dir: string };
  sql: RequestSql;
  callers: Caller[];
  /** Every scope, with all owners and with each. */
  scopes: Scope[];
  /** The scopes with all owners, and one of each owner: enough where every door is tried. */
  fewScopes: Scope[];
}

/** The scope opens all handlers: policies alone decide about rows. */
for (const procedure of api["~svc"].procedures.values()) {
  if (!procedure.statement && procedure.kind !== "internal") procedure.scope = "doors";
}
const auth = defineAuth({ apiKeys: { prefix: "door", scopes: ["doors", "odd"] } });
/** A service with keys does not start while policies ask for no scope. */
const opened = `do $$
declare
  one regclass;
begin
  for one in select oid from pg_class where relrowsecurity and relnamespace = 'public'::regnamespace loop
    execute format('create policy keys on %s as restrictive to svc_authenticated using ((select svc.has_scope(''doors'')))', one);
  end loop;
end
$$`;

const scoped = `unnest($1::text[]) as owner cross join unnest('{${visibilities}}'::text[]) as visibility
    cross join unnest('{${corpora}}'::text[]) as corpus`;

/** Starts a service with its own world. Call it at the top of a test file. */
export function world(): World {
  const db = database();
  const storage = { driver: "disk" as const, dir: bytesFolder() };
  beforeAll(() =>
    db.sql(`${pagesSql} alter table samples add foreign key (a_uuid) references pages (id) on delete cascade`),
  );
  beforeAll(() => db.sql(opened));
  const running = service(db, api, { storage }, undefined, auth);
  const made: World = {
    db,
    running,
    storage,
    sql: new RequestSql(db),
    callers: [nobody],
    scopes: [],
    fewScopes: [],
  };
  beforeAll(async () => {
    for (const name of names) {
      const user = await running.signUp(name);
      // `npm run fuzz` takes longer than a JWT lives.
      made.callers.push({ name, user: { ...user, token: user.sessionToken } });
    }
    const [, owner, stranger, member] = made.callers.map(({ user }) => user?.id ?? null);
    for (const corpus of corpora) {
      for (const visibility of visibilities) {
        for (const one of [null, owner, stranger]) made.scopes.push({ corpus, visibility, owner: one ?? null });
      }
    }
    made.fewScopes = made.scopes.filter(
      ({ corpus, visibility, owner }) => owner === null || (corpus === "open" && visibility === "private"),
    );
    await db.sql(`
      create table door_members (team integer, user_id text);
      alter table door_members enable row level security;
      create function public.door_teams() returns setof integer
      language sql stable security definer set search_path = '' as
        'select team from public.door_members where user_id = (select svc.current_user_id())';
      revoke execute on function public.door_teams() from public;
      grant execute on function public.door_teams() to svc_authenticated, svc_anonymous;`);
    await db.sql("insert into door_members select 1, unnest($1::text[])", [[owner, member]]);
    await addPages(made, [owner, stranger]);
    await addDocuments(db, [owner, stranger]);
    await addFiles(made);
    await addRuns(db, owner);
    const first = made.callers[1]?.user ?? null;
    const { body } = await running.post("/api/auth/api-keys", { name: "door", scopes: ["doors"] }, first);
    if (!first || !body.key) throw new Error(JSON.stringify(body));
    const user = { ...first, token: body.key, sessionToken: body.key };
    made.callers.push({ name: "a key of the owner", user, scopes: "doors" });
  });
  return made;
}

async function addPages({ db, callers }: World, owners: unknown[]): Promise<void> {
  await db.sql(
    `insert into pages (user_id, corpus, visibility, rank, title, body)
     select owner, corpus, visibility, odd, 'page', $2 from ${scoped} cross join generate_series(0, 1) as odd`,
    [owners, words],
  );
  if (inject("vector")) await db.sql("update pages set embedding = '[1,2,3]'");
  // A row of each caller that refers to each page.
  await db.sql("insert into samples (user_id, a_uuid) select unnest($1::text[]), id from pages", [
    callers.flatMap(({ user }) => user?.id ?? []),
  ]);
}

async function addDocuments(db: Database, owners: unknown[]): Promise<void> {
  await db.sql(
    `insert into svc.rag_sources (corpus, visibility, owner_id, key, title, checksum)
     select corpus, visibility, owner, concat_ws(' ', owner, kind), 'document', 'none'
       from ${scoped} cross join unnest('{even,odd}'::text[]) as kind`,
    [owners],
  );
  await db.sql(
    `insert into svc.rag_sections (source_id, corpus, visibility, owner_id, position, level, title, path)
     select id, corpus, visibility, owner_id, part, 1, (array['even', 'odd'])[part], '{part}'
       from svc.rag_sources cross join generate_series(1, 2) as part`,
  );
  // Of each document an early run of rag.ingest, and a late one, which has stored it.
  await db.sql(
    `with runs as (
       insert into svc.workflow_runs (name, version, args, user_id, created_at)
       select 'rag.ingest', 1, json_build_object('json', json_build_object('document', json_build_object(
                'sourceUri', key, 'scope', json_build_object('corpus', corpus, 'visibility', visibility)))),
              owner_id, now() - hours * interval '1 hour'
         from svc.rag_sources cross join generate_series(1, 2) as hours
       returning id, user_id, created_at
     )
     insert into svc.workflow_steps (run_id, position, kind, name, is_done, user_id)
     select id, '1', 'step', 'rag.ingest', true, user_id from runs where created_at > now() - interval '90 minutes'`,
  );
  await db.sql(
    `insert into svc.rag_chunks (section_id, source_id, corpus, visibility, owner_id, position, text, sentence_starts,
       start_offset, end_offset, page_start, page_end, words)
     select id, source_id, corpus, visibility, owner_id, 2 * position + odd, $1, '{1}', 0, 1, 1, 1, svc_hidden.words_of($1, 'english')
       from svc.rag_sections cross join generate_series(0, 1) as odd`,
    [words],
  );
  await db.sql(ownLengths);
}

/** Gives each chunk a vector of another length, so that lengths identify rows as ids do. */
export const ownLengths = `
  update svc.rag_chunks c set embedding = array_fill(1::real, array[n.length])
    from (select id, row_number() over (order by section_id, position)::integer as length from svc.rag_chunks) as n
   where n.id = c.id`;

const labels = corpora.flatMap((corpus) =>
  visibilities.flatMap((visibility) => ["even", "odd"].map((kind) => `${corpus} ${visibility} ${kind}`)),
);

/** Files of the owner, with a transcription of each. */
async function addFiles({ db, running, callers }: World): Promise<void> {
  for (const name of labels) {
    const visibility = name.includes("public") ? "public" : "private";
    await stored(running, callers[1]?.user ?? null, new File([name], name, { type: "text/plain" }), { visibility });
  }
  await db.sql(
    "insert into svc.ai_transcriptions (user_id, storage_id, model) select user_id, id, name from svc.storage_objects",
  );
  await db.sql(
    `insert into svc.ai_ledger (user_id, operation, model, reserved, expires_at)
     select user_id, 'chat', name, 1, now() from svc.storage_objects`,
  );
}

/** Runs of the owner, with odd and even steps and events. */
async function addRuns(db: Database, owner: unknown): Promise<void> {
  await db.sql(
    `insert into svc.workflow_runs (name, version, args, user_id) select unnest($1::text[]), 1, '{"json":{}}', $2`,
    [labels, owner],
  );
  const kinds = `svc.workflow_runs as r cross join unnest('{even,odd}'::text[]) as kind`;
  const name = "regexp_replace(r.name, '\\w+$', kind)";
  await db.sql(
    `insert into svc.workflow_steps (run_id, position, kind, name, is_done, user_id)
     select r.id, kind, 'step', ${name}, true, r.user_id from ${kinds}`,
  );
  await db.sql(
    `insert into svc.workflow_events (run_id, name, payload, user_id, taken_by)
     select r.id, ${name}, '{"json":null}', r.user_id, kind from ${kinds}`,
  );
}
