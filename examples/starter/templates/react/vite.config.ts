import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// `svc dev` says where the service answers, and which port of svc.config.ts the page has.
const { PORT, SVC_URL = "" } = process.env;
const service = { target: SVC_URL, ws: true };

export default defineConfig({
  root: "web",
  plugins: [react()],
  // The service's Content-Security-Policy allows no inline script.
  build: { outDir: "../dist", emptyOutDir: true, modulePreload: { polyfill: false } },
  server: { port: Number(PORT), strictPort: true, proxy: { "/api": service, "/ws": service } },
});
