#!/bin/bash
# The image of contrib/oci is built with buildah in a tree; the containers of kubernetes.yaml run in it
# as a pod's would, with the commands and the configuration of the manifests; and the manifests are
# right by the schema of Kubernetes.
# shellcheck source=tests/package/tree.sh
. "${abs_top_srcdir:?}/tests/package/tree.sh"
begin debootstrap dh unshare python3
python3 -c 'import yaml' 2>/dev/null || skip 'Python has no yaml'
tree=$work/tree manifests=$abs_top_srcdir/contrib/oci/kubernetes.yaml

# --- the manifests ----------------------------------------------------------------------
python3 -c 'import json, sys, yaml
json.dump(list(yaml.safe_load_all(open(sys.argv[1]))), sys.stdout)' "$manifests" >"$work/manifests.json"
schema () { (cd "$work/npm" && node "$abs_top_srcdir/tests/package/manifests.cjs"); }
mkdir "$work/npm"
if ! command -v npm >/dev/null; then
    tests=$((tests + 1))
    echo "ok $tests - the schema of Kubernetes # SKIP because npm is not installed"
elif ! npm install --prefix "$work/npm" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
    kubernetes-models@4 >"$work/npm.log" 2>&1; then
    tests=$((tests + 1))
    echo "ok $tests - the schema of Kubernetes # SKIP because npm cannot install kubernetes-models"
else
    schema <"$work/manifests.json" >"$work/log" 2>&1
    [ "$(grep -c '^right ' "$work/log")" -eq 9 ] && ! grep -v '^right ' "$work/log"
    result $? "nine manifests are right by the schema of Kubernetes"
    sed 's/"readinessProbe"/"readinesProbe"/; s/"schedule"/"shedule"/g' "$work/manifests.json" | schema >"$work/log" 2>&1
    [ "$(grep -c '^wrong ' "$work/log")" -eq 5 ]
    result $? "which finds two wrong keys in five of them"
