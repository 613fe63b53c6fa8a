/** How each contestant is asked for the same thing, and how its answer is read. */
import type { Contestant } from "../process.ts";
import type { User } from "./setting.ts";

export interface ListArguments {
  filters?: { done: boolean; priority: number };
}

interface Request {
  path: string;
  body: unknown;
}

export interface Side {
  name: string;
  process: Contestant;
  headers(user: User): Record<string, string>;
  list(args: ListArguments): Request;
  update(id: number, title: string): Request;
  remove(id: number): Request;
  /** Ids and total of a list's answer. */
  read(answer: never): { ids: number[]; total: number };
}

interface Page {
  json: { data: { id: number }[]; total: number };
}

const bearer = ({ token }: User) => ({ authorization: `Bearer ${token}` });
const readPage = ({ json }: Page) => ({ ids: json.data.map(({ id }) => id), total: json.total });

export const svcSide = (process: Contestant): Side => ({
  name: "svc",
  process,
  headers: bearer,
  list: (args) => ({ path: "/api/query", body: { name: "items_1e6.list", args } }),
  update: (id, title) => ({ path: "/api/mutation", body: { name: "items_1e6.update", args: { id, title } } }),
  remove: (id) => ({ path: "/api/mutation", body: { name: "items_1e6.remove", args: { id } } }),
  read: readPage,
});

export const drizzleSide = (process: Contestant): Side => ({
  name: "express + drizzle",
  process,
  headers: bearer,
  list: (args) => ({ path: "/list", body: args }),
  update: (id, title) => ({ path: "/update", body: { id, title } }),
  remove: (id) => ({ path: "/remove", body: { id } }),
  read: readPage,
});

const columns = "rowId userId title done priority createdAt updatedAt";
const listQuery = `query ($condition: ItemCondition) {
  allItems(first: 20, orderBy: [CREATED_AT_DESC, ROW_ID_DESC], condition: $condition) { totalCount nodes { ${columns} } }
}`;
const updateQuery = `mutation ($id: Int!, $title: String!) {
  updateItemByRowId(input: { rowId: $id, itemPatch: { title: $title } }) { item { ${columns} } }
}`;
const removeQuery = "mutation ($id: Int!) { deleteItemByRowId(input: { rowId: $id }) { item { rowId } } }";

interface Connection {
  data: { allItems: { totalCount: number; nodes: { rowId: number }[] } };
}

export const postgraphileSide = (process: Contestant): Side => ({
  name: "postgraphile",
  process,
  headers: bearer,
  list: ({ filters }) => ({ path: "/graphql", body: { query: listQuery, variables: { condition: filters } } }),
  update: (id, title) => ({ path: "/graphql", body: { query: updateQuery, variables: { id, title } } }),
  remove: (id) => ({ path: "/graphql", body: { query: removeQuery, variables: { id } } }),
  read: ({ data }: Connection) => ({
    ids: data.allItems.nodes.map(({ rowId }) => rowId),
    total: data.allItems.totalCount,
  }),
});

/** One request. @returns the answer. @throws Error unless it is 200 and, with GraphQL, free of errors */
export async function ask<T>(side: Pick<Side, "process" | "headers">, user: User, request: Request): Promise<T> {
  const response = await fetch(`${side.process.url}${request.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...side.headers(user) },
    body: JSON.stringify(request.body),
  });
  const text = await response.text();
  if (!response.ok || text.startsWith('{"errors"')) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text) as T;
}
