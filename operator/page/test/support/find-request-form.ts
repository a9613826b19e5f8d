import type { Page } from "playwright-core";

/** The form that requests an update, and what is inside it. */
export const formOf = (page: Page) => page.getByRole("region", { name: "Request a fresh value" });
