"""The programs that machines have, in memory: text tools, file tools, and their like."""
