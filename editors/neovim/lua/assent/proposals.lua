--- Edits that the server has proposed, and the places of their hunks. A status line counts them with every key, so the
--- places are worked out once for each change and not for each question. Draws nothing, sends nothing.
local hunks = require("assent.hunks")

local M = {}

---@type table<string, table> by proposalId
local proposals = {}
---@type table<string, string> the session of each, by proposalId
local owners = {}
---@type assent.Place[]? nil when a proposal has changed since they were worked out
local places
---@type assent.Counts?
local counts

---@class assent.Place
---@field proposal table
---@field hunk table
---@field index integer
---@field uri string

---@class assent.Counts
---@field hunks integer that wait for a decision
---@field files integer that they are in
---@field landed integer hunks that are in the text and can still be taken back

---@param id string
---@return table?
function M.get(id)
  return proposals[id]
end

---@param id string
---@return string? session
function M.owner(id)
  return owners[id]
end

--- Every proposal that is known, decided or not.
---@return table[]
function M.all()
  return vim.tbl_values(proposals)
end

---@param proposal table
---@param session_id string? nil: of the session it was of
---@return table? before what was known of it
function M.put(proposal, session_id)
  local id = proposal.proposalId
  local before = proposals[id]
  proposals[id] = proposal
  owners[id] = session_id or owners[id]
  places, counts = nil, nil
  return before
end

---@param id string
function M.drop(id)
  proposals[id], owners[id] = nil, nil
  places, counts = nil, nil
end

--- Every hunk that can be decided, by file and line. The list is shared: nobody changes it.
---@return assent.Place[]
function M.places()
  if places then
    return places
  end
  local found = {}
  for _, proposal in pairs(proposals) do
    for index, hunk in ipairs(proposal.hunks) do
      if hunk.open then -- the server says what can still be decided
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
  places = found
  return found
end

---@return assent.Counts shared: nobody changes it
function M.counts()
  if counts then
    return counts
  end
  local found, seen = { hunks = 0, files = 0, landed = 0 }, {}
  for _, place in ipairs(M.places()) do
    if hunks.in_text(place.hunk) then
      found.landed = found.landed + 1
    else
      found.hunks = found.hunks + 1
      found.files = found.files + (seen[place.uri] and 0 or 1)
      seen[place.uri] = true
    end
  end
  counts = found
  return found
end

return M
