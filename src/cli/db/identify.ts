/** Login and settings with which `svc db psql --as` and `svc db explain --as` act as a user. */
import { commandPool, findUser } from "../inspect.ts";
import { text } from "../options.ts";

export const as = text('Id or e-mail address of a user, or "system", which sees all rows. (Default: not signed in)');

/**
 * @param command its name, for pg_stat_activity
 * @returns the login, the values of settings by name, and the user for a person to read
 * @throws DefinitionError when there is no such user
 */
export async function identify(
  urls: { request: string; system: string },
  as: string | undefined,
  command: string,
): Promise<{ url: string; settings: Record<string, string>; who: string }> {
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
