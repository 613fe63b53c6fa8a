/** The doors to deliveries of webhooks: the rows of their endpoints decide. Here each page is one (application.ts). */
import type { Door, WritingDoor } from "./door.ts";
import type { World } from "./world.ts";

const rows = "select id::text from pages";

export function deliveryDoors({ sql }: World): Door[] {
  const reader = "svc_hidden.row_deliveries_as_authenticated";
  const through = (name: string, call: string, functions: string[]): Door => ({
    name,
    functions,
    rows,
    serves: ({ user }) => user !== null,
    read: async (caller) => {
      const text = `select p.id::text as id from unnest($1::uuid[]) as p (id) where exists (select from ${call})`;
      const all = (await sql.all<{ id: string }>(rows)).map(({ id }) => id);
      return (await sql.query<{ id: string }>(caller, text, [all])).map(({ id }) => id);
    },
  });
  return [
    through("svc.row_deliveries()", "svc.row_deliveries('public.pages', p.id::text)", [
      "row_deliveries",
      "row_deliveries_as_authenticated",
    ]),
    through("the reader's own row_deliveries", `${reader}('public.pages', p.id::text, null, null, 9)`, []),
  ];
}

export const deliveryWrites = ({ sql }: World): WritingDoor[] => [
  {
    name: "the retry of a delivery",
    functions: ["retry_delivery", "retry_delivery_as_authenticated"],
    table: "pages",
    may: "select id::text from pages for key share",
    write: async (caller, id) => {
      const text = "select svc_hidden.retry_delivery_as_authenticated('public.pages', $1, gen_random_uuid()) as known";
      const given = await sql.query<{ known: boolean | null }>(caller, text, [id]).catch(({ code }) => {
        if (code === "42501") return [];
        throw new Error(code);
      });
      return (given[0]?.known ?? null) !== null;
    },
  },
];
