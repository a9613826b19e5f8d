import { onContentUpdated } from "vitepress";
import DefaultTheme from "vitepress/theme";
import { replaceDevnetAddresses } from "./replace-devnet-addresses.js";
import "./style.css";

export default {
  extends: DefaultTheme,
  setup() {
    onContentUpdated(replaceDevnetAddresses);
  },
  enhanceApp() {
    if (import.meta.env.SSR) return;
    // The built HTML has relative URLs. The navigation is not rendered again when the page changes, so they are made
    // absolute.
    for (const name of ["href", "src"] as const) {
      const selector = `:is(a, img, link[rel="icon"])[${name}^="."]`;
      for (const element of document.querySelectorAll<HTMLElement & { href: string; src: string }>(selector)) {
        element.setAttribute(name, element[name]);
      }
    }
  },
};
