/** The server renders the page as for a visitor; the browser then shows who is signed in. */
"use client";

export { App as default } from "../web/app.tsx";
