--[[
job_submit.lua: the project of a job, checked where no user can go around it.

The checks of gpuledger.so run in srun, sbatch and salloc, which a user can
avoid (slurmrestd, a private plugstack.conf, scrontab). slurmctld runs this for
every submission and every `scontrol update` of a job. It takes the project that
the plugin sent along, or GPULEDGER_PROJECT of the job's environment (slurmrestd,
clients without the plugin), asks the allow-list by user and by account, and
writes a project that passed into admin_comment, which slurmdbd keeps with the job
and which its owner cannot change:

    gpuledger: project=NAME source=SOURCE labels=KEY=VALUE,KEY=VALUE

(docs/formats/admin-comment.md, docs/formats/projects.md).

The policy and the limits apply to jobs that ask for GPUs: by --gres, --gpus*,
--tres-per-*, or for whole nodes of a partition that has GPUs (--exclusive, or a
partition with OverSubscribe=EXCLUSIVE), since Slurm gives such a job all GPUs of
its nodes. Each component of a het job is looked at on its own.

With settings.limits it warns or refuses jobs where a budget of their account or
project is spent (docs/formats/limits.md). A file that is missing, too old or
damaged says nothing: the job passes.

Alone: copy it beside slurm.conf under this name and set JobSubmitPlugins=lua.
With a script of your own: copy it under another name and, in yours,

    local gpuledger = dofile ("/etc/slurm/gpuledger.lua")
    function slurm_job_submit (job_desc, part_list, submit_uid)
        local rc = gpuledger.submit (job_desc, part_list)
        if rc ~= slurm.SUCCESS then return rc end
        ...
    end
    function slurm_job_modify (job_desc, job_rec, part_list, modify_uid)
        return gpuledger.modify (job_desc, job_rec, part_list)
    end

Nothing here raises an error: a fault of ours is logged and the job passes.
]]

local settings = {
    -- allow-list, the same file as the plugin's projects=; nil: any project
    projects = "/etc/gpuledger/projects",
    -- off: write admin_comment only; warn: and tell the user; require: refuse
    -- jobs that ask for GPUs without a project
    policy = "require",
    -- what budgets say, the file of `gpuledger budget --output-limits`; nil:
    -- nothing (docs/formats/limits.md)
    limits = nil,
    -- whether a job without a tag has its wckey as its project, as
    -- policy.wckey_is_project of gpuledger.yaml; then its comment
    wckey_is_project = false,
    comment_is_project = false,
    -- partitions whose nodes have GPUs, { "gpu", "a100" }; nil: as slurm.conf says
    gpu_partitions = nil,
}

-- How long a list that was read is believed, in seconds: a change takes effect
-- within this time, and a burst of submissions reads it once.
local LIST_LIFETIME = 10
local LIST_MAX = 1024 * 1024

local OPTION = "_SLURM_SPANK_OPTION_gpuledger_"
local PROJECT = OPTION .. "gpu_project"
local LABELS = OPTION .. "gpu_label"
local PREFIX = "gpuledger: project="
local SOURCES = { option = true, environment = true, inherited = true,
                  wckey = true, comment = true }

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

-- slurmrestd shows this code and no text of ours; ERROR would be "Unspecified
-- error".
local function refusal ()
    return slurm.ESLURM_ACCESS_DENIED or slurm.ERROR
end

-- what to do with a job that asks for GPUs and whose project is not known:
-- status for Slurm
local function complain (tag, yours)
    if settings.policy == "off" then
        return slurm.SUCCESS
    end
    if tag.malformed then
        tell ("--gpu-project: not a project name%s", yours_text (yours))
    elseif tag.project then
        tell ("unknown project '%s'%s", tag.project, yours_text (yours))
    else
        tell ("no project given: use --gpu-project=NAME or set "
              .. "GPULEDGER_PROJECT%s", yours_text (yours))
    end
    return settings.policy == "require" and refusal () or slurm.SUCCESS
end

