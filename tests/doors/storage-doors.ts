/**
 * The doors to stored files: `ctx.storage` over HTTP, the storage route with and without grants, and the SQL functions
 * below.
 */
import { ReadGrants } from "../../src/storage/read-grants.ts";
import { secret } from "../support/service.ts";
import { type Caller, type Door, isGiven, isSignedIn, nobody, refusedAs, type WritingDoor } from "./door.ts";
import type { World } from "./world.ts";

const listed = "select id::text from svc.storage_objects";
/** A public file is found by its id, but not listed. This is the content of such a list. */
const byId = {
  rows: listed,
  before: `create policy door_by_id on svc.storage_objects for select to svc_anonymous, svc_authenticated
             using (visibility = 'public')`,
};

export function storageDoors({ running, sql }: World): Door[] {
  const files = async () => (await sql.all<{ id: string }>(listed)).map(({ id }) => id);
  /** The ids of all files that the door opens. */
  const opened = async (open: (id: string) => Promise<boolean>): Promise<string[]> => {
    const ids = await files();
    const isOpen = await Promise.all(ids.map(open));
    return ids.filter((_, at) => isOpen[at]);
  };
  const call =
    (name: string): Door["read"] =>
    ({ user }) =>
      opened(async (id) => isGiven(await running.query(user, `files.${name}`, { id })));
  const grants = new ReadGrants([secret]);
  const grantOf = ({ user }: Caller, id: string) =>
    grants.sign(id, {
      issuer: user ? `user ${user.id}` : "anonymous",
      disposition: "inline",
      expires: Math.ceil(Date.now() / 1000) + 600,
    });
  const found =
    (text: (caller: Caller) => string): Door["read"] =>
    async (caller) =>
      (await sql.query<{ id: string }>(caller, text(caller), [await files()])).map(({ id }) => id);
  return [
    { name: "ctx.storage.getMeta", functions: ["find_object", "find_public_object"], ...byId, read: call("meta") },
    { name: "ctx.storage.read", ...byId, serves: isSignedIn, read: call("read") },
    { name: "ctx.storage.createReadGrant", functions: ["is_object_listed"], rows: listed, read: call("grant") },
    {
      name: "ctx.storage.requireOwned",
      functions: ["find_owned_object", "owns_object"],
      rows: `${listed} where user_id = svc.current_user_id()`,
      read: call("requireOwned"),
    },
    {
      name: "svc_hidden.find_objects_as_…()",
      functions: ["find_objects_as_anonymous", "find_objects_as_authenticated"],
      ...byId,
      read: found(
        ({ user }) => `select id from svc_hidden.find_objects_as_${user ? "authenticated" : "anonymous"}($1)`,
      ),
    },
    {
      name: "svc.find_public_object()",
      functions: ["find_public_object"],
      ...byId,
      rows: `${listed} where visibility = 'public'`,
      read: found(() => "select f.id from unnest($1::uuid[]) as i, svc.find_public_object(i) as f"),
    },
    {
      name: "the storage route",
      ...byId,
      as: () => nobody,
      read: ({ user }) =>
        opened(async (id) => {
          const headers: Record<string, string> = user ? { authorization: `Bearer ${user.token}` } : {};
          return isGiven(await running.fetch(`/api/storage/${id}`, { headers }));
        }),
    },
    {
      name: "the storage route, with the caller's grants",
      // A grant has the rights of its issuer, a user.
      as: ({ name, user }) => ({ name: `${name}, without a key`, user }),
      ...byId,
      read: (caller) =>
        opened(async (id) => isGiven(await running.fetch(`/api/storage/${id}?grant=${grantOf(caller, id)}`))),
    },
    {
      name: "svc.start_transcription()",
      functions: ["start_transcription"],
      ...byId,
      serves: isSignedIn,
      async read(caller) {
        const begun: string[] = [];
        for (const id of await files()) {
          const text = "select svc.start_transcription($1, 'm')";
          if ((await sql.asLogin(caller, text, [id]).catch(refusedAs([]))).length > 0) begun.push(id);
        }
        return begun;
      },
    },
  ];
}

export function storageWrites({ running }: World): WritingDoor[] {
  const table = "svc.storage_objects";
  const mutate =
    (name: string, args: object) =>
    async ({ user }: Caller, id: string) =>
      isGiven(await running.mutate(user, `files.${name}`, { ...args, id }));
  return [
    {
      name: "ctx.storage.setVisibility",
      functions: ["set_object_visibility"],
      table,
      may: `with u as (update ${table} set visibility = visibility returning id) select id::text from u`,
      write: mutate("setVisibility", { visibility: "public" }),
    },
    {
      name: "ctx.storage.delete",
      functions: ["delete_object"],
      table,
      may: `with d as (delete from ${table} returning id) select id::text from d`,
      write: mutate("remove", {}),
    },
  ];
}
