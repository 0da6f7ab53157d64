// Written by `make protocol` from server/assent/wire. Do not edit.

/** Permissions by request: what the chain would decide, the rules in force, and the answer to an open ask. */
import type { Json, Mode } from "./shapes";

export type Behaviour = "allow" | "ask" | "deny";
export type Scope = "once" | "session" | "project" | "user";

export interface RuleLists {
  allow?: string[];
  ask?: string[];
  deny?: string[];
}

export interface PermissionExplain {
  tool: string;
  input: Json;
  cwd: string;
  mode?: Mode;
  trusted?: boolean;
  rules?: RuleLists;
}

export interface Explained {
  decision: Behaviour;
  step: string;
  reason: string;
  rule?: string;
  /** of a shell command: what would confine it */
  sandbox?: string;
}

export interface PermissionRules {
  cwd: string;
  sessionId?: string;
}

export interface RuleInfo {
  rule: string;
  behaviour: Behaviour;
  /** user, project, local, session, editor, managed, … */
  scope: string;
  file: string;
  /** why it has no effect */
  withheld?: string;
}

export interface Rules {
  rules: RuleInfo[];
}

export interface RemovedRule {
  rule: string;
  behaviour: Behaviour;
  file: string;
}

export interface AddedRule {
  rule: string;
  behaviour: Behaviour;
  scope: "local" | "project" | "session" | "user";
}

export interface PermissionEditRules {
  cwd: string;
  remove?: RemovedRule[];
  add?: AddedRule[];
  sessionId?: string;
}

/** The answer to an ask from any client of the session, whether that client was asked or not. */
export interface PermissionReply {
  askId: string;
  decision: "allow" | "deny";
  scope?: Scope;
  rule?: string;
  message?: string;
}
