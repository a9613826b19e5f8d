import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** The base URL of the block explorer of the network that is shown; null if it has none. */
export const ExplorerContext = createContext<string | null>(null);
export const useExplorer = () => useContext(ExplorerContext);
