/** Sends GraphQL requests as a user, over HTTP. */
import { type Answer, bearer, type TestService, type User } from "../support/service.ts";

export interface GraphqlAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: of many shapes
  data: any;
  // biome-ignore lint/suspicious/noExplicitAny: of many shapes
  errors: any[];
  headers: Headers;
}

export const asker =
  (app: TestService) =>
  async (user: User | null, query: string, variables?: Record<string, unknown>): Promise<GraphqlAnswer> =>
    parts(
      await app.fetch("/api/graphql", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/graphql-response+json",
          ...bearer(user),
        },
        body: JSON.stringify({ query, variables }),
      }),
    );

export const parts = ({ status, body, headers }: Answer): GraphqlAnswer => ({
  status,
  data: body.data,
  errors: body.errors ?? [],
  headers,
});
