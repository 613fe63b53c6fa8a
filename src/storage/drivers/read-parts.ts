/** Reads the parts of a file, to check them or to join them where the store cannot. */
import type { StorageDriver, StoredPart } from "./driver.ts";

/** A part that is missing or damaged: nothing can complete its upload. */
export class LostPart extends Error {}

/** Reads one part after the other. @throws LostPart for one that is missing */
export async function* readParts(driver: StorageDriver, parts: readonly StoredPart[]): AsyncGenerator<Uint8Array> {
  for (const { key, size } of parts) {
    const bytes = await driver.read(key, { start: 0, end: size - 1 });
    if (!bytes) throw new LostPart(`The part ${key} is missing.`);
    yield* bytes;
  }
}
