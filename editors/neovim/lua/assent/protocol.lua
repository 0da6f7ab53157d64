--- The wire's names, mirrored from the server (server/assent/wire); a test compares the two.
local M = {}

M.version = 1

M.requests = {
  session_new = "assent/session/new",
  session_send = "assent/session/send",
  session_interrupt = "assent/session/interrupt",
  session_list = "assent/session/list",
  session_search = "assent/session/search",
  session_attach = "assent/session/attach",
  session_fork = "assent/session/fork",
  session_rename = "assent/session/rename",
  session_delete = "assent/session/delete",
  session_export = "assent/session/export",
  session_close = "assent/session/close",
  session_configure = "assent/session/configure",
  session_rewind = "assent/session/rewind",
  session_retry = "assent/session/retry",
  session_unqueue = "assent/session/unqueue",
  session_context = "assent/session/context",
  session_cost = "assent/session/cost",
  edit_list = "assent/edit/list",
  edit_resolve = "assent/edit/resolve",
  complete = "assent/complete",
  document_read = "assent/document/read",
  trust_get = "assent/trust/get",
  trust_set = "assent/trust/set",
}

M.server_requests = {
  permission_ask = "assent/permission/ask",
  elicit = "assent/elicit",
  editor_query = "assent/editor/query",
  editor_save = "assent/editor/save",
}

M.server_notifications = {
  event = "assent/session/event",
  status = "assent/status",
  withdrawn = "assent/withdrawn",
}

--- Every event the plugin acts on; the others pass by.
M.events = {
  "turnStarted",
  "textDelta",
  "thinkingDelta",
  "toolPreparing",
  "toolStarted",
  "toolProgress",
  "toolFinished",
  "toolSummary",
  "message",
  "tombstone",
  "retrying",
  "compacting",
  "compacted",
  "permissionPending",
  "permissionResolved",
  "elicitationPending",
  "elicitationResolved",
  "editProposed",
  "editUpdated",
  "editResolved",
  "todos",
  "planProposed",
  "usage",
  "status",
  "queued",
  "dequeued",
  "completed",
  "unqueued",
  "notice",
  "turnFinished",
}

M.modes = { "default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "auto" }

return M
