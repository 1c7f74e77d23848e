#!/bin/sh
# The arguments come as JSON on standard input; what is printed is the result.
cat > sent/message.json
echo "Sent."
