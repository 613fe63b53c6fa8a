/** The page begins: puts the application into the document. Next hop: `app.tsx`. */
import { SvcProvider } from "@svc/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { client } from "./client.ts";
import { Announcer } from "./parts/announcer.tsx";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/layout.css";
import "./styles/lists.css";
import "./styles/attachments.css";
import "./styles/documents.css";
import "./styles/expenses.css";
import "./styles/live.css";

const place = document.getElementById("app");
if (!place) throw new Error("index.html has no element with the id app.");
createRoot(place).render(
  <StrictMode>
    <SvcProvider apiClient={client}>
      <Announcer>
        <App />
      </Announcer>
    </SvcProvider>
  </StrictMode>,
);
