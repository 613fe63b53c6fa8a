import { defineConfig } from "@svc/core";

export default defineConfig({
  // What `npm run build` makes of web/, for `npm start`.
  webDir: "./dist",
  // Vite's server, while developing.
  frontendOrigins: ["http://localhost:5173"],
});
