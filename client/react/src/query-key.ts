/** Keys of queries in TanStack's cache: user, name, arguments. */
import { type Operation, operationKey } from "@svc/client";

export type SvcQueryKey = readonly ["svc", string | null, string, string];

/** @param user id of the signed-in user: answers of one user are never shown to another */
export const queryKey = (user: string | null, operation: Operation, args: unknown): SvcQueryKey => {
  const key = operationKey(operation, args); // throws an explanation for anything but an operation
  return ["svc", user, operation.name, key];
};

/** Of the pages of a list. It begins like the key of a query, so that what refetches or forgets queries finds it too. */
export const infiniteQueryKey = (user: string | null, operation: Operation, args: unknown) =>
  [...queryKey(user, operation, args), "pages"] as const;

export const hasPages = (key: readonly unknown[]): boolean => key[4] === "pages";

/** The part of a name before its last dot: the resource. */
export const resourceOf = ({ name }: Pick<Operation, "name">): string => name.slice(0, name.lastIndexOf(".") + 1);
