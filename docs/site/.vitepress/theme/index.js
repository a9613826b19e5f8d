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
    // The HTML of the first page has relative addresses, and its navigation stays when the address changes.
    for (const name of ["href", "src"]) {
      for (const element of document.querySelectorAll(`:is(a, img, link[rel="icon"])[${name}^="."]`)) {
        element.setAttribute(name, element[name]);
      }
    }
  },
};
