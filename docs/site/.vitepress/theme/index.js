import DefaultTheme from "vitepress/theme";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp() {
    if (import.meta.env.SSR) return;
    // The first page names everything relative to itself, and its frame stays when another page is shown.
    for (const name of ["href", "src"]) {
      for (const element of document.querySelectorAll(`:is(a, img, link[rel="icon"])[${name}^="."]`)) {
        element.setAttribute(name, element[name]);
      }
    }
  },
};
