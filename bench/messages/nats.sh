# Runs a NATS server until its standard input ends, then removes everything it made: whoever started it may die in any way.
#
# The first line of the output is the server's address, or `error: ...`. The server looks for a free port by itself.
set -eu

fail() {
    echo "error: $1"
    exit 1
}

# Debian keeps it where only root looks.
PATH=$PATH:/usr/sbin
command -v nats-server >/dev/null || fail "it is not installed: apt-get install nats-server"

folder=$(mktemp -d /tmp/artel-nats.XXXXXX) || fail "cannot make a temporary folder"
exec 2>"$folder/log"
nats-server --addr 127.0.0.1 --port -1 --ports_file_dir "$folder" </dev/null >/dev/null 2>"$folder/server-log" &
server=$!

clean_up() {
    kill -9 "$server" || true
    wait "$server" || true
    rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

# The file of ports is written when the server listens.
for _ in $(seq 500); do
    address=$(sed -n 's/.*"nats":\["\(nats:[^"]*\)"\].*/\1/p' "$folder"/*.ports) || true
    [ -n "$address" ] && break
    kill -0 "$server" || fail "nats-server: $(tail -n 3 "$folder/server-log" | tr '\n' ' ')"
    sleep 0.02
done
[ -n "$address" ] || fail "nats-server does not listen"
echo "$address"

cat >/dev/null
