// If this file fails, a file leaves by one door although the policies hide it from the caller, or a caller who may see it is
// turned away: each door is compared with what `select` gives under the caller's own policies.
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSvcProcedureBuilders, v } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { bytesFolder, fileProcedures, stored } from "../support/files.ts";
import { apiWith, service, type User } from "../support/service.ts";

const db = database();
const requireOwned = createSvcProcedureBuilders()
  .query.name("files.requireOwned")
  .allowAnonymous()
  .input(v.object({ id: v.string() }))
  .handler(({ context, input }) => context.storage.requireOwned(input.id));
const svc = service(db, apiWith({ procedures: { ...fileProcedures, requireOwned } }), {
  storage: { driver: "disk", dir: bytesFolder() },
});

const on = "on svc.storage_objects";
const users = "svc_authenticated";
const everybody = "svc_anonymous, svc_authenticated";
/** Policies of an application, by what they are about. */
const situations: Record<string, string> = {
  "no policy of the application": "select",
  "a team's recipe": `create policy app_team ${on} for select to ${users}
    using (exists (select from public.team_files f where f.id = storage_objects.id))`,
  "a gallery for strangers": `create policy app_gallery ${on} for select to svc_anonymous using (name = 'one.txt')`,
  "a restrictive policy for users": `create policy app_hide ${on} as restrictive for select to ${users}
    using (name <> 'one.txt')`,
  "a restrictive policy for strangers": `create policy app_hide ${on} as restrictive for select to svc_anonymous
    using (name <> 'one.txt')`,
  "a restrictive policy for everybody": `create policy app_hide ${on} as restrictive to public
    using (name <> 'one.txt') with check (true)`,
  "a team's recipe under a restrictive policy": `create policy app_team ${on} for select to ${users}
    using (exists (select from public.team_files f where f.id = storage_objects.id));
    create policy app_hide ${on} as restrictive for select to ${everybody} using (name <> 'one.txt')`,
  "a policy that shows everything": `create policy app_all ${on} for select to ${everybody} using (true)`,
};

type Name = "anonymous" | "owner" | "member" | "stranger";
const callers: Record<Name, User | null> = { anonymous: null, owner: null, member: null, stranger: null };
const names = Object.keys(callers) as Name[];
const roleOf = (name: Name) => (name === "anonymous" ? "svc_anonymous" : users);
/** By visibility and the name that the policies look at. */
const files: Record<string, string> = {};
const grants: { issuer: Name; id: string; url: string }[] = [];
let admin: pg.Client;
let login: pg.Client;

beforeAll(async () => {
  admin = await db.connect("admin");
  login = await db.connect("request");
  for (const name of ["owner", "member", "stranger"] as const) callers[name] = await svc.signUp(name);
  for (const visibility of ["private", "public"]) {
    for (const name of ["one.txt", "two.txt"]) {
      files[`${visibility} ${name}`] = await stored(svc, callers.owner, new File([name], name), { visibility });
    }
  }
  await admin.query(`create table public.team_files (id uuid, member text);
    alter table team_files enable row level security;
    create policy mine on team_files for select to ${users} using (member = (select svc.current_user_id()));
    grant select on team_files to ${users}`);
  for (const id of Object.values(files)) {
    await admin.query("insert into team_files values ($1, $2)", [id, callers.member?.id]);
  }
  await during("a policy that shows everything", async () => {
    for (const issuer of names) {
      for (const id of Object.values(files)) {
        const { url } = (await svc.query(callers[issuer], "files.grant", { id })).body.json;
        grants.push({ issuer, id, url });
      }
    }
  });
});
afterAll(() => admin.query("drop table team_files"));

async function during(situation: string, work: () => Promise<void>): Promise<void> {
  await admin.query(situations[situation] ?? "");
  try {
    await work();
  } finally {
    await admin.query(`drop policy if exists app_team ${on}; drop policy if exists app_gallery ${on};
      drop policy if exists app_hide ${on}; drop policy if exists app_all ${on}`);
  }
}

