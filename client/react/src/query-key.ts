/** How queries stand in TanStack's cache: by who asked, by name, by arguments. */
import { type Operation, operationKey } from "@svc/client";

export type SvcQueryKey = readonly ["svc", string | null, string, string];

/** @param user id of the signed-in user: answers of one user are never shown to another */
export const queryKey = (user: string | null, operation: Operation, args: unknown): SvcQueryKey => {
  const key = operationKey(operation, args); // says what is wrong with what is no operation
  return ["svc", user, operation.name, key];
};

/** The part of a name before its last dot: what belongs to one resource. */
export const resourceOf = ({ name }: Pick<Operation, "name">): string => name.slice(0, name.lastIndexOf(".") + 1);
