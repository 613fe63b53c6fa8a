import { defineConfig } from "@svc/core";

export default defineConfig({
  // bench/storage.ts: 100 MiB in one call.
  limits: {
    multipartBytes: 128 * 1024 * 1024,
    requestsPerAddress: false,
    requestsPerUser: false,
    socketsPerAddress: false,
    // bench/auth.ts: one person signs in as often as the machine can.
    passwordsPerAccount: false,
    passwordsPerAddress: false,
  },
});
