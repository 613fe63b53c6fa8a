import { defineConfig } from "@svc/core";

export default defineConfig({
  // bench/storage.ts: 100 MiB in one call.
  limits: {
    multipartBytes: 128 * 1024 * 1024,
    requestsPerAddress: false,
    requestsPerUser: false,
    socketsPerAddress: false,
  },
});
