import "uplot/dist/uPlot.min.css";
import "./style/tokens.css";
import "./style/base.css";
import "./style/layout.css";
import "./style/controls.css";
import "./style/data.css";
import { render } from "preact";
import { App } from "./app";

const root = document.getElementById("page");
if (root) render(<App />, root);
