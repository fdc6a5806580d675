#!/bin/sh
# Reads one JSON object on stdin, writes one JSON event a line on stdout, the last one `done`.
set -eu

# Takes the plain text of "who" out of the input; anything more needs a real JSON reader.
who=$(sed -n 's/.*"who" *: *"\([A-Za-z0-9 _.-]*\)".*/\1/p' | head -n 1)
: "${who:=world}"

printf '{"version":"0","type":"log","level":"info","message":"greeting %s"}\n' "$who"
printf '{"version":"0","type":"done","ok":true,"output":{"greeting":"Hello, %s!"}}\n' "$who"
