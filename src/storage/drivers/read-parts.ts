/** Reads the parts of a file, to check them or to join them where the store cannot. */
import type { StorageDriver, StoredPart } from "./driver.ts";

/** Reads one part after the other. @throws Error for a part that is missing */
export async function* readParts(driver: StorageDriver, parts: readonly StoredPart[]): AsyncGenerator<Uint8Array> {
  for (const { key, size } of parts) {
    const bytes = await driver.read(key, { start: 0, end: size - 1 });
    if (!bytes) throw new Error(`The part ${key} is missing.`);
    yield* bytes;
  }
}
