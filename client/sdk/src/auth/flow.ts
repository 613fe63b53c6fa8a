/**
 * Binds a social sign-in to the browser that began it. A code in an address signs in every visitor who opens it: without this,
 * somebody could send a link with a code of theirs, and its visitor would go on working in their account.
 */
import { SvcError } from "../error.ts";
import type { SessionStorage } from "./storage.ts";

const key = "svc.flow";
const parameter = "svc_flow";

export class Flow {
  readonly #storage: SessionStorage;

  constructor(storage: SessionStorage) {
    this.#storage = storage;
  }

  /** @returns the callback URL with a mark that this browser remembers */
  begin(callback: URL): string {
    const mark = crypto.randomUUID();
    this.#storage.setItem(key, mark);
    callback.searchParams.set(parameter, mark);
    return callback.href;
  }

  /** @throws SvcError FORBIDDEN when the page was not reached by a sign-in that began here */
  requireBegun(query: URLSearchParams): void {
    const begun = this.#storage.getItem(key);
    this.#storage.removeItem(key);
    if (begun !== null && begun === query.get(parameter)) return;
    throw new SvcError("FORBIDDEN", "This sign-in was not begun in this browser.", {
      hint: "Begin it with signInSocial, and complete it once, in the same browser.",
    });
  }
}
