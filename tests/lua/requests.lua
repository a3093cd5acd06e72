-- job_submit.lua: which jobs ask for GPUs, where a tag comes from, and what an
-- update of a waiting job may change. Prints TAP.
local source = os.getenv ("abs_top_srcdir")
local list, conf = os.tmpname (), os.tmpname ()

local said, logged = {}, {}
slurm = { SUCCESS = 0, ERROR = -1,
          log_user = function (text) said[#said + 1] = text end,
          log_error = function (format, ...)
              logged[#logged + 1] = format:format (...)
          end }

local now = 1793764800
os.time = function () return now end
local getenv = os.getenv
os.getenv = function (name)
    return name == "SLURM_CONF" and conf or getenv (name)
end

local function write (path, text)
    now = now + 1000
    local file = assert (io.open (path, "w"))
    file:write (text)
    file:close ()
end

local gpuledger = dofile (source .. "/contrib/job_submit.lua")
gpuledger.settings.projects = list
write (list, "alpha ann\nfolds account:bio\nshared\n")
local included = conf .. ".nodes"
write (included, "NodeName=x[08-11]y[1-2] Gres=shard:4,gpu:a100:4(S:0-1)\n")
write (conf, [[
ClusterName=lab   # NodeName=cpu1 Gres=gpu:1
NodeName=DEFAULT CPUs=16
nodename=g[1-2],m1 CPUs=8 \
  Gres=gpu:h100:8
NodeName=cpu[1-40] Gres=nic:2
NodeName=zero Gres=gpu:0
Include ]] .. included:match ("[^/]*$") .. "\n")

local parts = {
    gpu = { name = "gpu", nodes = "g[1-2]", max_share = 1, flag_default = 1 },
    cpu = { name = "cpu", nodes = "cpu[1-40],zero", max_share = 1, flag_default = 0 },
    far = { name = "far", nodes = "cpu1,x10y[1-2]", max_share = 1, flag_default = 0 },
    whole = { name = "whole", nodes = "m1", max_share = 0, flag_default = 0 },
    wholecpu = { name = "wholecpu", nodes = "cpu1", max_share = 0, flag_default = 0 },
}

local tests = 0
local function ok (good, text)
    tests = tests + 1
    print ((good and "ok " or "not ok ") .. tests .. " - " .. text)
    if not good then
        print ("# said: " .. table.concat (said, "; ") .. " logged: "
               .. table.concat (logged, "; "))
    end
end

local function submit (job)
    said, logged = {}, {}
    job.user_name = job.user_name or "ann"
    job.default_account = "vision"
    job.shared = job.shared or 65534
    job.het_job_offset = job.het_job_offset or 4294967294
    if job.project then
        job.spank_job_env = {
            "_SLURM_SPANK_OPTION_gpuledger_gpu_project=" .. job.project }
    end
    return slurm_job_submit (job, parts, 1000), said[1] or ""
end
local function refused (job, text)
    local rc, why = submit (job)
    ok (rc == slurm.ERROR and #logged == 0
        and why:find ("no project given", 1, true) ~= nil, "refused: " .. text)
end
local function passes (job, text)
    local rc = submit (job)
    ok (rc == slurm.SUCCESS and #said == 0 and #logged == 0, "passes: " .. text)
end

-- what asks for GPUs
passes ({}, "a job for CPUs")
passes ({ tres_per_node = "gres:nic:2" }, "another GRES")
passes ({ tres_per_node = "gres:gpu:0" }, "no GPU")
passes ({ tres_per_node = "gres:gpufs:1" }, "a GRES whose name begins so")
passes ({ tres_per_task = "cpu=4" }, "CPUs of a task")
refused ({ tres_per_node = "gres:gpu" }, "--gres=gpu")
refused ({ tres_per_node = "gres:nic:2,gres:gpu:h100:2" }, "the second GRES")
refused ({ tres_per_task = "cpu=4,gres/gpu=1" }, "--tres-per-task")
refused ({ tres_per_job = "gres:gpu:a100:4" }, "--gpus")
refused ({ tres_per_socket = "gres:gpu:1" }, "--gpus-per-socket")
refused ({ tres_per_node = "gres:shard:1" }, "a shard")

-- whole nodes
refused ({ shared = 0 }, "--exclusive in the default partition, which has GPUs")
refused ({ shared = 0, partition = "gpu" }, "--exclusive in a partition with GPUs")
passes ({ shared = 0, partition = "cpu" }, "--exclusive in one without")
refused ({ shared = 0, partition = "cpu,gpu" }, "--exclusive in either of two")
refused ({ shared = 0, partition = "far" }, "a partition of which some nodes have GPUs")
passes ({ shared = 2, partition = "gpu" }, "--exclusive=user takes what is asked for")
passes ({ partition = "gpu" }, "CPUs of a node with GPUs")
refused ({ partition = "whole" }, "a partition that gives whole nodes with GPUs")
passes ({ partition = "wholecpu" }, "one that gives whole nodes without")
gpuledger.settings.gpu_partitions = { "cpu" }
refused ({ shared = 0, partition = "cpu" }, "the partitions that the site names")
passes ({ shared = 0, partition = "gpu" }, "and no other")
gpuledger.settings.gpu_partitions = nil
os.remove (included)
now = now + 1000
local rc = submit { shared = 0, partition = "gpu" }
ok (rc == slurm.SUCCESS and #logged == 1
    and logged[1]:find ("No such file", 1, true) ~= nil,
    "a slurm.conf that cannot be read stops nobody, and the log says so")
write (included, "")

-- a project that was named is told of, whatever is asked for
local text
rc, text = submit { project = "nope" }
ok (rc == slurm.SUCCESS and text:find ("unknown project 'nope'", 1, true) ~= nil,
    "an unknown project without GPUs is told of and passes")
local job = { project = "alpha" }
submit (job)
ok (job.admin_comment == "gpuledger: project=alpha",
    "a known project without GPUs is kept")

-- het components
refused ({ tres_per_node = "gres:gpu:1", het_job_offset = 1, script = nil },
         "a component of a het job")
passes ({ het_job_offset = 1 }, "one for CPUs")

-- where a tag comes from without the plugin
local function rest (job)
    job.script = "#!/bin/sh\n"
    job.tres_per_node = job.tres_per_node or "gres:gpu:h100:1"
    return job
end
job = rest { environment = { GPULEDGER_PROJECT = "alpha",
                             GPULEDGER_LABELS = "run=7" } }
rc = submit (job)
ok (rc == slurm.SUCCESS and job.admin_comment
    == "gpuledger: project=alpha source=environment labels=run=7",
    "GPULEDGER_PROJECT of the environment: " .. tostring (job.admin_comment))
job = { environment = { GPULEDGER_PROJECT = "alpha" }, het_job_offset = 1,
        tres_per_node = "gres:gpu:1" }
rc = submit (job)
ok (rc == slurm.SUCCESS and job.admin_comment
    == "gpuledger: project=alpha source=environment", "of a component as well")
rc = submit { environment = setmetatable ({}, { __index = function ()
    error ("asked for") end }), tres_per_node = "gres:gpu:1" }
ok (rc == slurm.ERROR and #logged == 0, "the environment of no batch job is not asked for")
job = rest { environment = { GPULEDGER_PROJECT = "alpha",
                             GPULEDGER_PROJECT_JOB = "alpha" } }
submit (job)
ok (job.admin_comment == "gpuledger: project=alpha source=inherited",
    "what the plugin told a step is inherited")
job = rest { project = "shared", environment = { GPULEDGER_PROJECT = "alpha" } }
submit (job)
ok (job.admin_comment == "gpuledger: project=shared", "the plugin's answer goes first")
rc, text = submit (rest { environment = { GPULEDGER_PROJECT = "folds" } })
ok (rc == slurm.ERROR and text:find ("unknown project 'folds'; yours are: alpha, shared",
                                     1, true) ~= nil,
    "the list is asked as for any other: " .. text)
rc, text = submit (rest { environment = { GPULEDGER_PROJECT = "a\nb" } })
ok (rc == slurm.ERROR and text:find ("not a project name", 1, true) ~= nil,
    "and the name is checked")
refused (rest { environment = { GPULEDGER_PROJECT = "" } }, "an empty variable")
refused (rest { environment = {}, wckey = "alpha", comment = "alpha" },
         "neither wckey nor comment is a project by itself")
gpuledger.settings.comment_is_project = true
job = rest { environment = {}, wckey = "shared", comment = "alpha" }
submit (job)
ok (job.admin_comment == "gpuledger: project=alpha source=comment",
    "the comment is, where the site says so")
refused (rest { environment = {}, comment = "my third try" }, "a comment that is no name")
gpuledger.settings.wckey_is_project = true
job = rest { environment = {}, wckey = "shared", comment = "alpha" }
submit (job)
ok (job.admin_comment == "gpuledger: project=shared source=wckey", "so is the wckey")
gpuledger.settings.comment_is_project = false
gpuledger.settings.wckey_is_project = false

-- updates of a waiting job; 22.05: its record has no user_name, its account stands
local function modify (desc, record)
    said, logged = {}, {}
    desc.user_name, desc.user_id, desc.shared = "ann", 1000, desc.shared or 65534
    record.user_id, record.account = 1000, record.account or "vision"
    record.partition = record.partition or "cpu"
    return slurm_job_modify (desc, record, parts, 1000)
end
local tagged = { admin_comment = "gpuledger: project=alpha source=option" }
ok (modify ({ account = "bio" }, tagged) == slurm.SUCCESS,
    "a job moves to another account with a project of its user")
ok (modify ({ account = "vision" },
            { admin_comment = "gpuledger: project=folds", account = "bio" })
    == slurm.ERROR, "not to one that lacks its project")
ok (modify ({ time_limit = 5 }, {}) == slurm.SUCCESS, "other updates pass")
ok (modify ({ tres_per_node = "gres:gpu:4" }, {}) == slurm.ERROR,
    "a job without a project is given no GPUs")
ok (modify ({ tres_per_node = "gres:gpu:4" }, tagged) == slurm.SUCCESS,
    "one with a project is")
ok (modify ({ shared = 0, partition = "gpu" }, {}) == slurm.ERROR,
    "nor whole nodes with GPUs")
ok (modify ({ shared = 0 }, {}) == slurm.SUCCESS, "whole nodes without pass")
ok (modify ({ partition = "gpu" }, {}) == slurm.ERROR,
    "a job that may be exclusive does not move to nodes with GPUs")
ok (modify ({ partition = "gpu" }, tagged) == slurm.SUCCESS, "with a project it does")
ok (modify ({ partition = "wholecpu" }, {}) == slurm.SUCCESS,
    "to nodes without any job moves")

-- and limits
local limits = os.tmpname ()
gpuledger.settings.limits = limits
gpuledger.settings.policy = "off"
write (limits, "gpuledger-limits 1\nas_of " .. now .. "\nuntil " .. now + 172800
       .. "\nrefuse account bio budget bio: 100.0 % spent\nend 1\n")
ok (submit { shared = 0, partition = "gpu", account = "bio" } == slurm.ERROR,
    "an exclusive job is held to the budget")
ok (submit { shared = 0, partition = "cpu", account = "bio" } == slurm.SUCCESS,
    "not without GPUs")
ok (modify ({ tres_per_node = "gres:gpu:4" }, { account = "bio" }) == slurm.ERROR,
    "so is a job that is given GPUs")
ok (modify ({ account = "bio" }, { tres_per_node = "gres:gpu:1" }) == slurm.ERROR,
    "and one with GPUs that moves to the account")
ok (modify ({ account = "bio" }, {}) == slurm.SUCCESS, "not one without")
for _, path in ipairs { list, conf, included, limits } do
    os.remove (path)
end
print ("1.." .. tests)
