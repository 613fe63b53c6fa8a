/** How people sign in: e-mail and password. */
import { defineAuth } from "@svc/core";

export default defineAuth({});
