/** The frontend's own server. Next hop: `frontend.ts`. */
import { serve } from "./fetch-server.ts";
import { createFrontend } from "./frontend.ts";

const {
  BACKEND_URL = "http://localhost:4000",
  FRONTEND_ORIGIN = "http://localhost:3000",
  BRIDGE_PASSWORD,
  SVC_BRIDGE_SECRET,
} = process.env;

const frontend = createFrontend({
  backendUrl: BACKEND_URL,
  password: BRIDGE_PASSWORD,
  bridgeSecret: SVC_BRIDGE_SECRET,
});
const { url } = await serve(Number(new URL(FRONTEND_ORIGIN).port), frontend);
console.log(`\n  Open ${url}\n`);
