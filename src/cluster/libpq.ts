/**
 * Makes connection strings for PostgreSQL's own programs. The password goes into the environment, because every user of
 * the machine can read arguments.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ClusterError } from "./error.ts";

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

/** Parameters that lead libpq elsewhere than `pg`, which ignores them, and what to write instead. */
const ignored = new Map([
  ["dbname", "Write postgres://user@host:5432/name."],
  ["hostaddr", "Write the address in the place of the host."],
  ["service", "Write user, host and database of the service into the URL."],
]);

/** @returns what is wrong with a URL that the driver and libpq read differently, and the remedy; undefined without it */
export function readDifferently(url: string): [problem: string, remedy: string] | undefined {
  const parameters = new Map(URL.parse(url)?.searchParams);
  for (const [name, remedy] of ignored) {
    if (parameters.has(name)) return [`${name} is read by PostgreSQL's programs and ignored by the driver.`, remedy];
  }
  if (parameters.get("sslrootcert") !== "system") return undefined;
  const remedy = "Leave it out: with sslmode=verify-full svc trusts public authorities.";
  return ["sslrootcert=system names a file for the driver.", remedy];
}

/**
 * @returns the address without its password, for `--dbname`, and the variable with the password
 * @throws ClusterError when the program would connect elsewhere than the driver
 */
export function libpqTarget(url: string): { dbname: string; env: { PGPASSWORD?: string } } {
  const different = readDifferently(url);
  if (different) throw new ClusterError(`The URL of the database: ${different[0]}`, different[1]);
  const address = new URL(url);
  // Of a parameter that is there twice, the last counts, as in `pg`.
  const given = new Map(address.searchParams);
  const password = given.get("password") ?? decodeURIComponent(address.password);
  const parameters = new Map([...given].filter(([name]) => known.has(name)));
  // `pg` has another name for TLS, and a mode without certificate checks.
  if (/^(true|1|no-verify)$/.test(given.get("ssl") ?? "") && !parameters.has("sslmode")) {
    parameters.set("sslmode", "require");
  }
  if (parameters.get("sslmode") === "no-verify") parameters.set("sslmode", "require");
  if (/^verify-/.test(parameters.get("sslmode") ?? "") && !parameters.has("sslrootcert")) {
    const authorities = trustedAuthorities();
    if (authorities) parameters.set("sslrootcert", authorities);
  }
  address.password = "";
  // libpq does not decode a plus as a space.
  address.search = [...parameters].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  return { dbname: address.href, env: password ? { PGPASSWORD: password } : {} };
}

/** Where systems have the certificates of public authorities. */
const bundles = [
  "/etc/ssl/certs/ca-certificates.crt", // Debian, Alpine
  "/etc/pki/tls/certs/ca-bundle.crt", // Fedora
  "/etc/ssl/ca-bundle.pem", // SUSE
  "/etc/ssl/cert.pem", // macOS
];

/**
 * Whose certificates a server may have. Node knows public authorities by itself, and libpq only those of a file that it is
 * told, so one URL would serve `pg` and not `pg_dump`.
 */
function trustedAuthorities(): string | undefined {
  const { PGSSLROOTCERT: given, NODE_EXTRA_CA_CERTS: extra } = process.env;
  const places = [join(homedir(), ".postgresql/root.crt"), extra, ...bundles]; // the first is libpq's own
  return given || places.find((place) => place && existsSync(place));
}
