/**
 * Creates a span for each statement that a pool's connections run inside a span. `src/postgres/pools.ts` calls it if
 * tracing is on; otherwise connections stay unchanged.
 *
 * The span's name has the operation and its target, as far as the text shows them in a form that no value can have. The text
 * itself is not exported: the application may have written values into it. Nor are parameters and the messages of errors.
 */
import { AsyncResource } from "node:async_hooks";
import type pg from "pg";
import { activeSpan, errorType, type Span } from "./span.ts";

/** Our own statements that are sent with another one, or are not interesting. */
const silent = /^svc_(begin_|enter|role_|ping)/;

/** @param pool its connections must be created later @param name of the database */
export function traceQueries(pool: pg.Pool, name: string): void {
  // A waiting caller is called back by the code that released a connection: do not run in that code's span.
  const connect = pool.connect.bind(pool) as (call?: (...values: unknown[]) => void) => Promise<pg.PoolClient>;
  pool.connect = ((call?: (...values: unknown[]) => void) =>
    call ? connect(AsyncResource.bind(call)) : connect()) as typeof pool.connect;
  pool.on("connect", (client) => traceClient(client, name));
}

function traceClient(client: pg.PoolClient, name: string): void {
  const query = client.query.bind(client) as (...values: unknown[]) => unknown;
  client.query = ((...values: unknown[]) => {
    const active = activeSpan();
    const config = values[0] as string | { name?: string; text?: string } | undefined;
    const text = typeof config === "string" ? config : config?.text;
    const isSilent = typeof config === "object" && config?.name !== undefined && silent.test(config.name);
    if (!active?.sampled || text === undefined || isSilent) return query(...values);
    const { summary, operation, target, procedure } = describeStatement(text);
    const span = active.child(summary, "client", {
      "db.system.name": "postgresql",
      "db.namespace": name,
      "db.query.summary": summary,
      "db.operation.name": operation,
      ...(target && { "db.collection.name": target }),
      ...(procedure && { "db.stored_procedure.name": procedure }),
      ...(active.takesText && { "db.query.text": text }),
    });
    return watch(query, values, span);
  }) as typeof client.query;
}

/** Ends the span with the statement. */
function watch(query: (...values: unknown[]) => unknown, values: unknown[], span: Span): unknown {
  const last = values.at(-1);
  if (typeof last === "function") {
    const call = AsyncResource.bind(last as (error: unknown, result: unknown) => void);
    return query(...values.slice(0, -1), (error: unknown, result: unknown) => {
      end(span, error);
      call(error, result);
    });
  }
  const answer = query(...values);
  if (answer instanceof Promise) return untilEnd(answer, span);
  span.end(); // a stream of the driver: its reader decides when it ends
  return answer;
}

/** Awaits it in the caller's chain: beside it, the stack of an error would not reach the handler. */
async function untilEnd(answer: Promise<unknown>, span: Span): Promise<unknown> {
  try {
    const result = await answer;
    end(span, null);
    return result;
  } catch (error) {
    end(span, error);
    throw error;
  }
}

function end(span: Span, error: unknown): void {
  if (error) {
    const type = errorType(error);
    if (/^[0-9A-Z]{5}$/.test(type)) span.set({ "db.response.status_code": type });
    span.fail(type);
  }
  span.end();
}

const name = '"?([A-Za-z_][\\w$]*)"?(?:\\."?([A-Za-z_][\\w$]*)"?)?';
const targets: Record<string, RegExp> = {
  SELECT: new RegExp(`\\bfrom\\s+${name}`, "i"),
  INSERT: new RegExp(`^\\s*insert\\s+into\\s+${name}`, "i"),
  UPDATE: new RegExp(`^\\s*update\\s+(?:only\\s+)?${name}`, "i"),
  DELETE: new RegExp(`^\\s*delete\\s+from\\s+(?:only\\s+)?${name}`, "i"),
};
const call = /^\s*select\s+(?:\*\s+from\s+)?(?:svc\.carry_trace\(\$\d+\),\s*)?(svc(?:_private|_crud)?\.[a-z_0-9]+)\(/;

interface StatementName {
  /** The operation and its target. */
  summary: string;
  operation: string;
  target?: string;
  procedure?: string;
}

const known = new Map<string, StatementName>();
const mostKnown = 500;

/** @returns names only: identifiers at places where only an identifier can be */
export function describeStatement(text: string): StatementName {
  let found = known.get(text);
  if (!found) {
    found = describe(withoutValues(text.slice(0, 2_000)));
    if (known.size >= mostKnown) known.clear();
    if (text.length <= 2_000) known.set(text, found);
  }
  return found;
}

/** Text that may contain "from somebody" but is not a statement: strings, to their end or that of the text, and comments. */
const quoted = /"(?:[^"]|"")*"?|'(?:[^']|'')*'?|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

/** Strings with backslash escapes and dollar-quoted strings are rare: for such a text only its first word is used. */
function withoutValues(text: string): string {
  if (/\\|\$\w*\$/.test(text)) return /^\s*[a-z]+/i.exec(text)?.[0] ?? "";
  return text.replace(quoted, (part) => (part.startsWith('"') ? part : ""));
}

function describe(text: string): StatementName {
  const operation = /^\s*([a-z]{1,20})\b/i.exec(text)?.[1]?.toUpperCase() ?? "SQL";
  const procedure = call.exec(text)?.[1];
  if (procedure) return { summary: `${operation} ${procedure}`, operation, procedure };
  const [, first, second] = targets[operation]?.exec(text) ?? [];
  if (!first) return { summary: operation, operation };
  const target = second ? `${first}.${second}` : first;
  return { summary: `${operation} ${target}`, operation, target };
}
