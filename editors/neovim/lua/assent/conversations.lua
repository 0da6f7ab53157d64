--- Conversations of before: picking one, reading or forking one that another window has open, and going back in this
--- one. What a chat looks like is for `chat`.
local client = require("assent.client")
local notice = require("assent.notice")
local positions = require("assent.positions")
local protocol = require("assent.protocol")
local session_store = require("assent.session")

local M = {}

local MOST_PAGES = 50

local function chat()
  return require("assent.chat")
end

--- How long ago, in as few words as one needs.
---@param at number|string seconds since 1970, or an ISO date
---@return string
function M.ago(at)
  local seconds = tonumber(at)
  if not seconds then
    return type(at) == "string" and at:sub(1, 10) or ""
  end
  local passed = os.time() - seconds
  if passed < 60 then
    return "just now"
  elseif passed < 3600 then
    return ("%d min ago"):format(passed / 60)
  elseif passed < 86400 then
    return ("%d h ago"):format(passed / 3600)
  end
  return os.date("%Y-%m-%d", math.floor(seconds)) --[[@as string]]
end

--- Tell of conversations that went on while no editor was there to show them.
---@param sessions assent.wire.MissedSession[]
function M.missed(sessions)
  local told = vim.tbl_map(function(each)
    return each.text
  end, sessions)
  notice.tell(table.concat(told, " ") .. " (:Assent sessions opens it)")
end

--- Where words were said, with the words between arrows: a list to pick from shows no colours.
---@param place assent.wire.Snippet
---@return string
local function marked(place)
  local text, at, parts = place.text, 0, {}
  for _, range in ipairs(place.ranges) do
    local first, last = positions.byte(text, range[1]), positions.byte(text, range[2])
    table.insert(parts, text:sub(at + 1, first) .. "›" .. text:sub(first + 1, last) .. "‹")
    at = last
  end
  return table.concat(parts) .. text:sub(at + 1)
end

---@param item table a session as the server lists it
---@return string
function M.words(item)
  local title = vim.trim((item.title or ""):gsub("%s+", " "))
  local parts = {
    title ~= "" and title or "(no title)",
    M.ago(item.updatedAt),
    ("%d turn%s"):format(item.turns, item.turns == 1 and "" or "s"),
    ("$%.2f"):format(item.costUsd),
  }
  if item.running then
    table.insert(parts, "running")
  end
  local place = item.snippets and item.snippets[1]
  if place then
    table.insert(parts, marked(place))
  end
  return table.concat(parts, " · ")
end

--- Pick one of this project's conversations, or of those in which these words were said. Chats in which nothing was
--- said are none.
---@param words string?
function M.pick(words)
  local query = vim.trim(words or "")
  local method = query == "" and protocol.requests.session_list or protocol.requests.session_search
  client.request(method, { cwd = client.root(), query = query ~= "" and query or nil }, function(err, result)
    if err then
      return notice.report(err)
    end
    local said = vim.tbl_filter(function(item)
      return item.turns > 0 or item.running
    end, result.sessions)
    if #said == 0 and query ~= "" then
      return notice.tell("nobody said that in a conversation of this project")
    elseif #said == 0 then
      return notice.tell("no conversations in this project yet; :Assent chat starts one")
    end
    vim.ui.select(said, { prompt = "Conversations", kind = "assent_session", format_item = M.words }, function(choice)
      if choice then
        chat().start({ id = choice.sessionId })
      end
    end)
  end)
end

--- Go on with the conversation of this project that was used last.
function M.continue()
  client.request(protocol.requests.session_list, { cwd = client.root() }, function(err, result)
    if err then
      return notice.report(err)
    end
    for _, item in ipairs(result.sessions) do
      if item.turns > 0 or item.running then
        return chat().start({ id = item.sessionId })
      end
    end
    notice.tell("no conversations in this project yet; :Assent chat starts one")
  end)
end

---@param method string
---@param extra table?
---@param done fun(result: table, session: assent.Session)
local function with_current(method, extra, done)
  local session = session_store.current and session_store.sessions[session_store.current]
  if not session then
    return notice.tell("no conversation is open; :Assent sessions picks one")
  end
  client.request(method, vim.tbl_extend("force", { sessionId = session.id }, extra or {}), function(err, result)
    if err then
      return notice.report(err)
    end
    done(result, session)
  end)
end

--- Go on in a copy; the conversation itself stays as it is.
function M.fork()
  with_current(protocol.requests.session_fork, nil, function(fork)
    chat().start({ id = fork.sessionId }, function()
      notice.tell("this is a copy; the other one is in :Assent sessions")
    end)
  end)
end

