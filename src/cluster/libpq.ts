/**
 * Makes connection strings for PostgreSQL's own programs. The password goes into the environment, because every user of
 * the machine can read arguments.
 */

/**
 * Parameters of libpq. It refuses others, which `pg` has (`uselibpqcompat`, `statement_timeout`) or ignores (`pgbouncer`).
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS
 */
const known = new Set(
  (
    "host hostaddr port dbname user passfile require_auth channel_binding connect_timeout client_encoding options " +
    "application_name fallback_application_name keepalives keepalives_idle keepalives_interval keepalives_count " +
    "tcp_user_timeout gssencmode gssdelegation gsslib krbsrvname sslmode sslnegotiation sslcompression sslcert sslkey " +
    "sslpassword sslcertmode sslrootcert sslcrl sslcrldir sslsni requirepeer ssl_min_protocol_version " +
    "ssl_max_protocol_version service target_session_attrs load_balance_hosts"
  ).split(" "),
);

/** @returns the address without its password, for `--dbname`, and the variable with the password */
export function libpqTarget(url: string): { dbname: string; env: { PGPASSWORD?: string } } {
  const address = new URL(url);
  const { searchParams } = address;
  const password = searchParams.get("password") ?? decodeURIComponent(address.password);
  const parameters = new Map([...searchParams].filter(([name]) => known.has(name)));
  // `pg` has another name for TLS, and a mode without certificate checks.
  if (/^(true|1|no-verify)$/.test(searchParams.get("ssl") ?? "") && !parameters.has("sslmode")) {
    parameters.set("sslmode", "require");
  }
  if (parameters.get("sslmode") === "no-verify") parameters.set("sslmode", "require");
  address.password = "";
  // libpq does not decode a plus as a space.
  address.search = [...parameters].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return { dbname: address.href, env: password ? { PGPASSWORD: password } : {} };
}
