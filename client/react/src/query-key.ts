/** Keys of queries in TanStack's cache: user, name, arguments. */
import { type Operation, operationKey } from "@svc/client";

export type SvcQueryKey = readonly ["svc", string | null, string, string];

/** @param user id of the signed-in user: answers of one user are never shown to another */
export const queryKey = (user: string | null, operation: Operation, args: unknown): SvcQueryKey => {
  const key = operationKey(operation, args); // throws an explanation for anything but an operation
  return ["svc", user, operation.name, key];
};

/** The part of a name before its last dot: the resource. */
export const resourceOf = ({ name }: Pick<Operation, "name">): string => name.slice(0, name.lastIndexOf(".") + 1);
