/** Shorthands for definitions in tests. */
import {
  createCrudFactory,
  createSvcHttpRouteBuilders,
  createSvcProcedureBuilders,
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
