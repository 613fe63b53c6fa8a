/** The doors to entries of an audited table: its rows decide who reads them. */
import { type Door, isGiven } from "./door.ts";
import type { World } from "./world.ts";

export function historyDoors({ running, sql }: World): Door[] {
  const rows = "select id::text from pages";
  /** The ids of the pages of which there is an entry. */
  const readEach = async (read: (id: string) => Promise<unknown[]>) => {
    const found = await Promise.all(
      (await sql.all<{ id: string }>(rows)).map(async ({ id }) => ((await read(id)).length > 0 ? [id] : [])),
    );
    return found.flat();
  };
  const functions = ["row_history_as_anonymous", "row_history_as_authenticated"];
  return [
    {
      name: "labelled.history",
      functions: ["find_history"],
      rows,
      read: ({ user }) =>
        readEach(async (id) => {
          const answer = await running.query(user, "labelled.history", { id });
          return isGiven(answer) ? answer.body.json.data : [];
        }),
    },
    {
      name: "svc.row_history()",
      functions: ["row_history", ...functions],
      rows,
      read: async (caller) => {
        const text = `select p.id::text as id from unnest($1::uuid[]) as p (id)
          where exists (select from svc.row_history('public.pages', p.id::text))`;
        const all = (await sql.all<{ id: string }>(rows)).map(({ id }) => id);
        return (await sql.query<{ id: string }>(caller, text, [all])).map(({ id }) => id);
      },
    },
    {
      name: "the reader's own row_history",
      functions,
      rows,
      read: async (caller) => {
        const text = `select p.id::text as id from unnest($1::uuid[]) as p (id) where exists (select
          from svc_hidden.row_history_as_${caller.user ? "authenticated" : "anonymous"}('public.pages', p.id::text, null, 9))`;
        const all = (await sql.all<{ id: string }>(rows)).map(({ id }) => id);
        return (await sql.query<{ id: string }>(caller, text, [all])).map(({ id }) => id);
      },
    },
  ];
}
