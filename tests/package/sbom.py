"""sbom.py DEB...: the bill of materials of each Debian package is SPDX 2.3 (the mandatory fields of the
specification, their forms, and identifiers that exist) and lists the libraries that the package depends on.
A line for each problem; none: exit 0.
"""
import json
import re
import subprocess
import sys

FORMS = {
    "SPDXID": r"SPDXRef-[A-Za-z0-9.-]+",
    "downloadLocation": r"NOASSERTION|NONE|[a-z+]+://.*",
    "licenseConcluded": r"NOASSERTION|NONE|Apache-2\.0",
    "licenseDeclared": r"NOASSERTION|NONE|Apache-2\.0",
    "name": r".+",
    "versionInfo": r"[0-9A-Za-z.+:~-]+",
}
PURL = r"pkg:deb/debian/[a-z0-9][a-z0-9+.-]*@[A-Za-z0-9.%-]+"


def problems(sbom):
    if sbom.get("spdxVersion") != "SPDX-2.3" or sbom.get("dataLicense") != "CC0-1.0" or sbom.get("SPDXID") != "SPDXRef-DOCUMENT":
        yield "not a document of SPDX 2.3"
    if not re.fullmatch(r"https://[^#\s]+", sbom.get("documentNamespace", "")) or not sbom.get("name"):
        yield "name or namespace"
    info = sbom.get("creationInfo", {})
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", info.get("created", "")):
        yield "time of creation"
    if not info.get("creators") or not all(re.match(r"(Person|Organization|Tool): \S", c) for c in info["creators"]):
        yield "creators"
    identifiers = ["SPDXRef-DOCUMENT"]
    for package in sbom.get("packages", []):
        identifiers.append(package.get("SPDXID"))
        for key, form in FORMS.items():
            if not re.fullmatch(form, str(package.get(key, ""))):
                yield f"{key} of {package.get('name')}: {package.get(key)}"
        if package.get("filesAnalyzed") is not False:
            yield f"filesAnalyzed of {package.get('name')}"
        for reference in package.get("externalRefs", []):
            if reference.get("referenceType") != "purl" or not re.fullmatch(PURL, reference.get("referenceLocator", "")):
                yield f"reference {reference}"
    if len(set(identifiers)) != len(identifiers):
        yield "two elements have one identifier"
    for relation in sbom.get("relationships", []):
        if relation["relationshipType"] not in ("DESCRIBES", "DYNAMIC_LINK"):
            yield f"relationship {relation['relationshipType']}"
        for end in "spdxElementId", "relatedSpdxElement":
            if relation[end] not in identifiers:
                yield f"{relation[end]} is not in the document"


def main(debs):
    wrong = 0
    for deb in debs:
        def field(name):
            return subprocess.run(["dpkg-deb", "-f", deb, name], check=True, capture_output=True, text=True).stdout.strip()

        files = subprocess.run(["dpkg-deb", "--fsys-tarfile", deb], check=True, capture_output=True).stdout
        path = f"./usr/share/doc/{field('Package')}/sbom.spdx.json"
        sbom = json.loads(subprocess.run(["tar", "-xO", path], input=files, check=True, capture_output=True).stdout)
        found = list(problems(sbom))
        listed = {p["name"]: p["versionInfo"] for p in sbom["packages"]}
        needed = {re.split(r"[ (|:]", word.strip())[0] for word in field("Depends").split(",")}
        libraries = {name for name in needed if re.match(r"z?lib", name)}
        if set(listed) != libraries | {field("Package")}:
            found.append(f"lists {sorted(listed)}, and depends on {sorted(libraries)}")
        if listed.get(field("Package")) != field("Version"):
            found.append("its own version")
        for problem in found:
            print(f"{field('Package')}: {problem}")
        wrong += len(found)
    return wrong > 0 or not debs


sys.exit(main(sys.argv[1:]))
