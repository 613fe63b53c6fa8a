import { defineConfig } from "@svc/core";

export default defineConfig({
  limits: { requestsPerAddress: false, requestsPerUser: false },
  // Three APIs and three workers, and each asks PgBouncer for its connections and not PostgreSQL.
  pool: { request: 10, system: 4, auth: 4 },
});
