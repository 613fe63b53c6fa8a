/** Conduit's clients send `Authorization: Token …`. */
import { defineAuth } from "@svc/core";

export default defineAuth({ schemes: ["Bearer", "Token"] });
