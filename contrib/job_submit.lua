--[[
job_submit.lua: the project of a job, checked where no user can go around it.

The checks of gpuledger.so run in srun, sbatch and salloc, which a user can
avoid (slurmrestd, a private plugstack.conf, scrontab). slurmctld runs this for
every submission. It reads the project that the plugin sent along, asks the
allow-list by user and by account, and writes what passed into admin_comment,
which slurmdbd keeps with the job and which its owner cannot change:

    gpuledger: project=NAME source=SOURCE labels=KEY=VALUE,KEY=VALUE

(docs/formats/admin-comment.md, docs/formats/projects.md).

With settings.limits it warns or refuses new jobs that ask for GPUs, where a budget
of their account or project is spent (docs/formats/limits.md). A file that is
missing, too old or damaged says nothing: the job passes.

Alone: copy it beside slurm.conf under this name and set JobSubmitPlugins=lua.
With a script of your own: copy it under another name and, in yours,

    local gpuledger = dofile ("/etc/slurm/gpuledger.lua")
    function slurm_job_submit (job_desc, part_list, submit_uid)
        local rc = gpuledger.submit (job_desc)
        if rc ~= slurm.SUCCESS then return rc end
        ...

Nothing here raises an error: a fault of ours is logged and the job passes.
]]

local settings = {
    -- allow-list, the same file as the plugin's projects=; nil: any project
    projects = "/etc/gpuledger/projects",
    -- off: write admin_comment only; warn: and tell the user; require: refuse
    policy = "require",
    -- what budgets say, the file of `gpuledger budget --output-limits`; nil:
    -- nothing (docs/formats/limits.md)
    limits = nil,
    -- as policy.wckey_is_project of gpuledger.yaml, for limits
    wckey_is_project = false,
}

-- How long a list that was read is believed, in seconds: a change takes effect
-- within this time, and a burst of submissions reads it once.
local LIST_LIFETIME = 10
local LIST_MAX = 1024 * 1024

local OPTION = "_SLURM_SPANK_OPTION_gpuledger_"
local PROJECT = OPTION .. "gpu_project"
local LABELS = OPTION .. "gpu_label"
local PREFIX = "gpuledger: project="
local SOURCES = { option = true, environment = true, inherited = true }

local gpuledger = { settings = settings }

-- 1-64 of A-Z a-z 0-9 . _ -, the first a letter or digit
local function is_tag (text)
    return type (text) == "string" and #text <= 64
        and text:find ("^[A-Za-z0-9][A-Za-z0-9._-]*$") ~= nil
end

-- at most 8 pairs KEY=VALUE of tags, 512 bytes, no key twice
local function are_labels (text)
    if type (text) ~= "string" or #text == 0 or #text > 512 then
        return false
    end
    local seen, pairs_found = {}, 0
    for pair in (text .. ","):gmatch ("([^,]*),") do
        local key, value = pair:match ("^([^=]*)=([^=]*)$")
        if not is_tag (key) or not is_tag (value) or seen[key] then
            return false
        end
        seen[key] = true
        pairs_found = pairs_found + 1
    end
    return pairs_found <= 8
end

-- "NAME=VALUE" texts, as slurmctld holds them, into a table
local function variables_of (job_desc)
    local found = {}
    for _, text in pairs (job_desc.spank_job_env or {}) do
        local name, value = tostring (text):match ("^([^=]*)=(.*)$")
        if name then
            found[name] = value
        end
    end
    return found
end

