/**
 * Colours for the API's page with the contrast that WCAG requires, where Swagger UI's own have less. Swagger UI sets
 * the background of code inline, hence `!important`.
 */
export const DOCS_STYLE = `.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1a66b3; }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #1b7a4b; }
.swagger-ui .info .title small.version-stamp { background-color: #4c6b00; }
.swagger-ui .info .url, .swagger-ui .info a { color: #1a66b3; }
.swagger-ui .parameter__in { color: #555; }
.swagger-ui pre.microlight { background: #111 !important; }
`;

/**
 * A script that corrects what Swagger UI renders, each time that it renders: landmarks and headings for screen readers,
 * labels of select boxes, no link within a button, and code that the keyboard can scroll.
 */
export const DOCS_SCRIPT = `function correct() {
  const all = (selector) => document.querySelectorAll(selector);
  document.getElementById("swagger-ui").setAttribute("role", "main");
  for (const table of all("table[role=region]")) table.removeAttribute("role");
  for (const tag of all("h3.opblock-tag")) tag.setAttribute("aria-level", "2");
  for (const title of all(".opblock h4")) title.setAttribute("aria-level", "3");
  for (const title of all(".opblock h5")) title.setAttribute("aria-level", "4");
  for (const link of all(".opblock-summary-control a[href]")) link.removeAttribute("href");
  for (const code of all("pre.microlight")) code.tabIndex = 0;
  for (const select of all("select:not([aria-label])")) {
    select.setAttribute("aria-label", select.id === "servers" ? "Server" : "Value");
  }
}
new MutationObserver(correct).observe(document.body, { childList: true, subtree: true });
correct();
`;
