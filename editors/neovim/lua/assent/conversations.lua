--- Conversations of before: picking one, reading or forking one that another window has open, and going back in this
--- one. What a chat looks like is for `chat`.
local client = require("assent.client")
local notice = require("assent.notice")
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
  return table.concat(parts, " · ")
end

--- Pick one of this project's conversations. Chats in which nothing was said are none.
function M.pick()
  client.request(protocol.requests.session_list, { cwd = client.root() }, function(err, result)
    if err then
      return notice.report(err)
    end
    local said = vim.tbl_filter(function(item)
      return item.turns > 0 or item.running
    end, result.sessions)
    if #said == 0 then
      return notice.tell("no conversations in this project yet; :Assent chat starts one")
    end
    vim.ui.select(said, { prompt = "Conversations", kind = "assent_session", format_item = M.words }, function(choice)
      if choice then
        chat().start({ id = choice.sessionId })
      end
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

--- Everything the user said in a session, the newest first.
---@param id string
---@param done fun(prompts: { id: string, text: string }[])
local function prompts_of(id, done)
  local found, pages = {}, 0
  local function take(page)
    pages = pages + 1
    for index = #(page and page.messages or {}), 1, -1 do
      local text = prompt_of(page.messages[index])
      if text then
        table.insert(found, { id = page.messages[index].id, text = text })
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
    notice.tell(("went back; %d file%s changed%s"):format(files, files == 1 and "" or "s", left))
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
    prompts_of(session.id, function(prompts)
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
