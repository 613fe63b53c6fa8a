/** Types from the schema's declaration to the hooks. */
import { expectTypeOf, test } from "vitest";
import {
  queryOptions,
  skip,
  useAuth,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useSuspenseQuery,
  useSvcClient,
} from "../../client/react/src/index.ts";
import type { Mutation } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";

test("a query's data is the operation's result, or not there yet", () => {
  const { data } = useQuery(api.notes.list, { limit: 5 });
  expectTypeOf(data?.total).toEqualTypeOf<number | undefined>();
  expectTypeOf(data?.data[0]?.createdAt).toEqualTypeOf<Date | undefined>();
  expectTypeOf(useSuspenseQuery(api.notes.list).data.total).toEqualTypeOf<number>();
});

test("arguments may be left out, or skipped, where that makes sense", () => {
  useQuery(api.notes.list);
  useQuery(api.notes.get, skip);
  // @ts-expect-error get needs the id
  useQuery(api.notes.get);
  // @ts-expect-error and not as a value that may be missing
  useQuery(api.notes.get, undefined);
  // @ts-expect-error nor does a call without it type-check elsewhere
  useSvcClient().query(api.notes.get, undefined);
  // @ts-expect-error a serial id is a number
  useQuery(api.notes.get, { id: "1" });
  // @ts-expect-error a mutation is no query
  useQuery(api.notes.create, { title: "x" });
});

test("pages are those of a list by cursor, and options have the result's type", () => {
  const { data } = useInfiniteQuery(api.notes.list, { limit: 5 });
  expectTypeOf(data?.pages[0]?.data[0]?.createdAt).toEqualTypeOf<Date | undefined>();
  useInfiniteQuery(api.notes.list);
  useInfiniteQuery(api.notes.list, skip);
  // @ts-expect-error the hook sets the cursor
  useInfiniteQuery(api.notes.list, { cursor: null });
  // @ts-expect-error a row has no pages
  useInfiniteQuery(api.notes.get, { id: 1 });
  const { queryFn } = queryOptions(useSvcClient(), api.notes.list);
  expectTypeOf(queryFn).returns.resolves.toHaveProperty("total").toEqualTypeOf<number>();
  // @ts-expect-error get needs the id
  queryOptions(useSvcClient(), api.notes.get);
});

test("a mutation takes the operation's input, and an optimistic change knows the rows", () => {
  const rename = useMutation(api.notes.update, {
    optimistic(cache, args) {
      expectTypeOf(args.id).toEqualTypeOf<number>();
      cache.updateAll(api.notes.list, (page) => ({ ...page, total: page.total + 1 }));
      // @ts-expect-error a page is not a number
      cache.updateAll(api.notes.list, () => 1);
    },
  });
  rename.mutate({ id: 1, title: "x" });
  // @ts-expect-error the id is required
  rename.mutate({ title: "x" });
  expectTypeOf(rename.data?.title).toEqualTypeOf<string | undefined>();
});

test("a mutation that takes nothing is called with nothing", () => {
  const clear = useMutation(untold);
  clear.mutate();
  clear.mutate(undefined, { onSuccess: (result) => expectTypeOf(result).toEqualTypeOf<{ removed: number }>() });
  clear.mutate({ anything: 1 });
  const list = useMutation(optional);
  list.mutate();
  list.mutateAsync({ limit: 1 });
  // @ts-expect-error not a number
  list.mutate({ limit: "1" });
  // @ts-expect-error create needs the title
  useMutation(api.notes.create).mutate();
});
const untold = { name: "notes.clearDone", kind: "mutation" } as Mutation<unknown, { removed: number }>;
const optional = { name: "notes.some", kind: "mutation" } as Mutation<{ limit: number } | undefined, null>;

test("the state of authentication has no loose ends", () => {
  const { user, token, isAuthenticated } = useAuth();
  expectTypeOf(user).toEqualTypeOf<{ id: string; email: string; name: string } | null>();
  expectTypeOf(token).toEqualTypeOf<string | null>();
  expectTypeOf(isAuthenticated).toEqualTypeOf<boolean>();
});
