/** The methods of the wire by name. A mirror of the server's protocol package; a test compares. */

export const METHODS = {
  sessionNew: "assent/session/new",
  sessionSend: "assent/session/send",
  sessionInterrupt: "assent/session/interrupt",
  sessionUnqueue: "assent/session/unqueue",
  sessionRetry: "assent/session/retry",
  sessionList: "assent/session/list",
  sessionSearch: "assent/session/search",
  sessionAttach: "assent/session/attach",
  sessionFork: "assent/session/fork",
  sessionRename: "assent/session/rename",
  sessionDelete: "assent/session/delete",
  sessionExport: "assent/session/export",
  sessionClose: "assent/session/close",
  sessionConfigure: "assent/session/configure",
  sessionRewind: "assent/session/rewind",
  sessionContext: "assent/session/context",
  sessionCost: "assent/session/cost",
  toolList: "assent/tool/list",
  toolRun: "assent/tool/run",
  editList: "assent/edit/list",
  editResolve: "assent/edit/resolve",
  permissionExplain: "assent/permission/explain",
  complete: "assent/complete",
  documentRead: "assent/document/read",
  trustGet: "assent/trust/get",
  trustSet: "assent/trust/set",
  mcpList: "assent/mcp/list",
  mcpRestart: "assent/mcp/restart",
  agentList: "assent/agent/list",
  commandList: "assent/command/list",
  jobList: "assent/job/list",
  jobKill: "assent/job/kill",
  settingsGet: "assent/settings/get",
  settingsSet: "assent/settings/set",
} as const;

/** Requests the server makes; the editor's UI answers. */
export const SERVER_REQUESTS = {
  permissionAsk: "assent/permission/ask",
  elicit: "assent/elicit",
  editorQuery: "assent/editor/query",
  editorSave: "assent/editor/save",
} as const;

export const NOTIFICATIONS = {
  sessionEvent: "assent/session/event",
  status: "assent/status",
  withdrawn: "assent/withdrawn",
} as const;
