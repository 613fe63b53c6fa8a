/**
 * Opens or closes an anonymous call to `unsafeDb` and raw SQL, by the allow comments above its definition and above the
 * lines that led to the use.
 */

import { relative } from "node:path";
import type { DefinedAt } from "../contract/defined-at.ts";
import { type CallSite, callSites, traceAbove } from "../kit/call-sites.ts";
import { onePer } from "../kit/one-per.ts";
import { SvcError } from "../kit/svc-error.ts";
import { allowAbove } from "./allow.ts";
import { nodeAt } from "./definitions.ts";
import { remedies } from "./report.ts";

/** Coverage of a definition's lines, cached so that each is read once. */
const coverage = onePer((_: DefinedAt) => new Map<string, boolean>());

/** The gate of one call of an anonymous definition. */
export class Gate {
  isOpen = false;
  refusal: SvcError | undefined;
  readonly #definition: DefinedAt;
  readonly #root: string;
  readonly #production: boolean;

  /** @param root the application's folder, which tests in comments and files in messages are relative to */
  constructor(definition: DefinedAt, root: string, production: boolean) {
    this.#definition = definition;
    this.#root = root;
    this.#production = production;
  }

  open(what: string): void {
    const known = coverage(this.#definition);
    const isDefined = known.get("definition") ?? this.#covers(this.#definition.trace, known);
    known.set("definition", isDefined);
    if (!isDefined && !this.#covers(traceAbove(this.open), known)) throw this.#blocked(`uses ${what}`, remedies.use);
    this.isOpen = true;
  }

  refuseTable(): never {
    throw this.#blocked("names a runtime table in SQL", remedies.table);
  }

  #covers(trace: Error, known: Map<string, boolean>): boolean {
    return callSites(trace).some((site) => {
      const key = Object.values(site).join(":");
      if (!known.has(key)) {
        const place = nodeAt(site);
        known.set(key, place !== undefined && allowAbove(this.#root, place)?.missing.length === 0);
      }
      return known.get(key) === true;
    });
  }

  #blocked(what: string, remedy: string): SvcError {
    const show = ([site]: CallSite[]) => site && `${relative(this.#root, site.path)}:${site.line}:${site.column}`;
    // A statement that Drizzle sends later has no line of the application above it.
    const at = show(callSites(traceAbove(this.open)));
    const defined = show(callSites(this.#definition.trace));
    const reason = `${this.#definition.handler} ${what}${at ? `, at ${at}` : ""}. Anybody may call it: it is defined ${defined ? `at ${defined}` : "in a package"}. ${remedy}`;
    this.refusal = new SvcError("ANONYMOUS_BLOCKED", undefined, {
      cause: new Error(reason),
      ...(!this.#production && { hint: reason }),
    });
    return this.refusal;
  }
}
