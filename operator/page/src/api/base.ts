/** The operator's base URL. The page is served directly under it. */
export const BASE = new URL(".", location.href.split("#", 1)[0]).href.replace(/\/$/, "");
