// manifests.cjs: reads manifests of Kubernetes as JSON, in a directory in which npm has installed
// kubernetes-models. Prints for each what the schema of Kubernetes says, and the keys that the
// schema does not know: those that its check has never read.
const { readFileSync } = require("node:fs");

const unread = [];
function watched(value, path) {
    if (typeof value !== "object" || value === null) return value;
    const copy = Array.isArray(value) ? [] : {};
    const read = new Set();
    for (const key of Object.keys(value)) copy[key] = watched(value[key], `${path}/${key}`);
    if (!Array.isArray(value))
        unread.push(() => Object.keys(value).filter((key) => !read.has(key)).map((key) => `${path}/${key}`));
    return new Proxy(copy, {
        get(target, key) {
            read.add(key);
            return target[key];
        },
    });
}
const capital = (word) => word[0].toUpperCase() + word.slice(1);

for (const doc of JSON.parse(readFileSync(0))) {
    const [version, group] = doc.apiVersion.split("/").reverse();
    const schema = `IoK8sApi${capital(group ?? "core")}${capital(version)}${doc.kind}`;
    const { validate } = require(`${process.cwd()}/node_modules/kubernetes-models/_schemas/${schema}.js`);
    unread.length = 0;
    const right = validate(watched(doc, ""));
    const said = (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? error.keyword}`);
    const problems = [...said, ...unread.flatMap((keys) => keys()).map((key) => `${key} is unknown`)];
    console.log(right && !problems.length ? "right" : "wrong", doc.kind, doc.metadata.name, problems.join("; "));
}
