import { OPERATOR_URL } from "../operator-api";

export function Footer() {
  return (
    <footer class="small quiet">
      <div class="wide">
        <p>
          Every value is signed by data providers and verified by the contract that stores it. This operator only relays
          signed reports: it can neither create nor change a value.
        </p>
        <p>
          For developers: <a href={`${OPERATOR_URL}/openapi.json`}>OpenAPI</a>,{" "}
          <a href={`${OPERATOR_URL}/datasets`}>datasets</a>, <a href={`${OPERATOR_URL}/overview`}>overview</a>,{" "}
          <a href={`${OPERATOR_URL}/alerts`}>alerts</a>
        </p>
      </div>
    </footer>
  );
}
