// svc.config.ts — everything optional
import { defineConfig } from "@svc/core";
export default defineConfig({
  rootDir: "./backend", // (Default: "./backend")
  schema: "./backend/schema.ts", // string or string[]
  codegen: { authSchema: true, clientOutDir: "./web/svc" },
  frontendOrigins: ["https://app.example.com"], // plus customDomains: [...]; the own origin (AUTHLIB_URL) is added
  port: 4000,
  storage: { driver: "disk", dir: ".svc/storage" }, // or { driver: "s3", bucket, endpoint, region }
  plan: "pro", // "free" | "personal" | "pro"
});
