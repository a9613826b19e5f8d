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
    for (const name of ["href", "src"]) {
      for (const element of document.querySelectorAll(`:is(a, img, link[rel="icon"])[${name}^="."]`)) {
        element.setAttribute(name, element[name]);
      }
    }
  },
};