-- A variable of the job's environment. Only batch jobs bring one; Slurm logs a
-- line where another is asked for it. Of a het job the first component alone
-- has the script.
local function environment_of (job_desc, name)
    local is_component = (job_desc.het_job_offset or 0) > 0
        and job_desc.het_job_offset < 65536
    if job_desc.script == nil and not is_component then
        return nil
    end
    local environment = job_desc.environment
    local value = environment and environment[name]
    return value ~= "" and value or nil
end

-- GPULEDGER_PROJECT in a job that was submitted in a job may be what the plugin
-- told that one's step, not the user's own (plugin/step.c).
local function environment_tag (job_desc)
    local project = environment_of (job_desc, "GPULEDGER_PROJECT")
    local told = environment_of (job_desc, "GPULEDGER_PROJECT_JOB")
    return project, told == project and "inherited" or "environment"
end

-- The project that a job asks for: project and source, or malformed, or neither.
local function tag_of (job_desc)
    local variables = variables_of (job_desc)
    local text, source = variables[PROJECT], variables.GPULEDGER_SOURCE
    local labels = variables[LABELS]
    if text == nil then
        text, source = environment_tag (job_desc)
    end
    if labels == nil then
        labels = environment_of (job_desc, "GPULEDGER_LABELS")
    end
    if text == nil and settings.wckey_is_project and is_tag (job_desc.wckey) then
        text, source = job_desc.wckey, "wckey"
    elseif text == nil and settings.comment_is_project
        and is_tag (job_desc.comment) then
        text, source = job_desc.comment, "comment"
    end
    local good = is_tag (text)
    return { project = good and text or nil, source = source, labels = labels,
             malformed = text ~= nil and not good }
end

local function comment_of (tag)
    local comment = PREFIX .. tag.project
    if SOURCES[tag.source] then
        comment = comment .. " source=" .. tag.source
    end
    if are_labels (tag.labels) then
        comment = comment .. " labels=" .. tag.labels
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

-- job_rec of 22.05 has no user_name.
local function user_of (job_desc, job_rec)
    local id = job_desc.user_id or job_rec and job_rec.user_id
    return job_desc.user_name or job_rec and job_rec.user_name or tostring (id)
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

-- GPUs, shards and MPS of a list of TRES: "gres:gpu:h100:2", "gres/gpu=2". A
-- count of 0 asks for none.
local GPU_NAMES = { gpu = true, shard = true, mps = true }
local function names_gpus (text)
    for item in tostring (text or ""):gmatch ("[^,]+") do
        local rest = item:gsub ("^gres[/:]", "")
        local count = rest:match ("[:=](%d+)[KkMmGgTtPp]?$")
        if GPU_NAMES[rest:match ("^[^:=]*")]
            and (count == nil or tonumber (count) > 0) then
            return true
        end
    end
    return false
end

local TRES = { "tres_per_job", "tres_per_node", "tres_per_socket",
               "tres_per_task" }
local function requests_gpus (job)
    for _, field in ipairs (TRES) do
        if names_gpus (job[field]) then
            return true
        end
    end
    return false
end