---@param title string
function M.rename(title)
  local set = function(given)
    if given and vim.trim(given) ~= "" then
      with_current(protocol.requests.session_rename, { title = vim.trim(given) }, function()
        notice.tell(("this conversation is called “%s”"):format(vim.trim(given)))
      end)
    end
  end
  if title ~= "" then
    return set(title)
  end
  vim.ui.input({ prompt = "Call this conversation: " }, set)
end

--- Delete this conversation for good, once the user says so.
function M.delete()
  local choices = { "Keep it", "Delete it for good" }
  vim.ui.select(choices, { prompt = "This conversation and its edits to review", kind = "assent" }, function(choice)
    if choice ~= choices[2] then
      return
    end
    with_current(protocol.requests.session_delete, nil, function(_, session)
      chat().forget(session.id)
      notice.tell("the conversation is deleted")
    end)
  end)
end

--- Another Neovim or editor has this conversation open: it can be read here, or a copy of it gone on with.
---@param id string
---@param err table
function M.elsewhere(id, err)
  local choices = { "Read it here", "Go on in a copy of it", "Leave it" }
  vim.ui.select(choices, { prompt = notice.words(err), kind = "assent" }, function(choice)
    if choice == choices[1] then
      chat().start({ id = id, read = true })
    elseif choice == choices[2] then
      client.request(protocol.requests.session_fork, { sessionId = id }, function(failed, fork)
        if failed then
          return notice.report(failed)
        end
        local words = chat().words_in_prompt(id)
        chat().start({ id = fork.sessionId }, function(opened)
          chat().give_back(opened, words)
        end)
      end)
    end
  end)
end

---@param message table
---@return string? what the user wrote, if it is from the user
local function prompt_of(message)
  local from_person = message.role == "user" and (not message.kind or message.kind == "queued_message")
  if not from_person or message.meta == true then
    return nil
  end
  local text = require("assent.drawing").text_of(message.content)
  return vim.trim(text) ~= "" and text or nil
end

---@class assent.Said
---@field id string of its message
---@field text string
---@field messages string[] its own id, and those of what followed up to the next one

--- Everything the user said in a session, the newest first.
---@param id string
---@param done fun(prompts: assent.Said[])
function M.prompts_of(id, done)
  local found, pages, followed = {}, 0, {}
  local function take(page)
    pages = pages + 1
    for index = #(page and page.messages or {}), 1, -1 do
      local message = page.messages[index]
      local text = prompt_of(message)
      if not message.parentToolUseId and message.role ~= "system" then
        table.insert(followed, message.id)
      end
      if text then
        table.insert(found, { id = message.id, text = text, messages = followed })
        followed = {}
      end
    end
    if page and page.nextCursor and pages < MOST_PAGES then
      return session_store.page(id, page.nextCursor, take)
    end
    done(found)
  end
  session_store.page(id, nil, take)
end

---@param session assent.Session
---@param prompt { id: string, text: string }
---@param what "both"|"conversation"|"code"
local function go_back(session, prompt, what)
  local params = { sessionId = session.id, messageId = prompt.id, restore = what }
  client.request(protocol.requests.session_rewind, params, function(err, result)
    if err then
      return notice.report(err)
    end
    vim.cmd("silent! checktime")
    local files, conflicts = #(result.files or {}), #(result.conflicts or {})
    local left = conflicts > 0 and ("; %d left alone, you changed them"):format(conflicts) or ""
    local unseen = #(result.untracked or {}) > 0 and "; not followed: " .. table.concat(result.untracked, "; ") or ""
    notice.tell(("went back; %d file%s changed%s%s"):format(files, files == 1 and "" or "s", left, unseen))
    chat().start({ id = session.id }, function(opened)
      if what ~= "code" then
        chat().give_back(opened, { prompt.text })
      end
    end)
  end)
end

--- Take back the conversation, the code, or both, to before something the user said. Its words are in the prompt again.
function M.rewind()
  session_store.some(function(session)
    if not session then
      return
    end
    if session.state ~= "idle" then
      return notice.tell("a turn is running; :Assent stop ends it, then you can go back")
    end
    M.prompts_of(session.id, function(prompts)
      if #prompts == 0 then
        return notice.tell("nothing was said yet")
      end
      local options = {
        prompt = "Go back to before",
        format_item = function(prompt)
          return vim.fn.strcharpart(prompt.text:gsub("%s+", " "), 0, 80)
        end,
      }
      vim.ui.select(prompts, options, function(prompt)
        if not prompt then
          return
        end
        vim.ui.select({ "both", "conversation", "code" }, { prompt = "Take back" }, function(what)
          if what then
            go_back(session, prompt, what)
          end
        end)
      end)
    end)
  end)
end

return M
