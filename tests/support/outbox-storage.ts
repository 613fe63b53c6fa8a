/** A device for an outbox: what was written survives its page. */
import type { OutboxStorage } from "../../client/tanstack-db/src/index.ts";

export class Device implements OutboxStorage {
  readonly items = new Map<string, string>();
  /** Called before each use; may throw, or wait. */
  before: (use: "read" | "write" | "remove", key: string) => void | Promise<void> = () => {};

  async read(prefix: string): Promise<[string, string][]> {
    await this.before("read", prefix);
    return [...this.items].filter(([key]) => key.startsWith(prefix)).reverse(); // in any order
  }

  async write(key: string, value: string): Promise<void> {
    await this.before("write", key);
    this.items.set(key, value);
  }

  async remove(key: string): Promise<void> {
    await this.before("remove", key);
    this.items.delete(key);
  }

  keys = (prefix = ""): string[] => [...this.items.keys()].filter((key) => key.startsWith(prefix));
}
