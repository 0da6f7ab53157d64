--- Permission asks: what would happen, and the keys that allow or deny it.
local async = require("assent.async")
local config = require("assent.config")
local corner = require("assent.corner")
local notice = require("assent.notice")
local questions = require("assent.questions")
local reading = require("assent.reading")
local session_store = require("assent.session")

local M = {}

local MOST_LINES = 30

local function put(...)
  return questions.put(...)
end

---@param text string
---@return string[]
local function lines_of(text)
  if text == "" then
    return {}
  end
  return vim.split((text:gsub("\r\n?", "\n"):gsub("\n$", "")), "\n", { plain = true })
end

--- The hunks that an answer would still decide; those decided one by one meanwhile are not asked about any more.
---@param proposal table as it was when the ask came
---@return table[] left
---@return integer decided
local function undecided(proposal)
  for _, known in ipairs(require("assent.review").proposals()) do
    if known.proposalId == proposal.proposalId then
      proposal = known
    end
  end
  local left = vim.tbl_filter(function(hunk)
    return hunk.open ~= false
  end, proposal.hunks)
  return left, #proposal.hunks - #left
end

---@param lines string[]
---@param highlights table<integer, string>
---@param proposal table
local function put_diff(lines, highlights, proposal)
  local left, decided = undecided(proposal)
  if decided > 0 then
    put(lines, highlights, ("%d of %d hunks left to decide"):format(#left, #left + decided), "Comment")
  end
  for _, hunk in ipairs(left) do
    put(lines, highlights, ("@@ line %d"):format(hunk.range.start.line + 1), "Comment")
    for _, line in ipairs(lines_of(hunk.oldText)) do
      put(lines, highlights, "- " .. line, "DiffDelete")
    end
    for _, line in ipairs(lines_of(hunk.newText)) do
      put(lines, highlights, "+ " .. line, "DiffAdd")
    end
  end
end

--- What the ask has to do with a folder that is not trusted.
---@param ask table
---@return string?
local function about_trust(ask)
  local session = session_store.sessions[ask.sessionId]
  local cwd = session and session.cwd
  for _, folder in ipairs(cwd and session_store.status and session_store.status.trust or {}) do
    local path = vim.uri_to_fname(folder.uri)
    if not folder.trusted and (cwd == path or vim.startswith(cwd, path .. "/")) then
      if (ask.reason or ""):find("not trusted", 1, true) then
        return "This folder is not trusted. :Assent trust ends asks like this one"
      elseif #(folder.withheld or {}) > 0 then
        return "This folder is not trusted, so what its own settings allow is asked. :Assent trust ends that"
      end
    end
  end
end

---@param ask table
---@param most integer? how many lines to show at most
---@return string[] lines
---@return table<integer, string> highlights
---@return boolean cut whether lines were left out
function M.render(ask, most)
  local lines, highlights = {}, {}
  local title = ask.title
  if ask.proposal then
    local path = vim.uri_to_fname(ask.proposal.uri)
    local short = vim.fn.fnamemodify(path, ":~:.")
    local named = title:find(vim.fs.basename(path), 1, true) ~= nil
    title = named and ("%s %s"):format(ask.tool, short) or ("%s · %s"):format(title, short)
  end
  local plan = ask.tool == "ExitPlanMode" and type(ask.input.plan) == "string" and ask.input.plan
  if ask.command then
    put(lines, highlights, "$ " .. ask.command.text, "Title")
    -- The title of a command is its beginning, unless somebody found other words for it.
    local beginning = title:gsub("%s*… %(%d+ more characters%)$", ""):match("^Run (.*)$")
    if not (beginning and vim.startswith(ask.command.text, beginning)) then
      put(lines, highlights, title)
    end
    for _, part in ipairs(#ask.command.parts > 1 and ask.command.parts or {}) do
      put(lines, highlights, ("  %s  [%s]"):format(table.concat(part.argv, " "), part.decision), "Comment")
    end
  elseif not plan then
    put(lines, highlights, title, "Title")
  end
  if ask.reason and ask.reason ~= "" then
    put(lines, highlights, ask.reason, "Comment")
  end
  if ask.proposal then
    put_diff(lines, highlights, ask.proposal)
  elseif plan then
    put(lines, highlights, "")
    put(lines, highlights, plan)
  elseif not ask.command then
    for key, value in vim.spairs(ask.input) do
      put(lines, highlights, ("%s: %s"):format(key, type(value) == "string" and value or vim.inspect(value)))
    end
  end
  local cut = most ~= nil and #lines > most
  if most and cut then
    local hidden = #lines - most
    lines = vim.list_slice(lines, 1, most)
    table.insert(lines, ("… %d more lines: d in this window shows them all"):format(hidden))
  end
  local trust = about_trust(ask)
  if trust then
    put(lines, highlights, trust, "Comment")
  end
  local rule = ask.suggestions and ask.suggestions[1]
  if rule then
    put(
      lines,
      highlights,
      ("“session” and “always” allow %s from now on"):format(rule.display or rule.rule),
      "Comment"
    )
  end
  return lines, highlights, cut
end

---@param ask table
---@param whole boolean? where everything about it is shown already
---@return string
function M.footer(ask, whole)
  local keys = { "y once" }
  if ask.tool == "ExitPlanMode" then
    keys = { "y approve the plan", "e approve and accept edits" }
  end
  if ask.suggestions and #ask.suggestions > 0 then
    vim.list_extend(keys, { "s session", "a always" })
  end
  vim.list_extend(keys, { "n deny", "r deny with reason", not whole and "d details" or nil })
  return " " .. table.concat(keys, " · ") .. " "
end

--- Allow with the rule that the ask names, or with one for each command of the line. Elsewhere the user chooses.
---@param ask table
---@param scope "session"|"project"
local function with_rule(ask, scope)
  return function(question)
    local suggestions, known = {}, {}
    for _, each in ipairs(ask.suggestions or {}) do -- one rule may be suggested for several scopes
      local name = each.display or each.rule
      if not known[name] then
        known[name] = true
        table.insert(suggestions, each)
      end
    end
    if #suggestions == 0 then
      return notice.tell("this cannot be allowed for good; answer it once", vim.log.levels.WARN)
    end
    local allow = function(suggestion)
      if suggestion then
        local rule = not suggestion.rules and suggestion.rule or nil
        questions.answer(question, { decision = "allow", scope = scope, rule = rule, rules = suggestion.rules })
      end
    end
    if #suggestions == 1 or suggestions[1].rules then
      return allow(suggestions[1])
    end
    vim.ui.select(suggestions, {
      prompt = scope == "session" and "Allow for this session" or "Allow always in this project",
      kind = "assent",
      format_item = function(item)
        return (item.display or item.rule)
          .. ((item.covers and item.covers ~= "") and ("  (%s)"):format(item.covers) or "")
      end,
    }, allow)
  end
end

--- Everything about the call, in a tab of its own; the corner stays away from it.
---@param ask table
---@param question assent.Question
local function details(ask, question)
  local lines = M.render(ask)
  vim.cmd.tabnew()
  vim.t.assent_details = true
  local bufnr = vim.api.nvim_get_current_buf()
  vim.bo[bufnr].buftype, vim.bo[bufnr].bufhidden = "nofile", "wipe"
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].filetype = ask.proposal and "diff" or ask.tool == "ExitPlanMode" and "markdown" or ""
  vim.wo.winbar = "%#Comment# q goes back · " .. vim.trim(M.footer(ask, true)) .. "%<"
  vim.keymap.set("n", "q", "<Cmd>tabclose<CR>", { buffer = bufnr })
  for key, action in pairs(question.keys) do
    if key ~= "d" then
      vim.keymap.set("n", key, function()
        action(question)
      end, { buffer = bufnr, nowait = true, desc = "Assent: answer" })
    end
  end
  question.leave = function()
    pcall(vim.api.nvim_buf_delete, bufnr, { force = true }) -- its tab goes with it
  end
  local read = reading.new(vim.api.nvim_get_current_win())
  local function look()
    question.cut = not read:done() and question.cut
  end
  question.page = function()
    return vim.api.nvim_get_current_buf() ~= bufnr or read:ends()
  end
  vim.api.nvim_create_autocmd({ "WinScrolled", "CursorMoved" }, { buffer = bufnr, callback = look })
  look()
end

--- Allow, once all of it was shown: in the corner, or where everything about it is.
---@param ask table
---@param allow fun(question: assent.Question)
---@return fun(question: assent.Question)
local function seen(ask, allow)
  return function(question)
    if vim.t.assent_details and question.page then
      return question.page() and allow(question)
    elseif question.cut then
      details(ask, question)
      return notice.tell("not all of this was shown; here it is. The same answer again, at its end, allows it")
    end
    return corner.read(question) and allow(question)
  end
end

local function once(question)
  questions.answer(question, { decision = "allow", scope = "once" })
end

--- Approve a plan, and let its edits land without asking.
local function with_edits(question)
  questions.answer(question, { decision = "allow", scope = "once", mode = "acceptEdits" })
end

local function deny(question)
  questions.answer(question, { decision = "deny" })
end

local function deny_with_reason(question)
  vim.ui.input({ prompt = "Why not? " }, function(reason)
    if reason then
      questions.answer(question, { decision = "deny", message = reason })
    end
  end)
end

--- `assent/permission/ask`: waits until a person answers or the ask is withdrawn.
---@param params table
---@return table
function M.permission(params)
  local lines, highlights, cut = M.render(params, MOST_LINES)
  local allow = seen(params, once)
  local session = session_store.sessions[params.sessionId]
  if session and params.title ~= "" then
    local short = params.title:gsub(vim.pesc(session.cwd .. "/"), "")
    session.activity = short -- a later call of the same message may have been prepared meanwhile
  end
  if config.get().notify and not require("assent").visible() then
    notice.tell("waiting for you (:Assent answer): " .. lines[1])
  end
  return async.await(function(resume)
    questions.add({
      id = params.askId,
      title = params.tool == "ExitPlanMode" and "Assent proposes a plan" or "Assent asks",
      lines = lines,
      highlights = highlights,
      footer = M.footer(params),
      cut = cut,
      render = params.proposal and function()
        return M.render(params, MOST_LINES)
      end or nil,
      keys = {
        y = allow,
        s = seen(params, with_rule(params, "session")),
        a = seen(params, with_rule(params, "project")),
        e = params.tool == "ExitPlanMode" and seen(params, with_edits) or nil,
        n = deny,
        r = deny_with_reason,
        d = function(question)
          details(params, question)
        end,
      },
      quick = {
        yes = { label = params.tool == "ExitPlanMode" and "approve the plan" or "once", run = allow },
        no = { label = "deny", run = deny, unseen = true },
        always = #(params.suggestions or {}) > 0
            and { label = "always", run = seen(params, with_rule(params, "project")) }
          or nil,
      },
      waiting = {},
    }, params.requestId, resume)
  end) or { decision = "deny" }
end

return M
