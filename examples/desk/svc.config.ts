import { defineConfig } from "@svc/core";

export default defineConfig({
  // What `build.ts` makes of web/.
  webDir: "./dist",
  // Vite's server, while developing.
  frontendOrigins: ["http://localhost:5173"],
});
