import { defineConfig } from "@svc/core";

export default defineConfig({
  // What `npm run build` makes of web/, for `npm start`.
  webDir: "./dist",
  // Vite's server, while developing. It passes on what the page asks of the service.
  frontendOrigins: ["http://localhost:5173"],
});
