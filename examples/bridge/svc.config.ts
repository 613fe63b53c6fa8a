import { defineConfig } from "@svc/core";

export default defineConfig({
  port: 4000,
  // Whose pages may call this backend. Everything else about CORS follows from it.
  frontendOrigins: [process.env.FRONTEND_ORIGIN ?? "http://localhost:3000"],
  codegen: { clientOutDir: "./frontend/browser/svc" },
});
