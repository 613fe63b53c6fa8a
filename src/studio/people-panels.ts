/**
 * People: users with their sessions, API keys and organizations; organizations with their members and invitations.
 * Next hop: `sql/studio/studio_people.sql`, `studio_api_keys.sql`, `studio_organizations.sql`.
 */
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import { most, newestFirst, pageOf, place } from "./pages.ts";
import { panel, type Tools } from "./panel.ts";

const text = z.string().max(200);
const id = text.min(1);

/** Things of a user or an organization, by their time. @param name of the function */
const timed = (name: string) =>
  panel(z.strictObject({ of: id, before: place }), ({ of, before }, { ask }) =>
    newestFirst(before ?? {}, async (...last) => {
      const found = await ask(`select to_jsonb(r) as row from svc_private.${name}($1, $2, $3, $4) r`, [of, ...last]);
      return found.map(({ row }) => row);
    }),
  );

const findOrganizations = (ask: Tools["ask"], ...values: unknown[]) =>
  ask("select * from svc_private.studio_organizations($1, $2, $3, $4)", values);

/** `visit` is the id of the administrator who acts as the user in this session. */
const sessionsText = `
  select s.*, v.administrator as visit
    from svc_private.studio_sessions($1, 100) s left join svc_private.studio_visits($1) v on v.id = s.id
   order by s.updated_at desc, s.id`;

export const peoplePanels = {
  people: panel(z.strictObject({ search: text, after: z.string().max(400).nullable() }), async (given, { ask }) => {
    const { search, after } = given;
    const [found, organizations] = await Promise.all([
      ask("select * from svc_private.studio_people($1, $2, $3)", [search, after, most + 1]),
      findOrganizations(ask, "", null, null, 1),
    ]);
    const { rows: people, next } = pageOf(found, ({ email }) => email);
    return { people, next, hasOrganizations: organizations.length > 0 };
  }),
  addresses: panel(z.strictObject({ ids: z.array(id).max(1_000) }), ({ ids }, { ask }) =>
    ask(
      `select p.id, p.email from unnest($1::text[]) as given (id)
        cross join lateral svc_private.studio_users(given.id, 1) p where p.id = given.id`,
      [ids],
    ),
  ),
  person: panel(z.strictObject({ id }), async ({ id }, { ask }) => {
    const found = await ask("select * from svc_private.studio_people($1, null, 50)", [id]);
    const person = found.find((one) => one.id === id);
    if (!person) throw new SvcError("NOT_FOUND", `There is no user ${id}.`);
    return { person, sessions: await ask(sessionsText, [id]) };
  }),
  apiKeys: timed("studio_api_keys"),
  memberships: panel(z.strictObject({ of: id, after: text.nullable() }), async ({ of, after }, { ask }) => {
    const found = await ask("select * from svc_private.studio_memberships($1, $2, $3)", [of, after, most + 1]);
    return pageOf(found, ({ org_id }) => org_id);
  }),
  organizations: panel(
    z.strictObject({ search: text, after: z.strictObject({ name: text, id }).nullable() }),
    async ({ search, after }, { ask }) => {
      const found = await findOrganizations(ask, search, after?.name ?? null, after?.id ?? null, most + 1);
      return pageOf(found, ({ name, id }) => ({ name, id }));
    },
  ),
  organization: panel(z.strictObject({ id }), async ({ id }, { ask }) => {
    const [found] = await findOrganizations(ask, id, null, null, 1);
    if (found?.id === id) return found;
    throw new SvcError("NOT_FOUND", `There is no organization ${id}.`);
  }),
  members: timed("studio_members"),
  invitations: timed("studio_invitations"),
};
