/**
 * Values that the library and its plugins encrypt, such as secrets of authenticator apps. Counts them by secret, and
 * encrypts them again with the newest secret. Without that, removing an old secret from AUTHLIB_SECRET would lock out
 * users whose second factor is encrypted with it.
 * Next hop: `sql/auth/sealed_columns.sql`, `sql/auth/next_sealed.sql`, `sql/auth/reseal_values.sql`.
 */
import { parseEnvelope, symmetricDecrypt, symmetricEncrypt } from "better-auth/crypto";
import type pg from "pg";
import { secretConfig, versionOf } from "../kit/secret-version.ts";

export interface Encrypted {
  /** Number of values per secret, in the order of the list. */
  bySecret: number[];
  /** Number of values that no secret in the list can decrypt. */
  lost: number;
}

/** Values of a page, of some KiB at most. Each page, and each replacement of its values, reads the whole table. */
const batch = 10_000;

/** @param secrets newest first */
export async function countEncrypted(pool: pg.Pool, secrets: readonly string[]): Promise<Encrypted> {
  const versions = secrets.map(versionOf);
  const sealed: Encrypted = { bySecret: versions.map(() => 0), lost: 0 };
  for await (const { values } of encryptedPages(pool)) {
    for (const { version } of values) {
      const at = versions.indexOf(version);
      if (at < 0) sealed.lost++;
      else sealed.bySecret[at] = (sealed.bySecret[at] ?? 0) + 1;
    }
  }
  return sealed;
}

/**
 * Safe beside a running service, and safe to repeat.
 *
 * @param secrets newest first
 * @returns how many values were re-encrypted, and how many no secret could decrypt
 */
export async function reencryptAll(
  pool: pg.Pool,
  secrets: readonly string[],
): Promise<{ resealed: number; lost: number }> {
  const key = secretConfig(secrets);
  let [resealed, lost] = [0, 0];
  for await (const { relation, column, values } of encryptedPages(pool)) {
    const [before, after]: [string[], string[]] = [[], []];
    for (const { value, version } of values) {
      if (version === key.currentVersion) continue;
      const plain = key.keys.has(version) ? await symmetricDecrypt({ key, data: value }).catch(() => null) : null;
      if (plain === null) {
        lost++;
        continue;
      }
      before.push(value);
      after.push(await symmetricEncrypt({ key, data: plain }));
    }
    if (before.length === 0) continue;
    const text = "select svc_private.reseal_values($1, $2, $3, $4) as done";
    const { rows } = await pool.query(text, [relation, column, before, after]);
    resealed += rows[0].done;
  }
  return { resealed, lost };
}

async function* encryptedPages(pool: pg.Pool) {
  const columns = await pool.query<{ relation: string; column_name: string }>(
    "select relation, column_name from svc_private.sealed_columns()",
  );
  for (const { relation, column_name: column } of columns.rows) {
    for (let after: string | undefined = ""; after !== undefined; ) {
      const next = "select value from svc_private.next_sealed($1, $2, $3, $4) as value";
      const { rows }: pg.QueryResult<{ value: string }> = await pool.query(next, [relation, column, after, batch]);
      const values = rows.flatMap(({ value }) => {
        const envelope = parseEnvelope(value);
        return envelope ? { value, version: envelope.version } : [];
      });
      yield { relation, column, values };
      after = rows.at(-1)?.value;
    }
  }
}
