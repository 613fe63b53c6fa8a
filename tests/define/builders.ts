/** Shorthands for definitions in tests. */
import { expect } from "vitest";
import {
  createCrudFactory,
  createSvcHttpRouteBuilders,
  createSvcProcedureBuilders,
  DefinitionError,
  defineApi,
  openRls,
  v,
} from "../../src/index.ts";

export const procedure = createSvcProcedureBuilders();
export const httpRoute = createSvcHttpRouteBuilders();
export const createCrud = createCrudFactory(procedure);
export const ask = (name: string) => procedure.query.name(name).handler(() => 1);
export const at = (path: string, verb: "get" | "post" = "get") => httpRoute[verb].path(path).handler(() => ({}));
export const open = () => openRls({ read: "anyone", write: "nobody" });
export const schema = v.object({});
// Authors of JavaScript, and of import cycles, bypass the types.
export const api = (bags: object) => defineApi(bags as Parameters<typeof defineApi>[0]);

export type Mistake = [what: string, make: () => unknown, message: string, hint?: string];

/** That making something fails, with this message and what to write instead. */
export function expectTold(make: () => unknown, message: string, hint?: string): void {
  let error: unknown;
  try {
    make();
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(DefinitionError);
  expect((error as DefinitionError).message).toBe(hint ? `${message}\n  ${hint}` : message);
  expect((error as DefinitionError).hint).toBe(hint);
}
