import type { App } from "@dataset-oracle/service/http-server/app";

/** Calls `ask` with the app of an operator that serves no network and opens no port, with all plugins. */
export declare function withAppForDocs<T>(ask: (app: App) => T | Promise<T>): Promise<T>;

/** Calls `ask` with the app of a provider that answers nothing else and opens no port. */
export declare function withProviderAppForDocs<T>(ask: (app: App) => T | Promise<T>): Promise<T>;

/** Returns the documents that an operator with all plugins and a provider serve at `/openapi.json`. */
export declare function openApiDocuments(): Promise<{ readonly operator: object; readonly provider: object }>;
