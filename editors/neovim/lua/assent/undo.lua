--- Taking back what the last turn did to files, and bringing it back. The conversation stays as it is; to go back in
--- that, too, there is `conversations`.
local client = require("assent.client")
local conversations = require("assent.conversations")
local notice = require("assent.notice")
local positions = require("assent.positions")
local protocol = require("assent.protocol")
local session_store = require("assent.session")
local tally = require("assent.tally")

local M = {}

local MOST_TURNS = 20

---@type table<string, string[]> what brings it back, by session, the newest last
local taken = {}

---@param path string
---@return string
local function text_of(path)
  local bufnr = positions.buffer_of(vim.uri_from_fname(path))
  if bufnr then
    return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n") .. "\n"
  end
  local file = io.open(path, "rb")
  local text = file and file:read("*a") or ""
  if file then
    file:close()
  end
  return text
end

---@param session assent.Session
---@param to string a message, or an earlier rewind
---@param dry boolean
---@param done fun(answer: assent.wire.Rewound)
local function rewind(session, to, dry, done)
  local params = { sessionId = session.id, messageId = to, restore = "code", dryRun = dry }
  client.request(protocol.requests.session_rewind, params, function(err, answer)
    if err then
      return notice.report(err)
    end
    done(answer)
  end)
end

--- Change the files, and give what became of them.
---@param session assent.Session
---@param to string
---@param planned assent.wire.Rewound
---@param done fun(answer: assent.wire.Rewound, before: integer, after: integer) lines that came, lines that went
local function carry_out(session, to, planned, done)
  local before = {}
  for _, file in ipairs(planned.files) do
    before[file.path] = text_of(file.path)
  end
  rewind(session, to, false, function(answer)
    local added, removed = 0, 0
    for _, file in ipairs(answer.files) do
      local came, went = tally.between(before[file.path] or "", text_of(file.path))
      added, removed = added + came, removed + went
    end
    vim.cmd("silent! checktime")
    done(answer, added, removed)
  end)
end

---@param answer assent.wire.Rewound
---@return string
local function left_alone(answer)
  local count = #answer.conflicts
  local left = count == 0 and "" or ("; %d left alone, you changed them"):format(count)
  return #(answer.untracked or {}) == 0 and left or left .. "; not followed: " .. table.concat(answer.untracked, "; ")
end

---@param session assent.Session
local function bring_back(session)
  local stack = taken[session.id] or {}
  local to = stack[#stack]
  if not to then
    return notice.tell("nothing was taken back here")
  end
  rewind(session, to, true, function(planned)
    carry_out(session, to, planned, function(answer, added, removed)
      table.remove(stack)
      notice.tell(("brought back %s%s"):format(tally.words(#answer.files, added, removed), left_alone(answer)))
    end)
  end)
end

---@param session assent.Session
---@param prompts { id: string, text: string }[] the newest first
---@param index integer
local function take_back(session, prompts, index)
  local prompt = prompts[index]
  if not prompt or index > MOST_TURNS then
    return notice.tell("no turn changed a file that could be taken back")
  end
  rewind(session, prompt.id, true, function(planned)
    if #planned.files == 0 and #planned.conflicts == 0 then
      return take_back(session, prompts, index + 1) -- taken back already, or it only talked
    elseif #planned.files == 0 then
      return notice.tell("you changed what that turn wrote; nothing was taken back")
    end
    carry_out(session, prompt.id, planned, function(answer, added, removed)
      taken[session.id] = vim.list_extend(taken[session.id] or {}, { answer.rewindId })
      -- What the turn had added went, and what it had removed came.
      local words = tally.words(#answer.files, removed, added)
      local asked = vim.fn.strcharpart(prompt.text:gsub("%s+", " "), 0, 30)
      notice.tell(("took back %s of “%s”%s; :Assent! undo brings it back"):format(words, asked, left_alone(answer)))
    end)
  end)
end

--- Take back the files of the last turn that changed any; with `again` bring back what was taken last.
---@param again boolean
function M.turn(again)
  session_store.some(function(session)
    if not session then
      return
    elseif session.state ~= "idle" then
      return notice.tell("a turn is running; :Assent stop ends it, then it can be taken back")
    elseif again then
      return bring_back(session)
    end
    conversations.prompts_of(session.id, function(prompts)
      take_back(session, prompts, 1)
    end)
  end)
end

return M
