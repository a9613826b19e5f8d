import { BASE } from "../api/base";

export function Footer() {
  return (
    <footer class="wide foot">
      <p>
        Every value is signed by data providers and verified by the contract that stores it. This operator only relays
        signed reports: it can neither create nor change a value.
      </p>
      <p>
        For developers: <a href={`${BASE}/openapi.json`}>OpenAPI</a>, <a href={`${BASE}/datasets`}>datasets</a>,{" "}
        <a href={`${BASE}/overview`}>overview</a>
      </p>
    </footer>
  );
}
