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
local protocol = require("assent.protocol")
local session_store = require("assent.session")

local M = {}

local MARKED = { pending = true, landed = true, conflict = true }

---@type table<string, table> by proposalId
local proposals = {}
---@type table<string, string> the session of each, by proposalId
local owners = {}

---@class assent.Place
---@field proposal table
---@field hunk table
---@field index integer
---@field uri string

---@return assent.Place[]
function M.places()
  local found = {}
  for _, proposal in pairs(proposals) do
    for index, hunk in ipairs(proposal.hunks) do
      if MARKED[hunk.state] then
        table.insert(found, { proposal = proposal, hunk = hunk, index = index, uri = proposal.uri })
      end
    end
  end
  table.sort(found, function(a, b)
    if a.uri ~= b.uri then
      return a.uri < b.uri
    end
    return a.hunk.range.start.line < b.hunk.range.start.line
  end)
  return found
end

---@return integer
function M.pending()
  return #vim.tbl_filter(function(place)
    return place.hunk.state == "pending"
  end, M.places())
end

---@param uri string
function M.redraw(uri)
  local all = M.places()
  if #all == 0 then
    hunks.release()
  end
  local bufnr = positions.buffer_of(uri)
  if bufnr then
    hunks.draw(
      bufnr,
      vim.tbl_filter(function(place)
        return place.uri == uri
      end, all)
    )
  end
end

---@param proposal table
---@param session_id string?
function M.put(proposal, session_id)
  local before = proposals[proposal.proposalId]
  proposals[proposal.proposalId] = proposal
  owners[proposal.proposalId] = session_id or owners[proposal.proposalId]
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
  for id, proposal in pairs(proposals) do
    if owners[id] == session_id and not known[id] then
      proposals[id] = nil
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
    local proposal = proposals[event.proposalId]
    if proposal then
      local decided = {}
      for _, decision in ipairs(event.decisions or {}) do
        decided[decision.hunkId] = decision.state or decision.decision
      end
      for _, hunk in ipairs(proposal.hunks) do
        if decided[hunk.hunkId] then
          hunk.state = ({ accept = "accepted", reject = "rejected", edit = "edited" })[decided[hunk.hunkId]]
            or decided[hunk.hunkId]
        end
      end
      M.redraw(proposal.uri)
    end
  end
end)

