# Runs a Redis for tests until its standard input ends, then removes everything it made. A test that dies, however it
# dies, closes the pipe, so no server outlives it.
#
# The first line of the output is the server's address, or `error: ...`. The word `restart` on the input kills the server
# as a crash would and starts it again; `stop` kills it, `start` starts it, `lose` kills it and takes its data away. Each is
# answered by `done`.
#
# It listens on a socket in a folder of its own: no port to collide with. What it acknowledged is on the disk.
set -eu

fail() {
    echo "error: $1"
    exit 1
}

command -v redis-server >/dev/null && command -v redis-cli >/dev/null ||
    fail "Redis is not installed: cargo xtask test --only servers"

folder=$(mktemp -d /tmp/artel-redis.XXXXXX) || fail "cannot make a temporary folder"
# What goes wrong is written there: whoever waits for our output to end must not wait for the server's.
exec 2>"$folder/log"
cd "$folder"
server=""

# Starting is done when the server has read its data again.
start() {
    redis-server --port 0 --unixsocket "$folder/socket" --unixsocketperm 700 --dir "$folder" --logfile "$folder/server-log" \
        --appendonly yes --appendfsync always --save "" --daemonize no </dev/null >/dev/null &
    server=$!
    for _ in $(seq 500); do
        [ "$(redis-cli -s "$folder/socket" ping)" = PONG ] && return 0
        kill -0 "$server" || return 1
        sleep 0.02
    done
    return 1
}

stop() {
    [ -z "$server" ] && return 0
    kill -9 "$server" || true
    wait "$server" || true
    server=""
    rm -f "$folder/socket"
}

clean_up() {
    stop || true
    cd /
    rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

log() {
    cat "$folder/log" "$folder/server-log" 2>/dev/null | tail -n 5 | tr '\n' ' '
}

start || fail "redis-server: $(log)"
echo "redis+unix://$folder/socket"

while read -r order; do
    case "$order" in
    restart) stop && start && echo "done" || fail "restart: $(log)" ;;
    stop) stop && echo "done" || fail "stop: $(log)" ;;
    start) start && echo "done" || fail "start: $(log)" ;;
    lose) stop && rm -rf "$folder/appendonlydir" && echo "done" || fail "lose: $(log)" ;;
    *) fail "unknown order: $order" ;;
    esac
done
