// Written by `make protocol` from server/assent/wire. Do not edit.

/** The roster: every session of this process, what it is doing, and which asks wait for an answer. */

export interface RosterRequest {
  /** only sessions of this folder */
  cwd?: string;
}

export interface RosterAsk {
  askId: string;
  title: string;
  tool: string;
}

export interface RosterEntry {
  sessionId: string;
  title: string;
  cwd: string;
  state: "finished" | "idle" | "running" | "waiting";
  costUsd: number;
  clients: number;
  asks: RosterAsk[];
}

export interface Roster {
  sessions: RosterEntry[];
}
