--- `:Assent agents`: agents and commands that run or ran, and the agents that can be started.
local notice = require("assent.notice")
local protocol = require("assent.protocol")
local view = require("assent.view")

local FOLLOWED = { job = true, toolStarted = true, toolFinished = true, turnFinished = true }

---@param agent assent.wire.AgentRun
---@return assent.Row
local function run_row(agent)
  local where = agent.background and "  in the background" or ""
  local cost = ("%d tokens  $%.2f"):format(agent.tokens or 0, agent.costUsd or 0)
  local text = ("%-9s %s  %s%s"):format(agent.state or "", agent.title or agent.name, cost, where)
  return { text = text, dim = agent.state ~= "running", data = { agent = agent } }
end

---@param job assent.wire.JobInfo
---@return assent.Row
local function job_row(job)
  local code = job.exitCode and ("  exit code %d"):format(job.exitCode) or ""
  local first = vim.split(job.command, "\n", { plain = true })
  local waited = job.foreground and "  a turn waits for it" or ""
  local text = ("%-9s $ %s%s%s"):format(job.state, first[1], code, waited)
  return { text = text, folded = vim.list_slice(first, 2), dim = job.state ~= "running", data = { job = job } }
end

---@param definition assent.wire.AgentDefinition
---@return assent.Row
local function definition_row(definition)
  local text = ("%-9s %s"):format("defined", definition.name)
  local more = definition.withheld and { definition.withheld } or definition.ignored
  local about = vim.split(definition.description, "\n", { plain = true })
  table.insert(about, definition.source)
  local dim = definition.withheld ~= nil
  return { text = text, more = more, folded = about, file = view.path_of(definition.source), dim = dim, data = {} }
end

--- A file that defines no agent: `/path/file.md:3: why`.
---@param problem string
---@return assent.Row
local function problem_row(problem)
  local source, why = problem:match("^(.-%.md:?%d*): (.*)$")
  local text = ("%-9s %s"):format("not used", source and vim.fs.basename(source) or problem)
  return { text = text, more = { why }, folded = { source }, file = view.path_of(source), dim = true, data = {} }
end

---@param done fun(rows: assent.Row[])
local function load(done)
  local about = view.about()
  view.request(protocol.requests.agent_list, about, function(agents)
    view.request(protocol.requests.job_list, { sessionId = about.sessionId }, function(jobs)
      local rows = vim.tbl_map(
        run_row,
        vim.tbl_filter(function(agent)
          return agent.agentId ~= nil
        end, agents.agents)
      )
      vim.list_extend(rows, vim.tbl_map(job_row, jobs.jobs))
      vim.list_extend(rows, vim.tbl_map(definition_row, agents.definitions or {}))
      done(vim.list_extend(rows, vim.tbl_map(problem_row, agents.problems or {})))
    end)
  end)
end

return {
  name = "agents",
  empty = "No agents have run, and none are defined.",
  load = load,
  follows = function(event, params)
    return params.parentToolUseId ~= nil or FOLLOWED[event.type] == true
  end,
  keys = {
    ["<CR>"] = {
      label = "open",
      run = function(row)
        if row.data.agent then
          return require("assent.agent_text").open(view.about().sessionId, row.data.agent)
        end
        view.open_file(row)
      end,
    },
    x = {
      label = "stop",
      run = function(row, shown)
        local refresh = function()
          view.refresh(shown)
        end
        if row.data.job then
          local params = view.about({ jobId = row.data.job.jobId })
          params.cwd = nil
          return view.request(protocol.requests.job_kill, params, refresh)
        elseif row.data.agent then
          local params = { sessionId = view.about().sessionId, agentId = row.data.agent.agentId }
          return view.request(protocol.requests.agent_stop, params, refresh)
        end
        notice.tell("this one is not running")
      end,
    },
    b = {
      label = "to the background",
      run = function(row, shown)
        local at = row.data.agent and row.data.agent.parentToolUseId
          or row.data.job and row.data.job.foreground and row.data.job.toolUseId
        if not at then
          return notice.tell("this one does not run in the foreground")
        end
        local params = { sessionId = view.about().sessionId, toolUseId = at }
        view.request(protocol.requests.job_background, params, function()
          view.refresh(shown)
        end)
      end,
    },
    f = {
      label = "wait for it again",
      run = function(row, shown)
        local agent, job = row.data.agent, row.data.job
        local id = agent and agent.background and agent.agentId or job and not job.foreground and job.jobId
        if not id then
          return notice.tell("this one does not run in the background")
        end
        local params = { sessionId = view.about().sessionId, jobId = id }
        view.request(protocol.requests.job_foreground, params, function()
          view.refresh(shown)
        end)
      end,
    },
  },
}
