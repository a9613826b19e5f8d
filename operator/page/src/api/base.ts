/** The operator's base URL: the page lies directly under it. */
export const BASE = new URL(".", location.href.split("#", 1)[0]).href.replace(/\/$/, "");
