import type { OpenAPI3 } from "openapi-typescript";

/** Returns the documents that an operator with all plugins and a provider serve at `/openapi.json`. */
export declare function openApiDocuments(): Promise<{ readonly operator: OpenAPI3; readonly provider: OpenAPI3 }>;
