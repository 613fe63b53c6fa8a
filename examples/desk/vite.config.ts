/** How the page is built into `dist/`, which the service sends. `build.ts` runs it when something has changed. */
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  root: "web",
  plugins: [react()],
  // The service's Content-Security-Policy allows no inline script: nothing here may write one.
  build: { outDir: "../dist", emptyOutDir: true, modulePreload: { polyfill: false } },
  server: { strictPort: true },
});