/** Which files a statement of the caller's shows, in a transaction that is taken back. */
async function shown(caller: Name, text: string, before = "select"): Promise<string[]> {
  await admin.query("begin");
  try {
    await admin.query(before);
    await admin.query("select set_config('svc.user_id', $1, true)", [callers[caller]?.id ?? ""]);
    await admin.query(`set local role ${roleOf(caller)}`);
    return (await admin.query(text)).rows.map(({ id }) => id).sort();
  } finally {
    await admin.query("rollback");
  }
}

const list = "select id from svc.storage_objects";
const listed = (caller: Name) => shown(caller, list);
/** Those that a list would hold if public files were listed: the policies say it themselves. */
const byId = (caller: Name) =>
  shown(caller, list, `create policy probe ${on} for select to ${everybody} using (visibility = 'public')`);

const ids = () => Object.values(files).sort();
const isPublic = (id: string) => [files["public one.txt"], files["public two.txt"]].includes(id);

/** Those of all files for which a door opens. */
async function opened(door: (id: string) => Promise<boolean>): Promise<string[]> {
  const open: string[] = [];
  for (const id of ids()) if (await door(id)) open.push(id);
  return open;
}

const call = (caller: Name, name: string) => async (id: string) => {
  const { status } = await svc.query(callers[caller], `files.${name}`, { id });
  expect([200, 401, 404]).toContain(status);
  return status === 200;
};
const get = async (url: string) => {
  const { status } = await svc.fetch(url);
  expect([200, 404]).toContain(status);
  return status === 200;
};
const transcribed = (caller: Name) => async (id: string) => {
  await login.query("begin");
  await login.query("select set_config('svc.user_id', $1, true)", [callers[caller]?.id ?? ""]);
  const begun = await login.query("select svc.start_transcription($1, 'm')", [id]).catch(({ code }) => code as string);
  await login.query("rollback");
  if (typeof begun === "string") expect(["SV404", "42501"]).toContain(begun);
  return typeof begun !== "string";
};

describe.each(Object.keys(situations))("under %s", (situation) => {
  test.each(names)("every door gives %s what select gives", async (caller) => {
    await during(situation, async () => {
      const [own, all] = [await listed(caller), await byId(caller)];
      const ofCaller = caller === "owner" ? own : [];
      const signedIn = caller === "anonymous" ? [] : all;
      const find = `svc_hidden.find_objects_as_${caller === "anonymous" ? "anonymous" : "authenticated"}`;
      expect({
        getMeta: await opened(call(caller, "meta")),
        read: await opened(call(caller, "read")),
        createReadGrant: await opened(call(caller, "grant")),
        requireOwned: await opened(call(caller, "requireOwned")),
        "find_objects_as_…": await shown(caller, `select id from ${find}('{${ids()}}')`),
        find_public_object: await shown(
          caller,
          `select f.id from unnest('{${ids()}}'::uuid[]) as i, svc.find_public_object(i) f`,
        ),
        start_transcription: await opened(transcribed(caller)),
      }).toEqual({
        getMeta: all,
        read: signedIn, // the procedure wants a session
        createReadGrant: own,
        requireOwned: ofCaller,
        "find_objects_as_…": all,
        find_public_object: all.filter(isPublic),
        start_transcription: signedIn,
      });
    });
  });

  test("the storage route gives without a grant what strangers see, and with one what its maker sees", async () => {
    await during(situation, async () => {
      expect(await opened((id) => get(`/api/storage/${id}`))).toEqual(await byId("anonymous"));
      for (const issuer of names) {
        const open: string[] = [];
        for (const { id, url } of grants.filter((grant) => grant.issuer === issuer)) if (await get(url)) open.push(id);
        expect([issuer, open.sort()]).toEqual([issuer, await byId(issuer)]);
      }
    });
  });
});

test("the situations differ: each of them hides or shows something", async () => {
  const seen = new Set<string>();
  for (const situation of Object.keys(situations)) {
    await during(situation, async () => {
      seen.add(JSON.stringify(await sightOf()));
    });
  }
  expect(seen.size).toBe(Object.keys(situations).length);
});

async function sightOf() {
  const sight: string[][] = [];
  for (const name of names) sight.push(await listed(name), await byId(name));
  return sight;
}
