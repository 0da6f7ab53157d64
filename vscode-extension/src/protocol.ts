/**
 * The wire, as TypeScript: a mirror of the server's protocol package and nothing else, split as that package is.
 *
 * Interfaces carry the names and fields of the server's structs; a test reads these files and compares.
 * Keep them declarative: one interface per shape, tables of methods, no code.
 */
export * from "./protocol/asks";
export * from "./protocol/events";
export * from "./protocol/methods";
export * from "./protocol/requests";
export * from "./protocol/results";
export * from "./protocol/shapes";
