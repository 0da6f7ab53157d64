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
  /** queued: as many turns run as may */
  state: "finished" | "idle" | "queued" | "running" | "waiting";
  costUsd: number;
  clients: number;
  asks: RosterAsk[];
  /** its turn goes on when the last window has gone */
  background?: boolean;
}

export interface Roster {
  sessions: RosterEntry[];
}

/** A session that went on without a window. `epoch` and `afterSeq`: attach with them to get what was missed. */
export interface MissedSession {
  sessionId: string;
  title: string;
  state: "finished" | "interrupted" | "running" | "waiting";
  /** seconds since 1970: when the last window left */
  since: number;
  epoch: string;
  afterSeq: number;
  ask?: string;
  /** the same as one sentence for people */
  text?: string;
}

export interface Missed {
  sessions: MissedSession[];
}
