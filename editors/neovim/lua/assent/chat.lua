--- The chats: for each session a Markdown buffer that streams, and a prompt below it. How events look in it is for
--- `drawing`, its windows are for `panes`.
local config = require("assent.config")
local documents = require("assent.documents")
local drawing = require("assent.drawing")
local panes = require("assent.panes")
local session_store = require("assent.session")
require("assent.progress")
local transcript = require("assent.transcript")

local M = {}

local MOST_PAGES = 50

---@type table<string, assent.Chat>
local chats = {}

---@param id string
---@return assent.Chat?
function M.of(id)
  return chats[id]
end

---@param bufnr integer
---@return assent.Chat?
function M.of_buffer(bufnr)
  for _, chat in pairs(chats) do
    if chat.bufnr == bufnr or chat.prompt == bufnr then
      return chat
    end
  end
end

---@param chat assent.Chat?
---@return boolean whether its text is still there; :bdelete takes it away
local function whole(chat)
  return chat ~= nil and vim.api.nvim_buf_is_loaded(chat.bufnr) and vim.api.nvim_buf_is_loaded(chat.prompt)
end

---@param chat assent.Chat
local function map_keys(chat)
  local keys = config.get().keys
  local map = function(mode, key, bufnr, action, description)
    if key then
      vim.keymap.set(mode, key, action, { buffer = bufnr, desc = "Assent: " .. description, nowait = true })
    end
  end
  local send = function()
    M.submit(chat)
  end
  local stop = function()
    M.stop(chat.id)
  end
  map("n", keys.send, chat.prompt, send, "send")
  map("i", keys.send_insert, chat.prompt, send, "send")
  for _, bufnr in ipairs({ chat.bufnr, chat.prompt }) do
    map("n", keys.stop, bufnr, stop, "stop the turn")
    map("n", keys.close, bufnr, function()
      panes.close(chat)
    end, "close the chat")
  end
  local search = function(flags)
    return function()
      vim.fn.search([[^## \(You\|Assent\)$]], flags)
    end
  end
  map("n", keys.next_message, chat.bufnr, search("W"), "next message")
  map("n", keys.prev_message, chat.bufnr, search("bW"), "previous message")
  local code = require("assent.code_blocks")
  map("n", keys.yank_code, chat.bufnr, code.yank, "yank the code block")
  map("n", keys.insert_code, chat.bufnr, code.insert, "insert the code block into the file")
  map({ "n", "i" }, keys.paste_image, chat.prompt, function()
    require("assent.attachments").paste(chat)
  end, "paste the picture in the clipboard")
  require("assent.history").map(chat.prompt)
  map("n", keys.open_reference, chat.bufnr, function()
    require("assent.references").open(session_store.get(chat.id).cwd)
  end, "open the reference under the cursor")
  for _, key in ipairs({ "@", "/" }) do
    vim.keymap.set("i", key, function()
      local before = vim.api.nvim_get_current_line():sub(1, vim.fn.col(".") - 1)
      local begins = require("assent.completion").begins(key, vim.fn.line("."), before)
      return begins and key .. "<C-x><C-o>" or key
    end, { buffer = chat.prompt, expr = true, desc = "Assent: complete" })
  end
end

---@param id string
---@return assent.Chat
local function make(id)
  local chat = chats[id]
  if whole(chat) then
    return chat
  end
  for _, left in ipairs(chat and { chat.bufnr, chat.prompt } or {}) do
    pcall(vim.api.nvim_buf_delete, left, { force = true })
    require("assent.code_blocks").forget(left)
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, "assent://chat/" .. id)
  vim.bo[bufnr].bufhidden = "hide"
  vim.bo[bufnr].undolevels = -1
  -- Not "markdown": plugins that make Markdown pretty would hide parts of commands and paths, and tree-sitter parses a
  -- long text anew for every piece that streams in. The syntax file looks at what is on the screen only.
  vim.bo[bufnr].filetype = "assent"
  vim.bo[bufnr].syntax = "markdown"
  transcript.colour(bufnr)
  vim.bo[bufnr].modifiable = false
  vim.b[bufnr].assent_session = id
  local prompt = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(prompt, "assent://prompt/" .. id)
  vim.bo[prompt].bufhidden = "hide"
  vim.bo[prompt].filetype = "assent_prompt"
  vim.bo[prompt].omnifunc = "v:lua.require'assent.completion'.omnifunc"
  vim.b[prompt].assent_session = id
  chat = {
    id = id,
    bufnr = bufnr,
    prompt = prompt,
    text = transcript.new(bufnr),
  }
  drawing.begin(chat)
  chats[id] = chat
  map_keys(chat)
  panes.follow(chat)
  require("assent.completion").keep_off(prompt)
  documents.attach_prompt(prompt)
  return chat
end

--- Events that came while the history before them was not drawn yet.
---@param chat assent.Chat
local function release(chat)
  local held = chat.held or {}
  chat.held = nil
  for _, each in ipairs(held) do
    drawing.event(chat, each.event, each.parentToolUseId)
  end
end

--- Draw the history that an attach gave, all pages of it. Events that come meanwhile are drawn after it.
---@param chat assent.Chat
---@param answer table
---@param done fun()
local function replay(chat, answer, done)
  local pages, interrupted = { answer.messages }, answer.interrupted
  chat.held = {}
  local draw_all = function()
    drawing.begin(chat)
    chat.text:anew(function()
      drawing.pages(chat, pages)
      if #answer.todos > 0 then
        drawing.event(chat, { type = "todos", items = answer.todos })
      end
      for _, ask in ipairs(answer.pendingAsks) do
        drawing.event(chat, vim.tbl_extend("force", ask, { type = "permissionPending" }))
      end
      for _, question in ipairs(answer.pendingElicits) do
        drawing.event(chat, vim.tbl_extend("force", question, { type = "elicitationPending" }))
      end
      for _, id in ipairs(answer.queued or {}) do
        drawing.event(chat, { type = "queued", clientMessageId = id })
      end
      if answer.readOnly then
        local why = answer.readOnlyReason or "Another window has this conversation open: here it can only be read."
        drawing.note(chat, "*" .. why .. "*")
      end
      if interrupted then
        drawing.note(chat, "*The last turn was cut short. `:Assent retry` sends it again.*")
      end
    end)
    release(chat)
    done()
  end
  local function older(cursor)
    if not cursor or #pages >= MOST_PAGES then
      return draw_all()
    end
    session_store.page(chat.id, cursor, function(page)
      if not page then
        return draw_all()
      end
      table.insert(pages, page.messages)
      older(page.nextCursor)
    end)
  end
  older(answer.nextCursor)
end

--- Take up a session: its text if we do not have it, its proposals, and events from here on.
---@param id string
---@param callback fun(session: assent.Session, chat: assent.Chat)
---@param options { afresh: boolean?, read: boolean?, failed: fun()? }? afresh: all of its text, not only what is new
local function attach(id, callback, options)
  options = options or {}
  local afresh = options.afresh or not whole(chats[id])
  session_store.attach(id, function(session, answer)
    if not session or not answer then
      if chats[id] then
        release(chats[id])
      end
      return options.failed and options.failed()
    end
    local chat = make(id)
    documents.attach_prompt(chat.prompt)
    local done = function()
      require("assent.review").load(answer.proposals or {}, id)
      callback(session, chat)
    end
    if not answer.reset then
      return done()
    end
    replay(chat, answer, done)
  end, { afresh = afresh, read = options.read })
end

M.take_up = attach

--- A conversation is no more: its windows and words go.
---@param id string
function M.forget(id)
  local chat = chats[id]
  if chat then
    panes.close(chat)
    pcall(vim.api.nvim_buf_delete, chat.bufnr, { force = true })
    pcall(vim.api.nvim_buf_delete, chat.prompt, { force = true })
    chats[id] = nil
  end
  require("assent.review").load({}, id)
  session_store.sessions[id] = nil
  if session_store.current == id then
    session_store.current = nil
  end
end

--- Show the chat, or take it off the screen.
function M.toggle()
  local chat = session_store.current and chats[session_store.current]
  if chat and panes.shown(chat) then
    return panes.close(chat)
  end
  M.start()
end

--- The chat of the current session, of a new one, or of the one named.
---@param options { id: string?, new: boolean?, layout: string?, read: boolean? }? read: without owning it
---@param callback fun(chat: assent.Chat)?
function M.start(options, callback)
  options = options or {}
  local done = function(session)
    if not session then
      return
    end
    local chat = make(session.id)
    session_store.current = session.id
    panes.open(chat, options.layout)
    if callback then
      callback(chat)
    end
  end
  local id = options.id or (not options.new and session_store.current) or nil
  if not id then
    return options.new and session_store.new(nil, done) or session_store.first(done)
  end
  local known = session_store.sessions[id]
  if known and session_store.ready(known) and whole(chats[id]) then
    return done(known)
  end
  attach(id, done, { read = options.read })
end

session_store.listen("chat", function(session, event, params)
  if not session then
    for id, chat in pairs(chats) do
      if event.type == "reconnected" then
        attach(id, function() end)
      else
        drawing.note(chat, "*The server is gone. Send again, or `:Assent chat`, to go on.*")
      end
    end
    return
  end
  local chat = chats[session.id]
  if not chat then
    return
  end
  if event.type == "tombstone" and event.reason == "rewind" and not chat.held then
    -- Prompts, calls, headings and notes go, and others may come back: the server knows which.
    chat.held = {}
    return attach(session.id, function() end, { afresh = true })
  end
  if chat.held then
    return table.insert(chat.held, params)
  end
  drawing.event(chat, event, params.parentToolUseId)
  local did = event.type == "turnFinished" and require("assent.tally").turn(params.turnId)
  if did then
    drawing.note(chat, ("› %s · `:Assent undo` takes it back"):format(did))
  end
end)

--- Put words back into the prompt, before what stands there.
---@param chat assent.Chat
---@param texts string[]
function M.give_back(chat, texts)
  local lines = {}
  for _, text in ipairs(texts) do
    vim.list_extend(lines, vim.split(text, "\n", { plain = true }))
  end
  if #lines == 0 or not vim.api.nvim_buf_is_loaded(chat.prompt) then
    return
  end
  local there = vim.api.nvim_buf_get_lines(chat.prompt, 0, -1, false)
  if vim.trim(table.concat(there)) ~= "" then
    vim.list_extend(lines, there)
  end
  vim.api.nvim_buf_set_lines(chat.prompt, 0, -1, false, lines)
end

--- What stands in the prompt of a session, if it has one here.
---@param id string
---@return string[]
function M.words_in_prompt(id)
  local chat = chats[id]
  if not chat or not vim.api.nvim_buf_is_loaded(chat.prompt) then
    return {}
  end
  local text = table.concat(vim.api.nvim_buf_get_lines(chat.prompt, 0, -1, false), "\n")
  return vim.trim(text) ~= "" and { text } or {}
end

--- Stop the turn. Messages that waited for it are not sent later unasked: they are in the prompt again.
---@param id string
function M.stop(id)
  session_store.interrupt(session_store.get(id), function(prompts)
    if chats[id] then
      M.give_back(chats[id], vim.tbl_map(drawing.text_of, prompts))
    end
  end)
end

--- Send what stands in the prompt.
---@param chat assent.Chat
function M.submit(chat)
  local text = vim.trim(table.concat(vim.api.nvim_buf_get_lines(chat.prompt, 0, -1, false), "\n"))
  if text == "" then
    return
  end
  vim.cmd.stopinsert()
  require("assent.history").leave(chat.prompt)
  vim.api.nvim_buf_set_lines(chat.prompt, 0, -1, false, { "" })
  panes.all_to_end(chat)
  local session = session_store.get(chat.id)
  local failed = function()
    M.give_back(chat, { text })
  end
  local send = function()
    require("assent.attachments").compose(chat.id, text, function(prompt, mentions)
      local busy = session.state ~= "idle"
      local options = { whenBusy = busy and "steer" or nil, mentions = mentions }
      session_store.send(session, prompt, options, function(err)
        if err then
          failed()
        end
      end)
    end)
  end
  if session_store.ready(session) then
    return send()
  end
  attach(chat.id, send, { failed = failed })
end

return M
