/**
 * Keeps for a second that an object is public, so that an image in demand costs one question a second.
 *
 * The second begins before the question is sent. So a deletion, a change of the visibility, and whatever else a policy
 * depends on (other tables, the time) counts within a second, in every process and without any notice. An answer is not
 * used longer when the database cannot be asked. Private objects and read grants are asked about each time.
 * Next hop: `find-objects.ts` asks.
 */
import { RecentMap } from "../kit/recent-map.ts";
import type { FoundObject, ObjectFinder } from "./find-objects.ts";

/** In milliseconds. */
const keptFor = 1_000;

/** Objects per process: about 500 bytes each. */
const most = 10_000;

export class PublicObjects {
  readonly #finder: Pick<ObjectFinder, "find">;
  readonly #now: () => number;
  /** By id. */
  readonly #kept = new RecentMap<string, { object: FoundObject; askedAt: number }>(most);
  #changes = 0;

  /** @param now in milliseconds. (Default: a clock that is never set) */
  constructor(finder: Pick<ObjectFinder, "find">, now: () => number = () => performance.now()) {
    this.#finder = finder;
    this.#now = now;
  }

  /**
   * @param id a UUID, in lower case
   * @returns the object if callers without a session may see it, otherwise null
   */
  find(id: string): FoundObject | Promise<FoundObject | null> {
    const known = this.#kept.get(id);
    if (known && this.#now() - known.askedAt < keptFor) return known.object;
    return this.#ask(id);
  }

  /** Called after a COMMIT of this process, which knows what it has changed. @param id in any case */
  forget(id: string): void {
    this.#changes++;
    this.#kept.delete(id.toLowerCase());
  }

  async #ask(id: string): Promise<FoundObject | null> {
    const [askedAt, changes] = [this.#now(), this.#changes];
    const object = await this.#finder.find(id, "anonymous");
    // The question may have been answered before the change.
    if (changes === this.#changes) this.#keep(id, object, askedAt);
    return object;
  }

  #keep(id: string, object: FoundObject | null, askedAt: number): void {
    if (object?.visibility === "public") this.#kept.set(id, { object, askedAt });
    else this.#kept.delete(id);
  }
}
