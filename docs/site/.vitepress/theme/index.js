import { onContentUpdated } from "vitepress";
import DefaultTheme from "vitepress/theme";
import "./style.css";

/** The devnet's operator in the documents. */
const DEFAULT_OPERATOR = "http://127.0.0.1:8080";

export default {
  extends: DefaultTheme,
  setup() {
    onContentUpdated(nameServingOperator);
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

/** Makes the commands ask the operator that serves this site under `/guide/`, wherever it runs. */
function nameServingOperator() {
  const [, operator] = /^(.*)\/guide\/$/.exec(`${location.origin}${import.meta.env.BASE_URL}`) ?? [];
  const content = document.querySelector(".vp-doc");
  if (!operator || !content) return;
  const texts = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    if (text.data.includes(DEFAULT_OPERATOR)) text.data = text.data.replaceAll(DEFAULT_OPERATOR, operator);
  }
}
