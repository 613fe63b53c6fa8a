import { defineConfig } from "@svc/core";

export default defineConfig({
  // Next's server, while developing. It passes on what the page asks of the service.
  frontendOrigins: ["http://localhost:3000"],
});
