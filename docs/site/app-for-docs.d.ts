import type { App } from "@dataset-oracle/service/http-server/app";

/** Calls `ask` with the app of an operator that serves no network and opens no port, with all plugins. */
export declare function withAppForDocs<T>(ask: (app: App) => T | Promise<T>): Promise<T>;
