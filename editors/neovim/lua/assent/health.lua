--- `:checkhealth assent`.
local M = {}

--- Neovim before 0.10 had other names for the same functions.
local function too_old()
  local old = vim.health or require("health")
  local start, failed = old.start or old.report_start, old.error or old.report_error
  start("Assent")
  failed(vim.g.assent_too_old or "Assent needs Neovim 0.10 or later", { "Update Neovim" })
end

function M.check()
  if vim.fn.has("nvim-0.10") == 0 then
    return too_old()
  end
  local health = vim.health
  health.start("Assent")
  health.ok("Neovim " .. tostring(vim.version()))
  local config = require("assent.config")
  local problem = config.problem()
  if problem then
    return health.error(problem)
  end
  local command = require("assent.client").command()
  if not command then
    return health.error(("%s was not found outside this project"):format(config.get().cmd[1]), {
      "Install Assent: pip install assent-lsp",
      "or set vim.g.assent = { cmd = { '/path/to/assent', 'serve', '--stdio' } }",
    })
  end
  health.ok("server: " .. command[1])
  local program = {}
  for _, word in ipairs(command) do
    if word == "serve" then
      break
    end
    table.insert(program, word)
  end
  vim.list_extend(program, { "doctor", "--json", "--cwd", vim.fn.getcwd() })
  local programs = require("assent.programs")
  local place = { text = true, timeout = 20000, cwd = programs.NEUTRAL, env = programs.environment() }
  local done = vim.system(program, place):wait()
  local ok, findings = pcall(vim.json.decode, done.stdout or "")
  if not ok then
    return health.error("`assent doctor` does not answer: " .. vim.trim(done.stderr or ""))
  end
  for _, finding in ipairs(findings) do
    local text = ("%s: %s"):format(finding.name, finding.text)
    local advice = finding.fix ~= "" and { finding.fix } or nil
    if finding.state == "ok" then
      health.ok(text)
    elseif finding.state == "note" then
      health.info(text .. (advice and (" (%s)"):format(finding.fix) or ""))
    else
      health.error(text, advice)
    end
  end
  local running = require("assent.client").running()
  health.info(running and "the server is running" or "the server is not running; it starts with the first :Assent")
end

return M
