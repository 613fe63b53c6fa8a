/** The builders of the routes: Conduit's own form of errors is 422 with `{ "errors": { field: [message] } }`. */
import { createSvcHttpRouteBuilders, isConflict, type RouteErrors } from "@svc/core";
import type * as schema from "./schema.ts";

const errors: RouteErrors = (error) => {
  const [issue] = error.issues ?? [];
  let field = String(issue?.path.at(-1) ?? "body");
  if (error.code === "EMAIL_TAKEN") field = "email";
  if (isConflict(error, "profiles_username_unique")) field = "username";
  const status = error.status === 400 || error.status === 409 ? 422 : error.status;
  return { status, body: { errors: { [field]: [issue?.message ?? error.message] } } };
};

export const { get, post, put, delete: remove } = createSvcHttpRouteBuilders<typeof schema>({ errors });

/** Reads of everyone. */
export const read = get.allowAnonymous();
