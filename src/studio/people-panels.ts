/** People: users with their sessions. Next hop: `sql/studio/studio_people.sql`. */
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import { panel } from "./panel.ts";

/** Rows of a page. */
const most = 50;

export const peoplePanels = {
  people: panel(
    z.strictObject({ search: z.string().max(200), after: z.string().max(400).nullable() }),
    async ({ search, after }, { ask }) => {
      const found = await ask("select * from svc_private.studio_people($1, $2, $3)", [search, after, most + 1]);
      const people = found.slice(0, most);
      return { people, next: found.length > most ? people.at(-1).email : null };
    },
  ),
  person: panel(z.strictObject({ id: z.string().min(1).max(200) }), async ({ id }, { ask }) => {
    const found = await ask("select * from svc_private.studio_people($1, null, 50)", [id]);
    const person = found.find((one) => one.id === id);
    if (!person) throw new SvcError("NOT_FOUND", `There is no user ${id}.`);
    return { person, sessions: await ask("select * from svc_private.studio_sessions($1, 100)", [id]) };
  }),
};
