import { defineConfig } from "@svc/core";
export default defineConfig({
  rootDir: "./backend",
  schema: "./backend/schema.ts",
  codegen: { authSchema: true, clientOutDir: "./web/svc" },
  frontendOrigins: ["https://app.example.com"],
  port: 4000,
  storage: { driver: "disk", dir: ".svc/storage" },
  plan: "pro",
});