vim.api.nvim_create_autocmd({ "BufReadPost", "BufWinEnter" }, {
  group = vim.api.nvim_create_augroup("assent_review", { clear = true }),
  callback = function(event)
    local name = vim.api.nvim_buf_get_name(event.buf)
    if name ~= "" and vim.bo[event.buf].buftype == "" then
      M.redraw(vim.uri_from_fname(name))
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

--- The hunk at the cursor: on its lines, or on the line it hangs on. Never one the user may not be looking at.
---@return assent.Place?
function M.here()
  local name = vim.api.nvim_buf_get_name(0)
  if name == "" then
    return nil
  end
  local uri = vim.uri_from_fname(name)
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  for _, place in ipairs(M.places()) do
    local first, last = hunks.span(place.hunk)
    if place.uri == uri and row >= first and row <= last then
      return place
    end
  end
end

---@param place assent.Place
---@param decisions table
---@param message string?
local function resolve(place, decisions, message)
  documents.flush()
  local owner = owners[place.proposal.proposalId]
  local session = owner and session_store.sessions[owner]
  if session and not (session.connected and client.running()) then
    -- The server was gone: it knows the proposal again once the session is open.
    return require("assent.chat").take_up(owner, function()
      if proposals[place.proposal.proposalId] then
        resolve(place, decisions, message)
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

---@param decision "accept"|"reject"
---@param scope "hunk"|"file"|"all"
---@param message string?
function M.decide(decision, scope, message)
  if scope == "hunk" then
    local place = M.here()
    if not place then
      return notice.tell("no hunk is here; :Assent next goes to one")
    end
    return resolve(place, { { hunkId = place.hunk.hunkId, decision = decision } }, message)
  end
  local here = vim.uri_from_fname(vim.api.nvim_buf_get_name(0))
  local seen = {}
  for _, place in ipairs(M.places()) do
    local id = place.proposal.proposalId
    if not seen[id] and (scope == "all" or place.uri == here) then
      seen[id] = true
      resolve(place, { all = decision }, message)
    end
  end
  if vim.tbl_isempty(seen) then
    notice.tell("there is nothing to decide")
  end
end

--- Change the new text of a hunk before it lands: a small buffer whose :w accepts.
function M.edit()
  local place = M.here()
  if not place or place.hunk.state ~= "pending" then
    return notice.tell("no pending hunk is here")
  end
  local filetype = vim.bo.filetype
  local lines = hunks.lines(place.hunk.newText)
  vim.cmd(("belowright %dsplit"):format(math.min(#lines + 2, 15)))
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_win_set_buf(0, bufnr)
  vim.bo[bufnr].buftype = "acwrite"
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].filetype = filetype
  vim.api.nvim_buf_set_name(bufnr, "assent://hunk/" .. place.hunk.hunkId)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modified = false
  vim.wo.winbar = "%#Comment# :w accepts your version · :q leaves it pending"
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = bufnr,
    callback = function()
      local ending = place.hunk.newText:sub(-1) == "\n" and "\n" or ""
      local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n") .. ending
      vim.bo[bufnr].modified = false
      resolve(place, { { hunkId = place.hunk.hunkId, decision = "edit", newText = text } })
      vim.schedule(function()
        pcall(vim.api.nvim_win_close, vim.fn.bufwinid(bufnr), true)
      end)
    end,
  })
end

---@param step 1|-1
function M.go(step)
  local places = M.places()
  if #places == 0 then
    return notice.tell("there is nothing to review")
  end
  local name = vim.api.nvim_buf_get_name(0)
  local here = name ~= "" and vim.uri_from_fname(name) or ""
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local target
  for index = 1, #places do
    local place = places[step == 1 and index or #places + 1 - index]
    local line = place.hunk.range.start.line
    if place.uri == here and ((step == 1 and line > row) or (step == -1 and line < row)) then
      target = place
      break
    end
  end
  if not target then
    for index = 1, #places do
      local place = places[step == 1 and index or #places + 1 - index]
      if (step == 1 and place.uri > here) or (step == -1 and place.uri < here) then
        target = place
        break
      end
    end
  end
  target = target or places[step == 1 and 1 or #places]
  if target.uri ~= here then
    vim.api.nvim_set_current_win(panes.file_window())
    vim.cmd.edit(vim.fn.fnameescape(vim.uri_to_fname(target.uri)))
  end
  local last = vim.api.nvim_buf_line_count(0)
  vim.api.nvim_win_set_cursor(0, { math.min(target.hunk.range.start.line + 1, last), 0 })
end

--- All hunks, across files, in the quickfix list.
function M.list()
  local items = {}
  for _, place in ipairs(M.places()) do
    table.insert(items, {
      filename = vim.uri_to_fname(place.uri),
      lnum = place.hunk.range.start.line + 1,
      text = ("[%s] -%d +%d  %s"):format(
        place.hunk.state,
        #hunks.lines(place.hunk.oldText),
        #hunks.lines(place.hunk.newText),
        hunks.lines(place.hunk.newText)[1] or ""
      ),
    })
  end
  if #items == 0 then
    return notice.tell("there is nothing to review")
  end
  vim.fn.setqflist({}, " ", { title = "Assent: hunks to review", items = items })
  vim.cmd.copen()
end

--- The file beside itself with every pending hunk taken, as a diff.
function M.diff()
  local place = M.here()
  if not place then
    return notice.tell("no hunk is here; :Assent next goes to one")
  end
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  local filetype = vim.bo.filetype
  local taken = vim.tbl_filter(function(each)
    return each.proposal.proposalId == place.proposal.proposalId and each.hunk.state == "pending"
  end, M.places())
  for index = #taken, 1, -1 do
    local hunk = taken[index].hunk
    local first = hunk.range.start.line
    for _ = 1, #hunks.lines(hunk.oldText) do
      table.remove(lines, first + 1)
    end
    for offset, line in ipairs(hunks.lines(hunk.newText)) do
      table.insert(lines, first + offset, line)
    end
  end
  local original = vim.api.nvim_get_current_win()
  vim.cmd.diffthis()
  vim.cmd.vnew()
  local bufnr = vim.api.nvim_get_current_buf()
  vim.bo[bufnr].buftype, vim.bo[bufnr].bufhidden, vim.bo[bufnr].filetype = "nofile", "wipe", filetype
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.wo.winbar = "%#Comment# with every hunk taken · q closes"
  vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = bufnr })
  vim.cmd.diffthis()
  M.redraw(place.uri) -- there is less room now
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    callback = function()
      if vim.api.nvim_win_is_valid(original) then
        vim.api.nvim_win_call(original, vim.cmd.diffoff)
      end
    end,
  })
end

return M