fi
# What jobs of the same volume and configuration share is written twice: it is the same.
python3 - "$work/manifests.json" >"$work/log" 2>&1 <<'END'
import json, sys
docs = json.load(open(sys.argv[1]))
names = {(d["kind"], d["metadata"]["name"]) for d in docs}
pods = [d["spec"]["template"]["spec"] if d["kind"] == "Deployment" else d["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        for d in docs if d["kind"] in ("Deployment", "CronJob")]
for pod in pods:
    assert pod["securityContext"] == pods[0]["securityContext"]
    volumes = {v["name"]: v for v in pod["volumes"]}
    for container in pod.get("initContainers", []) + pod["containers"]:
        assert container["image"] == pods[0]["containers"][0]["image"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        for mount in container["volumeMounts"]:
            volume = volumes[mount["name"]]
            if "persistentVolumeClaim" in volume:
                assert ("PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]) in names
                assert mount["subPath"]
            if "configMap" in volume:
                assert ("ConfigMap", volume["configMap"]["name"]) in names
END
result $? "volumes, images and rights of all pods agree"

# --- the image --------------------------------------------------------------------------
debs=$(built_debs 2>"$work/log")
result $? "the packages are built" && [ -n "$debs" ] || { echo "1..$tests"; exit 1; }
buildah () { within "$tree" buildah --storage-driver vfs "$@"; }
builder ()
{
    make_tree bookworm "$tree" && mkdir -p "$tree/oci/packages" || return
    tar -C "$tree" --one-file-system --exclude=./oci -cf "$tree/base.tar" . &&
        within "$tree" apt-get -q -y --no-install-recommends install buildah iproute2 &&
        cp "$abs_top_srcdir/contrib/oci/Containerfile" "$tree/oci" && cp "$debs"/*.deb "$tree/oci/packages" &&
        printf 'FROM scratch\nADD base.tar /\n' >"$tree/Base"
}
try "a tree with buildah" builder
# chroot: the only isolation that needs no runtime of containers
try "a base image, from a tree of Debian" buildah bud --isolation chroot -t localhost/base -f /Base /
try "the image is built" buildah bud --isolation chroot --build-arg BASE=localhost/base -t localhost/gpuledger /oci
container=$(buildah from localhost/gpuledger 2>/dev/null)
[ -n "$container" ]
result $? "a container"
# run [OPTION...] -- COMMAND...: in it, without a network but its own
# shellcheck disable=SC2016
run ()
{
    within "$tree" unshare --net sh -c 'ip link set lo up && exec "$@"' sh \
        buildah --storage-driver vfs run --isolation chroot "${volumes[@]}" "$@"
}
volumes=()
run "$container" gpuledger --version >"$work/log" 2>&1
grep -q '^gpuledger 0.1.0$' "$work/log"
result $? "gpuledger --version"
run "$container" id -u >"$work/log" 2>&1
[ "$(tail -n 1 "$work/log")" = 64030 ]
result $? "its user is 64030"
try "no key of munge is in the image, and no systemd" run "$container" sh -c \
    '[ ! -e /etc/munge/munge.key ] && [ ! -e /lib/systemd/systemd ] && [ ! -e /packages ]'

# --- a pod ------------------------------------------------------------------------------
# What kubelet makes of the volumes for fsGroup 64030, and the commands of the manifest.
pod=$tree/pod
mkdir -p "$pod"/{configuration,slurmdb,secret,munge,temporary,data/facts,data/ledger,data/backup,data/site}
dd if=/dev/urandom of="$pod/secret/munge.key" bs=128 count=1 2>/dev/null
chgrp -R 64030 "$pod"
chmod 2777 "$pod/munge" "$pod/temporary"
chmod 2775 "$pod"/data "$pod"/data/*
chmod 0440 "$pod/secret/munge.key"
python3 - "$work/manifests.json" "$pod" >"$work/commands" <<'END'
import json, shlex, sys
docs = json.load(open(sys.argv[1]))
place = sys.argv[2]
for kind, values, directory in ("ConfigMap", "data", "configuration"), ("Secret", "stringData", "slurmdb"):
    for name, text in next(d for d in docs if d["kind"] == kind)[values].items():
        open(f"{place}/{directory}/{name}", "w").write(text)
pod = next(d for d in docs if d["kind"] == "Deployment")["spec"]["template"]["spec"]
for c in pod["initContainers"] + pod["containers"]:
    print(c["name"], shlex.join(c.get("command", ["/usr/bin/gpuledger"]) + c.get("args", [])))
for d in docs:
    if d["kind"] == "CronJob":
        c = d["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
        print(d["metadata"]["name"], shlex.join(c.get("command", ["/usr/bin/gpuledger"]) + c.get("args", [])))
END
command_of () { sed -n "s/^$1 //p" "$work/commands"; }
volumes=(-v /pod/configuration:/etc/gpuledger:ro -v /pod/secret:/secret:ro -v /pod/munge:/munge
    -v /pod/slurmdb:/run/secrets/gpuledger:ro -v /pod/munge:/run/munge -v /pod/temporary:/tmp -v /pod/data/facts:/var/lib/gpuledger
    -v /pod/data/ledger:/var/lib/gpuledger-ledger -v /pod/data/backup:/var/lib/gpuledger-backup
    -v /pod/data/site:/var/lib/gpuledger-site)
try "the first container copies the key" run "$container" sh -c "$(command_of key)"
try "the second one makes the store" run "$container" sh -c "$(command_of init)"
try "again, when the pod starts again" run "$container" sh -c "$(command_of key) && $(command_of init)"
# munged and the collector, until the port answers and munge has made a credential
cat >"$pod/temporary/pod.sh" <<END
$(command_of munged) >/tmp/munged.log 2>&1 & munged=\$!
$(command_of collector) >/tmp/collector.log 2>&1 & collector=\$!
for try in \$(seq 100); do
    munge -n 2>/dev/null | unmunge >/dev/null 2>&1 && (: </dev/tcp/127.0.0.1/6828) 2>/dev/null && break
    sleep 0.1
done
(: </dev/tcp/127.0.0.1/6828) && munge -n | unmunge | grep STATUS
status=\$?
kill \$collector \$munged
wait
cat /tmp/collector.log /tmp/munged.log
exit \$status
END
try "munged and the collector run together" run "$container" bash /tmp/pod.sh
grep -q 'ready' "$work/log"
result $? "the collector is ready"
try "jobs are imported" run "$container" gpuledger import --cluster lab --as-of 2026-11-05T05:00:00Z \
    /usr/share/gpuledger/examples/month/jobs.json
for job in backup publish; do
    try "the job $job" run "$container" sh -c "$(command_of gpuledger-$job)"
done
[ -s "$pod/data/site/index.html" ] && [ -n "$(ls "$pod/data/backup")" ]
result $? "pages and a copy are in their volumes"
run "$container" sh -c "$(command_of gpuledger-sync)" >"$work/log" 2>&1
grep -q 'mariadb' "$work/log"
result $? "the job sync looks for slurmdbd's database where the configuration says"
end
