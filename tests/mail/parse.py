# parse.py MBOX DIR: what a mail program makes of each message that arrived, by
# Python's own parser. A line for each message: number, recipient of the envelope,
# From, Reply-To, To, Subject, Message-ID, types of the parts, name of the file,
# whether it came within ten minutes of its Date; or what is wrong with it. The parts are written to
# DIR/NUMBER.txt, .html and .csv, as bytes.
import email.policy
import email.parser
import re
import sys
import time
from email.utils import getaddresses

mbox, folder = sys.argv[1:]
with open(mbox, "rb") as file:
    raw = file.read()
number = 0
for bytes_ in re.split(rb"(?m)^From .*\n", raw)[1:]:
    number += 1
    message = email.parser.BytesParser(policy=email.policy.default).parsebytes(bytes_)
    wrong = []
    if max(len(line) for line in bytes_.splitlines()) > 998:
        wrong.append("a line is too long")
    if any(byte >= 0x80 or byte == 0 for byte in bytes_):
        wrong.append("not ASCII")
    parts = list(message.walk())
    for part in parts:
        wrong += [repr(defect) for defect in part.defects]
        for value in part.values():
            wrong += [repr(defect) for defect in getattr(value, "defects", ())]
    for name in ("From", "To", "Subject", "Date", "Message-ID", "MIME-Version"):
        if len(message.get_all(name, [])) != 1:
            wrong.append("not one " + name)
    for name in ("Bcc", "Cc", "X"):
        if name in message:
            wrong.append("a header " + name)
    for part in parts:
        if part.is_multipart():
            continue
        suffix = {"text/plain": "txt", "text/html": "html", "text/csv": "csv"}
        with open(f"{folder}/{number}.{suffix[part.get_content_type()]}", "wb") as out:
            out.write(part.get_payload(decode=True))
    addresses = getaddresses([message["To"]])
    fields = [
        str(number),
        message.get("Envelope-To", "-"),
        message["From"],
        message.get("Reply-To", "-"),
        "; ".join(f"{name} <{address}>" for name, address in addresses),
        message["Subject"],
        message["Message-ID"],
        " ".join(part.get_content_type() for part in parts),
        " ".join(part.get_filename() for part in parts if part.get_filename()),
        "now" if abs(message["Date"].datetime.timestamp() - time.time()) < 600 else "then",
    ]
    print("|".join(fields) if not wrong else f"{number}|wrong: {wrong}")
