/** Addresses for PostgreSQL's own programs: arguments can be read by everybody on the machine, the environment cannot. */

/** @returns the address without its password, for `--dbname`, and the variable that has it */
export function libpqTarget(url: string): { dbname: string; env: { PGPASSWORD?: string } } {
  const address = new URL(url);
  const env = address.password ? { PGPASSWORD: decodeURIComponent(address.password) } : {};
  address.password = "";
  // `pg` takes it without a file to check against; libpq knows it by another name.
  if (address.searchParams.get("sslmode") === "no-verify") address.searchParams.set("sslmode", "require");
  return { dbname: address.href, env };
}