-- one line of the list: name, and the words that limit it, or nil
local function parse_line (line)
    local words = {}
    for word in line:gsub ("#.*", ""):gmatch ("%S+") do
        words[#words + 1] = word
    end
    local name = table.remove (words, 1)
    if name == nil then
        return nil
    end
    if not is_tag (name) then
        error ("the first word is no project name", 0)
    end
    local entry = { name = name, anyone = #words == 0, allowed = {} }
    for _, word in ipairs (words) do
        entry.allowed[word] = true
    end
    return entry
end

local function read_list (path)
    local file = assert (io.open (path, "r"))
    local text = file:read (LIST_MAX + 1) or ""
    file:close ()
    if #text > LIST_MAX then
        error (path .. ": larger than 1 MiB", 0)
    end
    local list, number = {}, 0
    for line in (text .. "\n"):gmatch ("([^\n]*)\n") do
        number = number + 1
        local good, entry = pcall (parse_line, line)
        if not good then
            error (path .. ":" .. number .. ": " .. entry, 0)
        end
        list[#list + 1] = entry
    end
    return list
end

local cache = { time = 0 }
local function current_list ()
    local now = os.time ()
    if cache.path ~= settings.projects or now < cache.time
        or now - cache.time >= LIST_LIFETIME then
        cache = { path = settings.projects, time = now,
                  list = read_list (settings.projects) }
    end
    return cache.list
end

local function may_use (entry, user, account)
    return entry.anyone or entry.allowed[user]
        or (account ~= nil and entry.allowed["account:" .. account])
end

-- whether the project is known, and the names of those that are the user's
local function ask (project, user, account)
    if settings.projects == nil then
        return project ~= nil, {}
    end
    local known, yours = false, {}
    for _, entry in ipairs (current_list ()) do
        if may_use (entry, user, account) then
            yours[#yours + 1] = entry.name
            known = known or entry.name == project
        end
    end
    return known, yours
end

local function tell (format, ...)
    slurm.log_user ("gpuledger: " .. format:format (...))
end

local function yours_text (yours)
    if settings.projects == nil then
        return ""
    elseif #yours == 0 then
        return "; you have none"
    end
    local text = table.concat (yours, ", ")
    if #text > 1000 then
        text = text:sub (1, 1000):gsub ("[^,]*$", "") .. " ..."
    end
    return "; yours are: " .. text
end

-- what to do with a job whose project is not known: status for Slurm
local function complain (project, malformed, yours)
    if settings.policy == "off" then
        return slurm.SUCCESS
    end
    if malformed then
        tell ("--gpu-project: not a project name%s", yours_text (yours))
    elseif project then
        tell ("unknown project '%s'%s", project, yours_text (yours))
    else
        tell ("no project given: use --gpu-project=NAME or set "
              .. "GPULEDGER_PROJECT%s", yours_text (yours))
    end
    return settings.policy == "require" and slurm.ERROR or slurm.SUCCESS
end

local function comment_of (variables, project)
    local comment = PREFIX .. project
    local source = variables.GPULEDGER_SOURCE
    if SOURCES[source] then
        comment = comment .. " source=" .. source
    end
    if are_labels (variables[LABELS]) then
        comment = comment .. " labels=" .. variables[LABELS]
    end
    return comment
end

-- What stood there before (an earlier step of the site's own script) stays,
-- behind ours.
local function write_comment (job_desc, comment)
    local before = job_desc.admin_comment
    if before ~= nil and before ~= "" then
        comment = comment .. "; " .. before
    end
    job_desc.admin_comment = comment
end

local function user_of (job)
    return job.user_name or tostring (job.user_id)
end

local function submit (job_desc)
    local variables = variables_of (job_desc)
    local sent = variables[PROJECT]
    local project = is_tag (sent) and sent or nil
    local account = job_desc.account or job_desc.default_account
    local known, yours = ask (project, user_of (job_desc), account)
    if not known then
        return complain (project, sent ~= nil and project == nil, yours)
    end
    write_comment (job_desc, comment_of (variables, project))
    return slurm.SUCCESS
end

-- A pending job that moves to another account must be allowed there too.
local function modify (job_desc, job_rec)
    local comment = job_rec.admin_comment or ""
    local project = comment:match ("^gpuledger: project=([A-Za-z0-9._-]+)")
    if job_desc.account == nil or project == nil then
        return slurm.SUCCESS
    end
    local known, yours = ask (project, user_of (job_rec), job_desc.account)
    if known then
        return slurm.SUCCESS
    end
    return complain (project, false, yours)
end

-- whose jobs a limit is about: an account's, a project's, an account's without a tag
local SCOPES = { account = true, project = true, untagged = true }

-- one line of the file of limits, into the table
local function take_limit (limits, line)
    local action, scope, name, text
        = line:match ("^(%l+) (%l+) ([^%s%c]+) ([^%c]+)$")
    if (action ~= "warn" and action ~= "refuse")
        or not SCOPES[scope] then
        error ("not a limit: " .. line:sub (1, 60), 0)
    end
    local known = limits[scope][name]
    if known == nil or (known.action == "warn" and action == "refuse") then
        limits[scope][name] = { action = action, text = text }
    end
    limits.count = limits.count + 1
end

-- whole, of this version, and not too old
local function read_limits (path, now)
    local file = assert (io.open (path, "r"))
    local text = file:read (LIST_MAX + 1) or ""
    file:close ()
    local as_of, till, body, count = text:match (
        "^gpuledger%-limits 1\nas_of (%d+)\nuntil (%d+)\n(.-)end (%d+)\n$")
    if #text > LIST_MAX or as_of == nil then
        error (path .. ": damaged", 0)
    elseif tonumber (till) <= now then
        error (path .. ": too old: is 'gpuledger budget' still run?", 0)
    end
    local limits = { count = 0 }
    for scope in pairs (SCOPES) do
        limits[scope] = {}
    end
    for line in body:gmatch ("([^\n]*)\n") do
        take_limit (limits, line)
    end
    if limits.count ~= tonumber (count) then
        error (path .. ": a line is missing", 0)
    end
    return limits
end

-- A file that cannot be used is remembered too, and told of once a lifetime.
local limits_cache = { time = 0 }
local function current_limits ()
    local now = os.time ()
    if limits_cache.path ~= settings.limits or now < limits_cache.time
        or now - limits_cache.time >= LIST_LIFETIME then
        local good, result = pcall (read_limits, settings.limits, now)
        limits_cache = { path = settings.limits, time = now,
                         limits = good and result or nil }
        if not good then
            slurm.log_error ("gpuledger: budgets are not looked at: %s",
                             tostring (result))
        end
    end
    return limits_cache.limits
end

-- GPUs, shards and MPS are what budgets are about.
local TRES = { "tres_per_job", "tres_per_node", "tres_per_socket",
               "tres_per_task" }
local function asks_for_gpus (job_desc)
    for _, field in ipairs (TRES) do
        local text = job_desc[field]
        if type (text) == "string"
            and (text:find ("gpu", 1, true) or text:find ("shard", 1, true)
                 or text:find ("mps", 1, true)) then
            return true
        end
    end
    return false
end

local function limit_of (account, project)
    local limits = current_limits ()
    if limits == nil then
        return nil
    end
    local a = account and limits.account[account]
    local p = project and limits.project[project]
        or not project and account and limits.untagged[account]
    if a and p then
        return a.action == "refuse" and a or p
    end
    return a or p
end

-- of a job without a tag that counts it is the account's default, which the file knows
local function project_of (job_desc, account)
    local sent = variables_of (job_desc)[PROJECT]
    if is_tag (sent) and ask (sent, user_of (job_desc), account) then
        return sent
    end
    local wckey = settings.wckey_is_project and job_desc.wckey
    return is_tag (wckey) and wckey or nil
end

-- status for Slurm
local function look_at_budgets (job_desc)
    if settings.limits == nil or not asks_for_gpus (job_desc) then
        return slurm.SUCCESS
    end
    local account = job_desc.account or job_desc.default_account
    local limit = limit_of (account, project_of (job_desc, account))
    if limit == nil then
        return slurm.SUCCESS
    elseif limit.action == "warn" then
        tell ("please note: %s", limit.text)
        return slurm.SUCCESS
    end
    tell ("refused: %s", limit.text)
    return slurm.ERROR
end

local function guarded (f, ...)
    local good, result = pcall (f, ...)
    if good then
        return result
    end
    slurm.log_error ("gpuledger: projects are not checked: %s",
                     tostring (result))
    return slurm.SUCCESS
end

function gpuledger.submit (job_desc)
    local rc = guarded (submit, job_desc)
    if rc ~= slurm.SUCCESS then
        return rc
    end
    return guarded (look_at_budgets, job_desc)
end

function gpuledger.modify (job_desc, job_rec)
    return guarded (modify, job_desc, job_rec)
end

-- The two functions that slurmctld calls; a script that includes this one
-- replaces them with its own.
function slurm_job_submit (job_desc, part_list, submit_uid)
    return gpuledger.submit (job_desc)
end

function slurm_job_modify (job_desc, job_rec, part_list, modify_uid)
    return gpuledger.modify (job_desc, job_rec)
end

return gpuledger
