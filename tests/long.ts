/**
 * Test files that take long, because they install packages, stop servers, repeat random cases or read large collections.
 * `npm test` leaves them out; `npm run test:all` runs every file, and is run before a release. Naming a file or a folder
 * runs all of it.
 */
export const long = [
  // the packed product, installed with npm
  "packages/outside",
  "packages/publish",
  "cli/templates",
  // collections of documents and questions
  "documents/corpus",
  "documents/ocr",
  "rag/file",
  "rag/near-misses",
  "rag/scifact",
  "testing/ask-docs",
  // an application that moves, by four commands
  "docs/from-prisma",
  // servers and processes that are killed
  "backup/killed",
  "backup/round-trip",
  "backup/writers",
  "chaos/*",
  "cli/processes-realtime",
  "postgres/cluster",
  "postgres/postmaster-death",
  "postgres/silence",
  "realtime/convergence",
  "realtime/live-convergence",
  "storage/killed-writer",
  "storage/upload-faults",
  "transfer/crash",
  "workers/crashes",
  "workflows/outages",
  // random schemas, inputs and orders
  "auth/plugin-guesses",
  "auth/revocation-property",
  "client/network",
  "codegen/auth-schema",
  "codegen/schema-access-changes",
  "codegen/schema-changes",
  "codegen/schema-identities",
  "codegen/schema-random",
  "crud/injection",
  "security/enumeration",
  // limits of time and memory
  "auth/password-reset",
  "auth/revocation-hearing",
  "http/form-memory",
  "realtime/options",
  "storage/costly-images",
  "storage/image-turns",
  "storage/upload-compose",
  "storage/walks",
  // every command, every page
  "browser/approval",
  "browser/docs",
  "browser/expenses",
  "browser/handbook",
  "browser/site",
  "cli/db-explain",
  "cli/mistakes-in-dev",
  "cli/seed",
  "doors/imports",
  "doors/pages",
  "openapi/lint",
  "security/command-output",
].map((name) => `tests/${name}.test.ts`);
