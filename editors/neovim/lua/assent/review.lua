--- Inline review: pending hunks in the real buffer, old lines marked, new ones below them as virtual lines. Nothing is
--- written to the buffer here; accepting asks the server, which edits through the client, on the real undo stack.
local client = require("assent.client")
local config = require("assent.config")
local documents = require("assent.documents")
local files = require("assent.files")
local hunks = require("assent.hunks")
local notice = require("assent.notice")
local panes = require("assent.panes")
local positions = require("assent.positions")
local proposals = require("assent.proposals")
local protocol = require("assent.protocol")
local review_keys = require("assent.review_keys")
local session_store = require("assent.session")
local sight = require("assent.sight")

local M = {}

M.places, M.counts, M.proposals = proposals.places, proposals.counts, proposals.all

local telling = false

--- Tell whoever shows hunks elsewhere, once for many changes.
local function changed()
  if telling then
    return
  end
  telling = true
  vim.schedule(function()
    telling = false
    local data = vim.deepcopy(M.counts())
    pcall(vim.api.nvim_exec_autocmds, "User", { pattern = "AssentHunksChanged", modeline = false, data = data })
    vim.cmd.redrawstatus({ bang = true }) -- it may count them
  end)
end

---@param uri string
---@param fresh boolean? whether a window has just come to show it
function M.redraw(uri, fresh)
  local all = M.places()
  review_keys.keep(#all > 0)
  changed()
  local bufnr = positions.buffer_of(uri)
  if bufnr then
    local here = vim.tbl_filter(function(place)
      return place.uri == uri
    end, all)
    hunks.draw(bufnr, here, fresh)
  end
end

---@param proposal table
---@param session_id string?
function M.put(proposal, session_id)
  local before = proposals.put(proposal, session_id)
  if before and before.uri == proposal.uri and vim.deep_equal(before.hunks, proposal.hunks) then
    return -- typing elsewhere in the file: what is drawn is still right, and drawing it anew costs
  end
  if before and before.uri ~= proposal.uri then
    M.redraw(before.uri)
  end
  M.redraw(proposal.uri)
end

--- What is to be reviewed in a session, as the server knows it.
---@param list table[]
---@param session_id string
function M.load(list, session_id)
  local known = {}
  for _, proposal in ipairs(list) do
    known[proposal.proposalId] = true
  end
  for _, proposal in ipairs(proposals.all()) do
    local id = proposal.proposalId
    if proposals.owner(id) == session_id and not known[id] then
      proposals.drop(id)
      M.redraw(proposal.uri)
    end
  end
  for _, proposal in ipairs(list) do
    M.put(proposal, session_id)
  end
end

--- A file to review that no window shows: show it beside the others, or tell of it. The cursor stays where it is.
---@param uri string
local function bring_up(uri)
  local path = vim.uri_to_fname(uri)
  local bufnr = positions.buffer_of(uri)
  if bufnr and #vim.fn.win_findbuf(bufnr) > 0 then
    return
  end
  if config.get().review.open_files then
    bufnr = files.load(path)
    vim.bo[bufnr].buflisted = true
    local window = panes.file_window()
    local there = vim.api.nvim_win_get_buf(window)
    if vim.api.nvim_buf_get_name(there) == "" and not vim.bo[there].modified then
      vim.api.nvim_win_set_buf(window, bufnr)
    else
      vim.api.nvim_open_win(bufnr, false, { split = "below", win = window })
    end
    M.redraw(uri)
  elseif config.get().notify then
    notice.tell(("an edit to review in %s; :Assent next goes there"):format(vim.fn.fnamemodify(path, ":~:.")))
  end
end

--- Only ranges changed: the hunks stand elsewhere now, and say the same.
---@param event table
local function move(event)
  local proposal = proposals.get(event.proposalId)
  if not proposal then
    return
  end
  local ranges = {}
  for _, moved in ipairs(event.hunks) do
    ranges[moved.hunkId] = moved.range
  end
  local fresh = vim.deepcopy(proposal)
  fresh.version = event.version
  for _, hunk in ipairs(fresh.hunks) do
    hunk.range = ranges[hunk.hunkId] or hunk.range
  end
  M.put(fresh)
end

session_store.listen("review", function(session, event)
  if not session then
    return
  end
  if event.type == "editProposed" then
    M.put(event.proposal, session.id)
    bring_up(event.proposal.uri)
  elseif event.type == "editUpdated" then
    M.put(event.proposal, session.id)
  elseif event.type == "editResolved" then
    M.put(event.proposal, session.id)
  elseif event.type == "editMoved" then
    move(event)
  end
end)

vim.api.nvim_create_autocmd({ "BufReadPost", "BufWinEnter" }, {
  group = vim.api.nvim_create_augroup("assent_review", { clear = true }),
  callback = function(event)
    local uri = M.uri_of(event.buf)
    if uri then
      M.redraw(uri, true)
    end
  end,
})

-- What is drawn fits the windows it is drawn in.
vim.api.nvim_create_autocmd({ "VimResized", "WinResized" }, {
  group = "assent_review",
  callback = function()
    local seen = {}
    for _, place in ipairs(M.places()) do
      if not seen[place.uri] then
        seen[place.uri] = true
        M.redraw(place.uri)
      end
    end
  end,
})

-- Deciding ------------------------------------------------------------------------------------------------------------

--- The document a buffer shows, by the name the server has for it: a link leads to the same file.
---@param bufnr integer
---@return string? uri
function M.uri_of(bufnr)
  bufnr = bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr
  local name = vim.api.nvim_buf_get_name(bufnr)
  if name == "" or vim.bo[bufnr].buftype ~= "" then
    return nil
  end
  local uri = vim.uri_from_fname(name)
  for _, proposal in ipairs(proposals.all()) do
    if proposal.uri ~= uri and positions.buffer_of(proposal.uri) == bufnr then
      return proposal.uri
    end
  end
  return uri
end

---@type { id: string, bufnr: integer, row: integer }? the hunk that was gone to, while the cursor is still there
local at

--- The row the cursor goes to for a hunk.
---@param place assent.Place
---@return integer zero-based
local function row_of(place)
  local bufnr = positions.buffer_of(place.uri)
  local last = bufnr and vim.api.nvim_buf_line_count(bufnr) - 1 or place.hunk.range.start.line
  return math.max(0, math.min(place.hunk.range.start.line, last))
end

--- The hunk at the cursor: on its lines, or on the line it hangs on. Never one the user may not be looking at.
---@return assent.Place?
function M.here()
  local bufnr = vim.api.nvim_get_current_buf()
  local uri = M.uri_of(bufnr)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local found
  for _, place in ipairs(uri and M.places() or {}) do
    local first, last = hunks.span(place.hunk)
    if place.uri == uri and row >= first and row <= last then
      if at and at.id == place.hunk.hunkId and at.bufnr == bufnr and at.row == row then
        return place -- of two on one line, the one gone to
      end
      found = found or place
    end
  end
  return found
end

---@param place assent.Place
---@param decisions table
---@param message string?
function M.resolve(place, decisions, message)
  documents.flush()
  local owner = proposals.owner(place.proposal.proposalId)
  local session = owner and session_store.sessions[owner]
  if session and not (session.connected and client.running()) then
    -- The server was gone: it knows the proposal again once the session is open.
    return require("assent.chat").take_up(owner, function()
      if proposals.get(place.proposal.proposalId) then
        M.resolve(place, decisions, message)
      end
    end)
  end
  client.request(protocol.requests.edit_resolve, {
    proposalId = place.proposal.proposalId,
    decisions = decisions,
    message = message,
  }, function(err)
    if err then
      local fresh = err.data and err.data.proposal
      if fresh then
        M.put(fresh)
      end
      notice.tell(notice.words(err), vim.log.levels.WARN)
    end
  end)
end

--- What deciding about a hunk does.
---@param place assent.Place
---@param message string?
---@return fun(decision: "accept"|"reject", lines: assent.wire.LineChoice?)
local function decider(place, message)
  return function(decision, lines)
    M.resolve(place, { { hunkId = place.hunk.hunkId, decision = decision, lines = lines } }, message)
  end
end

--- Open a hunk in a window of its own, where its old and new lines can be selected.
---@param place assent.Place
---@param message string?
function M.close_up(place, message)
  require("assent.closeup").open(place, decider(place, message))
end

--- Decide about one hunk. One that this window does not show whole is shown instead of accepted.
---@param place assent.Place
---@param decision "accept"|"reject"
---@param window integer that shows its file
---@param message string?
function M.decide_seen(place, decision, window, message)
  local decide = decider(place, message)
  if decision == "reject" then
    return decide("reject")
  end
  if place.hunk.state ~= "pending" or sight.whole(window, place.hunk) then
    return decide("accept")
  end
  if sight.reveal(window, place.hunk) then
    return notice.tell("not all of this hunk was on the screen; here it is. Once more accepts it")
  end
  M.close_up(place, message)
end

---@param decision "accept"|"reject"
---@param scope "hunk"|"file"|"all"
---@param message string?
function M.decide(decision, scope, message)
  if scope == "hunk" then
    local place = M.here()
    if not place then
      local any = #M.places() > 0
      return notice.tell(any and "no hunk is here; :Assent next goes to one" or "there is nothing to review")
    end
    return M.decide_seen(place, decision, vim.api.nvim_get_current_win(), message)
  end
  M.decide_file(decision, scope == "file" and (M.uri_of(0) or "") or nil, message)
end

--- Decide about every hunk of a file, or of all.
---@param decision "accept"|"reject"
---@param uri string? nil: of all
---@param message string?
function M.decide_file(decision, uri, message)
  local seen = {}
  for _, place in ipairs(M.places()) do
    local id = place.proposal.proposalId
    if not seen[id] and (not uri or place.uri == uri) then
      seen[id] = true
      M.resolve(place, { all = decision }, message)
    end
  end
  if vim.tbl_isempty(seen) then
    notice.tell("there is nothing to decide")
  end
end

--- The hunk before or after the cursor: in this file, then in the next, then from the other end.
---@param places assent.Place[]
---@param step 1|-1
---@return assent.Place
local function neighbour(places, step)
  local uri, current = M.uri_of(vim.api.nvim_get_current_buf()) or "", M.here()
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  for offset = 1, #places do
    local index = step == 1 and offset or #places + 1 - offset
    local place = places[index]
    if current and place.hunk.hunkId == current.hunk.hunkId then
      local standing = row_of(place)
      if (standing - row) * step <= 0 then
        return places[index + step] or places[step == 1 and 1 or #places]
      end
      return place -- the cursor is on its lines, but not where one goes to
    end
    local beyond = place.uri == uri and (row_of(place) - row) * step > 0
    if beyond or (place.uri ~= uri and (place.uri > uri) == (step == 1)) then
      return place
    end
  end
  return places[step == 1 and 1 or #places]
end

---@param step 1|-1
function M.go(step)
  local places = M.places()
  if #places == 0 then
    return notice.tell("there is nothing to review")
  end
  local target = neighbour(places, step)
  if target.uri ~= M.uri_of(0) then
    local problem = files.show(vim.uri_to_fname(target.uri))
    if problem then
      return notice.tell(problem, vim.log.levels.WARN)
    end
    M.redraw(target.uri, true)
  else
    vim.cmd("normal! m'")
  end
  local row = math.min(row_of(target), vim.api.nvim_buf_line_count(0) - 1)
  at = { id = target.hunk.hunkId, bufnr = vim.api.nvim_get_current_buf(), row = row }
  vim.api.nvim_win_set_cursor(0, { row + 1, 0 })
  if target.hunk.state == "pending" and not sight.reveal(vim.api.nvim_get_current_win(), target.hunk) then
    M.close_up(target)
  end
end

return M
