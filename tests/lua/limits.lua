-- job_submit.lua and the file of limits: who is warned, who is refused, and that
-- a file that is missing, old or damaged stops nobody. Prints TAP.
local source = os.getenv ("abs_top_srcdir")
local path = os.tmpname ()

local said, logged = {}, {}
slurm = { SUCCESS = 0, ERROR = -1,
          log_user = function (text) said[#said + 1] = text end,
          log_error = function (format, ...)
              logged[#logged + 1] = format:format (...)
          end }

-- a clock that the test sets: each step is beyond what is remembered
local now = 1793764800
os.time = function () return now end

local gpuledger = dofile (source .. "/contrib/job_submit.lua")
gpuledger.settings.projects = nil
gpuledger.settings.policy = "off"

local tests = 0
local function ok (good, text)
    tests = tests + 1
    print ((good and "ok " or "not ok ") .. tests .. " - " .. text)
end

local function write (text)
    now = now + 60
    local file = assert (io.open (path, "w"))
    file:write (text)
    file:close ()
end

local function limits (...)
    local lines = { ... }
    write ("gpuledger-limits 1\nas_of " .. now .. "\nuntil " .. now + 172800
           .. "\n" .. table.concat (lines)
           .. "end " .. #lines .. "\n")
end

-- a submission: what is returned, and what the user is told
local function submit (job)
    said, logged = {}, {}
    job.user_name = job.user_name or "ann"
    if job.project then
        job.spank_job_env = {
            "_SLURM_SPANK_OPTION_gpuledger_gpu_project=" .. job.project }
    end
    return slurm_job_submit (job, {}, 1000), said[1] or ""
end

local GPUS = "gres:gpu:h100:4"
local function gpus (job)
    job.tres_per_node = GPUS
    return job
end

local refuse_nlp = "refuse account nlp budget nlp, 2026-11: 120.0 % spent\n"
local warn_vision = "warn account vision budget vision, 2026-11: 91.0 % spent\n"
local refuse_corpus = "refuse project corpus budget corpus: 100.0 % spent\n"

limits (refuse_nlp)
local rc = submit (gpus { account = "nlp" })
ok (rc == slurm.SUCCESS, "without the setting nobody is refused")

gpuledger.settings.limits = path
limits (refuse_nlp, warn_vision, refuse_corpus)
local text
rc, text = submit (gpus { account = "nlp" })
ok (rc == slurm.ERROR, "an account whose budget is spent is refused")
ok (text == "gpuledger: refused: budget nlp, 2026-11: 120.0 % spent",
    "and told which: " .. text)
rc, text = submit (gpus { default_account = "nlp" })
ok (rc == slurm.ERROR, "so is a default account")
rc, text = submit (gpus { account = "vision" })
ok (rc == slurm.SUCCESS and text:find ("please note: budget vision", 1, true),
    "an account near its end is warned, and passes")
rc, text = submit (gpus { account = "bio" })
ok (rc == slurm.SUCCESS and text == "", "of others nobody is told anything")
rc = submit (gpus { account = "bio", project = "corpus" })
ok (rc == slurm.ERROR, "a project whose budget is spent is refused")
rc = submit (gpus { account = "vision", project = "corpus" })
ok (rc == slurm.ERROR, "to be refused goes before to be warned")
limits ("refuse untagged nlp budget corpus: 100.0 % spent\n")
rc, text = submit (gpus { default_account = "nlp" })
ok (rc == slurm.ERROR and text:find ("budget corpus", 1, true),
    "a job without a tag is held against the default of its account")
rc = submit (gpus { account = "nlp", project = "other" })
ok (rc == slurm.SUCCESS, "one with a tag is not")
rc = submit (gpus { account = "nlp", project = "no tag" })
ok (rc == slurm.ERROR, "what is no tag does not count")
rc = submit (gpus { account = "nlp", wckey = "other" })
ok (rc == slurm.ERROR, "nor does a wckey")
gpuledger.settings.wckey_is_project = true
rc = submit (gpus { account = "nlp", wckey = "other" })
ok (rc == slurm.SUCCESS, "unless wckeys are projects")
limits (refuse_corpus)
rc = submit (gpus { account = "bio", wckey = "corpus" })
ok (rc == slurm.ERROR, "whose budgets then hold as well")
gpuledger.settings.wckey_is_project = false
local list = os.tmpname ()
local file = assert (io.open (list, "w"))
file:write ("other account:bio\nmine\n")
file:close ()
gpuledger.settings.projects = list
limits ("refuse untagged nlp budget corpus: 100.0 % spent\n")
rc = submit (gpus { account = "nlp", project = "other" })
ok (rc == slurm.ERROR, "a tag that is not the account's does not count")
rc = submit (gpus { account = "nlp", project = "mine" })
ok (rc == slurm.SUCCESS, "one that is does")
gpuledger.settings.projects = nil
os.remove (list)
limits (refuse_nlp, warn_vision, refuse_corpus)
rc = submit { account = "nlp" }
ok (rc == slurm.SUCCESS, "a job without GPUs passes")
rc = submit { account = "nlp", tres_per_node = "gres:nic:2" }
ok (rc == slurm.SUCCESS, "so does one that asks for something else")
for _, field in ipairs { "tres_per_job", "tres_per_socket", "tres_per_task" } do
    rc = submit { account = "nlp", [field] = "gres/gpu:1" }
    ok (rc == slurm.ERROR, field .. " asks for GPUs as well")
end
rc = submit { account = "nlp", tres_per_node = "gres:shard:1" }
ok (rc == slurm.ERROR, "and a shard is a part of one")

limits (warn_vision, "refuse account vision budget year: 100.0 % spent\n")
rc = submit (gpus { account = "vision" })
ok (rc == slurm.ERROR, "of two budgets the stricter one holds")
limits ()
rc = submit (gpus { account = "vision" })
ok (rc == slurm.SUCCESS, "a list without lines stops nobody")

-- Nothing of ours stops a job. Each text is damaged in its own way.
local head = "gpuledger-limits 1\nas_of 1\nuntil 99999999999\n"
local damaged = {
    ["an empty file"] = "",
    ["a torn file"] = head .. refuse_nlp,
    ["a torn line"] = head .. "refuse account nl",
    ["a wrong count"] = head .. refuse_nlp .. "end 2\n",
    ["another version"] = head:gsub ("limits 1", "limits 2") .. refuse_nlp
        .. "end 1\n",
    ["an unknown action"] = head .. "delete account nlp x\nend 1\n",
    ["an unknown scope"] = head .. "refuse table nlp x\nend 1\n",
    ["a file that is too old"] = "gpuledger-limits 1\nas_of 1\nuntil 2\n"
        .. refuse_nlp .. "end 1\n",
    ["binary rubbish"] = string.char (0, 255, 10, 37):rep (1000),
}
for name, content in pairs (damaged) do
    write (content)
    rc, text = submit (gpus { account = "nlp" })
    ok (rc == slurm.SUCCESS and text == "" and #logged == 1
        and logged[1]:find ("budgets are not looked at", 1, true) ~= nil,
        name .. " stops nobody, and the log says so")
    submit (gpus { account = "nlp" })
    ok (#logged == 0, name .. " is told of once, not with each job")
end
os.remove (path)
now = now + 60
rc = submit (gpus { account = "nlp" })
ok (rc == slurm.SUCCESS and #logged == 1, "a missing file stops nobody")
limits (refuse_nlp)
rc = submit (gpus { account = "nlp" })
ok (rc == slurm.ERROR, "and a file that is there again counts")

-- The project's own check comes first, and stays what it was.
gpuledger.settings.policy = "require"
rc, text = submit (gpus { account = "bio" })
ok (rc == slurm.ERROR and text:find ("no project given", 1, true),
    "a job without a project is refused as before")
os.remove (path)
print ("1.." .. tests)
