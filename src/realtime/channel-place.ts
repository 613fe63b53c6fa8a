/** Who is in one channel, as far as a process knows. Next hop: `channel-presence.ts`, which hears it from all processes. */
import type { Body } from "./channel-codec.ts";

/** One connection: its id, its user, and what it shows. */
export type Entry = readonly [connection: string, userId: string | null, state: Body | null];

/** One who is there, with any number of connections. */
export interface Present {
  /** Of the user, or of the connection if nobody is signed in. */
  id: string;
  userId: string | null;
  /** What the connection shows that changed it last. */
  state: Body | null;
  connections: number;
}

export class Place {
  /** By process, then by connection. The newest is last. */
  readonly entries = new Map<string, { process: string; entry: Entry; isStale?: boolean }>();
  /** Ids whose members changed since the last `changes`. */
  readonly changed = new Set<string>();
  isReady = false;
  /** Set while this process has no member there. */
  closing: NodeJS.Timeout | undefined;

  put(process: string, entry: Entry): void {
    const key = `${process} ${entry[0]}`;
    const known = this.entries.get(key);
    // Processes repeat their members for each other; clients are told what is new.
    if (known && JSON.stringify(known.entry) === JSON.stringify(entry)) {
      known.isStale = false;
      return;
    }
    this.entries.delete(key);
    this.entries.set(key, { process, entry });
    this.changed.add(idOf(entry));
  }

  drop(process: string, keep: (entry: Entry) => boolean = () => false): void {
    for (const [key, one] of this.entries)
      if (one.process === process && !keep(one.entry)) this.#remove(key, one.entry);
  }

  doubt(): void {
    for (const one of this.entries.values()) one.isStale = true;
  }

  dropStale(): void {
    for (const [key, { entry, isStale }] of this.entries) if (isStale) this.#remove(key, entry);
  }

  #remove(key: string, entry: Entry): void {
    this.entries.delete(key);
    this.changed.add(idOf(entry));
  }

  list(): Map<string, Present> {
    const all = new Map<string, Present>();
    const seen = new Set<string>();
    for (const { entry } of this.entries.values()) {
      const [connection, userId, state] = entry;
      const id = idOf(entry);
      const known = all.get(id);
      // A connection that moved to another process is in both for a moment.
      const connections = (known?.connections ?? 0) + (seen.has(connection) ? 0 : 1);
      seen.add(connection);
      all.set(id, { id, userId, state: state ?? known?.state ?? null, connections });
    }
    return all;
  }
}

const idOf = ([connection, userId]: Entry) => userId ?? connection;
