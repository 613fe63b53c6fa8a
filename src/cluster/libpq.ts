/**
 * Makes connection strings for PostgreSQL's own programs. The password goes into the environment, because every user of
 * the machine can read arguments.
 */

/** @returns the address without its password, for `--dbname`, and the variable with the password */
export function libpqTarget(url: string): { dbname: string; env: { PGPASSWORD?: string } } {
  const address = new URL(url);
  const env = address.password ? { PGPASSWORD: decodeURIComponent(address.password) } : {};
  address.password = "";
  // `pg` has a mode without certificate checks; libpq has another name for it.
  if (address.searchParams.get("sslmode") === "no-verify") address.searchParams.set("sslmode", "require");
  return { dbname: address.href, env };
}
