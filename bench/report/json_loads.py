# The plainest reader: every line of every transcript through json.loads, and the usage added up.
import json
import os
import sys

total = 0
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        if name.endswith(".jsonl"):
            with open(os.path.join(folder, name), encoding="utf-8") as lines:
                for line in lines:
                    row = json.loads(line)
                    if row.get("type") == "assistant":
                        total += row["message"]["usage"]["output_tokens"]
print(total)