-- "g[01-03],m1" into the names of a set. Brackets may occur several times.
local HOSTS_MAX = 200000
local function expand (text, set)
    local before, list, after = text:match ("^(.-)%[([^%]]*)%](.*)$")
    if before == nil then
        set.count = (set.count or 0) + 1
        if set.count > HOSTS_MAX then
            error ("too many nodes in slurm.conf", 0)
        end
        set[text] = true
        return
    end
    for range in list:gmatch ("[^,]+") do
        local first, last = range:match ("^(%d+)%-(%d+)$")
        first, last = first or range, last or range
        if not tonumber (first) or tonumber (last) - tonumber (first) > HOSTS_MAX then
            error ("not a list of nodes: " .. text:sub (1, 100), 0)
        end
        for number = tonumber (first), tonumber (last) do
            expand (before .. ("%0" .. #first .. "d"):format (number) .. after,
                    set)
        end
    end
end

local function expand_all (text, set)
    local depth, item = 0, ""
    for char in (text .. ","):gmatch (".") do
        depth = depth + (char == "[" and 1 or char == "]" and -1 or 0)
        if char == "," and depth == 0 then
            if item ~= "" then
                expand (item, set)
            end
            item = ""
        else
            item = item .. char
        end
    end
end

-- one line of slurm.conf: the nodes that have GPUs, into the set
local read_conf
local function take_conf_line (line, conf)
    local include = line:match ("^%s*[Ii][Nn][Cc][Ll][Uu][Dd][Ee]%s+(%S+)")
    if include then
        read_conf (include:sub (1, 1) == "/" and include
                   or conf.directory .. include, conf)
        return
    end
    local names, gres
    for key, value in line:gmatch ("(%S-)=(%S+)") do
        names = key:lower () == "nodename" and value or names
        gres = key:lower () == "gres" and value or gres
    end
    if names == nil then
        return
    elseif names == "DEFAULT" then
        conf.gres = gres or conf.gres
    elseif names_gpus (((gres or conf.gres or ""):gsub ("%b()", ""))) then
        expand_all (names, conf.nodes)
    end
end

function read_conf (path, conf)
    conf.files = conf.files + 1
    local file = assert (io.open (path, "r"))
    local text = file:read (8 * LIST_MAX) or ""
    file:close ()
    if conf.files > 1000 then
        error (path .. ": too many files are included", 0)
    end
    for line in (text:gsub ("\\\n", " ") .. "\n"):gmatch ("([^\n]*)\n") do
        take_conf_line (line:gsub ("#.*", ""), conf)
    end
end

-- Nodes change seldom, and a list of thousands takes some milliseconds.
local NODES_LIFETIME = 300
local nodes_cache = { time = 0 }
local function gpu_nodes ()
    local now = os.time ()
    local path = os.getenv ("SLURM_CONF") or "/etc/slurm/slurm.conf"
    if nodes_cache.path ~= path or now < nodes_cache.time
        or now - nodes_cache.time >= NODES_LIFETIME then
        local conf = { files = 0, nodes = {},
                       directory = path:match ("^(.*/)") or "" }
        nodes_cache = { time = now, path = path, nodes = conf.nodes }
        read_conf (path, conf)
    end
    return nodes_cache.nodes
end

local function has_gpus (name, part)
    if settings.gpu_partitions then
        for _, each in ipairs (settings.gpu_partitions) do
            if each == name then
                return true
            end
        end
        return false
    end
    local nodes, members = gpu_nodes (), {}
    if part == nil or part.nodes == nil then
        return false
    elseif part.nodes == "ALL" then
        return next (nodes) ~= nil
    end
    expand_all (part.nodes, members)
    for node in pairs (members) do
        if node ~= "count" and nodes[node] then
            return true
        end
    end
    return false
end

local function default_partition (part_list)
    for name, part in pairs (part_list) do
        if part.flag_default == 1 then
            return name
        end
    end
end

-- Whole nodes: --exclusive is 0 (JOB_SHARED_NONE), other values are for parts of
-- nodes. `unknown`: nobody says whether the job is exclusive.
local function takes_gpu_nodes (exclusive, partitions, part_list, unknown)
    for name in (partitions or default_partition (part_list) or ""):gmatch ("[^,]+") do
        local part = part_list[name]
        local whole = exclusive or unknown or part and part.max_share == 0
        if whole and has_gpus (name, part) then
            return true
        end
    end
    return false
end

local function asks_for_gpus (job_desc, part_list)
    return requests_gpus (job_desc)
        or takes_gpu_nodes (job_desc.shared == 0, job_desc.partition,
                            part_list or {})
end

-- An update that brings GPUs to a job. slurmctld does not say whether the job
-- that is there is exclusive: one that moves to a partition with GPUs counts so.
local function brings_gpus (job_desc, job_rec, part_list)
    return requests_gpus (job_desc)
        or takes_gpu_nodes (job_desc.shared == 0,
                            job_desc.partition or job_rec.partition,
                            part_list or {}, job_desc.partition ~= nil)
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

-- status for Slurm
local function hold_to_limits (account, project)
    if settings.limits == nil then
        return slurm.SUCCESS
    end
    local limit = limit_of (account, project)
    if limit == nil then
        return slurm.SUCCESS
    elseif limit.action == "warn" then
        tell ("please note: %s", limit.text)
        return slurm.SUCCESS
    end
    tell ("refused: %s", limit.text)
    return refusal ()
end

-- The tag, whether it is known, and what is the user's; a known one is written.
local function examine (job_desc)
    local account = job_desc.account or job_desc.default_account
    local tag = tag_of (job_desc)
    local known, yours = ask (tag.project, user_of (job_desc), account)
    if known then
        write_comment (job_desc, comment_of (tag))
    end
    return tag, known, yours
end

-- A job that asks for no GPUs passes; that its project is unknown is worth a
-- word, as it was given.
local function submit (job_desc, part_list)
    local tag, known, yours = examine (job_desc)
    local gpus = not known and asks_for_gpus (job_desc, part_list)
    if gpus then
        return complain (tag, yours)
    elseif not known and (tag.project or tag.malformed) then
        complain (tag, yours)
    end
    return slurm.SUCCESS
end

-- A list that cannot be read says nothing of a tag, and limits hold without.
-- Of a job without a tag that counts it is the account's default, which the file
-- of limits knows.
local function look_at_budgets (job_desc, part_list)
    if settings.limits == nil or not asks_for_gpus (job_desc, part_list) then
        return slurm.SUCCESS
    end
    local account = job_desc.account or job_desc.default_account
    local project = tag_of (job_desc).project
    if project and not ask (project, user_of (job_desc), account) then
        project = nil
    end
    return hold_to_limits (account, project)
end

local function project_of_record (job_rec)
    return (job_rec.admin_comment or ""):match (
        "^gpuledger: project=([A-Za-z0-9._-]+)")
end

-- A waiting job that moves to another account must be allowed there, too; one
-- that is given GPUs must have a project, as if it were submitted with them.
local function modify (job_desc, job_rec, part_list)
    local project = project_of_record (job_rec)
    local gpus = brings_gpus (job_desc, job_rec, part_list)
    if not gpus and (job_desc.account == nil or project == nil) then
        return slurm.SUCCESS
    end
    local account = job_desc.account or job_rec.account
    local known, yours = ask (project, user_of (job_desc, job_rec), account)
    if known then
        return slurm.SUCCESS
    end
    return complain ({ project = project }, yours)
end

local function modify_budgets (job_desc, job_rec, part_list)
    if settings.limits == nil then
        return slurm.SUCCESS
    end
    local gpus = brings_gpus (job_desc, job_rec, part_list)
        or job_desc.account ~= nil and requests_gpus (job_rec)
    if not gpus then
        return slurm.SUCCESS
    end
    local project = project_of_record (job_rec)
    if project == nil and settings.wckey_is_project
        and is_tag (job_desc.wckey or job_rec.wckey) then
        project = job_desc.wckey or job_rec.wckey
    end
    return hold_to_limits (job_desc.account or job_rec.account, project)
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

function gpuledger.submit (job_desc, part_list)
    local rc = guarded (submit, job_desc, part_list)
    if rc ~= slurm.SUCCESS then
        return rc
    end
    return guarded (look_at_budgets, job_desc, part_list)
end

-- slurmctld before 23.02 shows the user no text of ours here, only its log.
function gpuledger.modify (job_desc, job_rec, part_list)
    local rc = guarded (modify, job_desc, job_rec, part_list)
    if rc ~= slurm.SUCCESS then
        return rc
    end
    return guarded (modify_budgets, job_desc, job_rec, part_list)
end

-- The two functions that slurmctld calls; a script that includes this one
-- replaces them with its own.
function slurm_job_submit (job_desc, part_list, submit_uid)
    return gpuledger.submit (job_desc, part_list)
end

function slurm_job_modify (job_desc, job_rec, part_list, modify_uid)
    return gpuledger.modify (job_desc, job_rec, part_list)
end

return gpuledger
