/** Builders with the fixture's tables, and helpers to inspect their types. */
import {
  createCrudFactory,
  createSvcHttpRouteBuilders,
  createSvcProcedureBuilders,
  type Procedure,
} from "../../src/index.ts";
import type * as schema from "../fixture/backend/schema.ts";

export const procedure = createSvcProcedureBuilders<typeof schema>();
export const httpRoute = createSvcHttpRouteBuilders<typeof schema>();
export const createCrud = createCrudFactory(procedure);

/** The types of a finished procedure. */
export type TypesOf<P> = P extends Procedure<infer T> ? T : never;
export type Note = {
  id: number;
  userId: string;
  title: string;
  done: boolean;
  priority: number;
  createdAt: Date;
  updatedAt: Date;
};
