/**
 * Binds a social sign-in to the browser that began it. A code in a URL signs in every visitor who opens the URL. Without this
 * check, an attacker could send a link with a code of the attacker's account, and the visitor would work in that account.
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

  /** @returns the callback URL with a mark that this browser stores */
  begin(callback: URL): string {
    // `randomUUID` is missing on pages over plain HTTP.
    const mark = crypto.getRandomValues(new BigUint64Array(2)).join("-");
    this.#storage.setItem(key, mark);
    callback.searchParams.set(parameter, mark);
    return callback.href;
  }

  /** @throws SvcError FORBIDDEN if the sign-in was not begun in this browser */
  requireBegun(query: URLSearchParams): void {
    const begun = this.#storage.getItem(key);
    this.#storage.removeItem(key);
    if (begun !== null && begun === query.get(parameter)) return;
    throw new SvcError("FORBIDDEN", "This sign-in was not begun in this browser.", {
      hint: "Begin it with signInSocial, and complete it once, in the same browser.",
    });
  }
}
