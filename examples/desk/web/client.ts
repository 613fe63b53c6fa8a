/** The page's one client. The hooks of @svc/react find it through the provider. */
import { createAuthClient, createSvcClient } from "@svc/client";
import { api } from "./svc/api.ts";

// Developing, the page comes from Vite and the API from svc; built, both come from svc.
/** Of the service; empty when it is where the page came from. */
export const baseUrl = import.meta.env.DEV ? "http://localhost:4000" : "";
export const client = createSvcClient({ api, baseUrl, auth: createAuthClient(baseUrl) });
