import { BASE } from "../api/base";

export function Footer() {
  return (
    <footer class="wide foot">
      <p>
        Every value is signed by the data providers and proved by the contract that stores it. This operator carries
        reports; it can neither make a value nor change one.
      </p>
      <p>
        For programs: <a href={`${BASE}/openapi.json`}>OpenAPI</a>, <a href={`${BASE}/datasets`}>datasets</a>,{" "}
        <a href={`${BASE}/overview`}>overview</a>
      </p>
    </footer>
  );
}
