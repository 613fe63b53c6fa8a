/** Login and settings with which `svc db psql --as` and `svc db explain --as` act as a user. */
import { commandPool, findUser } from "../inspect.ts";
import { text } from "../options.ts";

export const as = text('Id or e-mail address of a user, or "system", which sees all rows. (Default: not signed in)');

export interface Identified {
  url: string;
  /** Setting values by name. */
  settings: Record<string, string>;
  /** For a person to read. */
  who: string;
}

/** @param command its name, for pg_stat_activity @throws DefinitionError when there is no such user */
export async function identify(
  urls: { request: string; system: string },
  as: string | undefined,
  command: string,
): Promise<Identified> {
  if (as === "system") return { url: urls.system, settings: {}, who: "system" };
  if (as === undefined)
    return { url: urls.request, settings: { "svc.user_id": "", role: "svc_anonymous" }, who: "anonymous" };
  const pool = commandPool(urls.system, command);
  try {
    const id = await findUser(pool, as);
    return { url: urls.request, settings: { "svc.user_id": id, role: "svc_authenticated" }, who: `user ${id}` };
  } finally {
    await pool.end();
  }
}
