// Written by `make protocol` from server/assent/wire. Do not edit.

/** The wire, as TypeScript. */
export * from "./protocol/asks";
export * from "./protocol/events";
export * from "./protocol/extensions";
export * from "./protocol/methods";
export * from "./protocol/requests";
export * from "./protocol/results";
export * from "./protocol/roster";
export * from "./protocol/rules";
export * from "./protocol/shapes";
