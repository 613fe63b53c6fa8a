/**
 * The statements at the beginning of pg_restore's output that drop what is there. `--if-exists` leaves two kinds that fail in
 * an empty database. Next hop: `restore.ts`, which sends the output to psql.
 */

/** Above the first object that is created. */
const firstObject = "\n-- Name: ";

/**
 * - A view that groups by the primary key of its table is replaced by one of nulls, so that the key can be dropped: of types that
 *   are not there, in a schema that is not there.
 * - A constraint of a domain that is NOT VALID is dropped by itself. The domain is dropped after it.
 */
const repaired = (drops: string): string =>
  drops
    .replace(/^CREATE OR REPLACE VIEW (.+) AS\nSELECT\n[\s\S]*?;$/gm, "DROP VIEW IF EXISTS $1 CASCADE;")
    .replace(/^ALTER DOMAIN .+ DROP CONSTRAINT .+;$/gm, "");

/** @param change of the statements, after the repair */
export async function* withDropsRepaired(
  chunks: AsyncIterable<Buffer>,
  change: (drops: string) => string,
): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (!head) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(firstObject);
    if (end < 0) continue;
    // As latin1, every byte is a character.
    yield Buffer.from(change(repaired(head.toString("latin1", 0, end))), "latin1");
    yield head.subarray(end);
    head = undefined;
  }
  if (head) yield Buffer.from(change(repaired(head.toString("latin1"))), "latin1");
}
