# Runs a PostgreSQL server for tests until its standard input ends, then removes everything it made. A test that dies,
# however it dies, closes the pipe, so no server outlives it.
#
# The first line of the output is the server's address, or `error: ...`. The word `restart` on the input kills the server
# as a crash would and starts it again; `stop` kills it, `start` starts it. Each is answered by `done`.
#
# It listens on a socket in a folder of its own: no port to collide with, nobody else may connect. Nothing is flushed to
# the disk, which a crash of the server survives and a crash of the machine need not.
set -eu

fail() {
    echo "error: $1"
    exit 1
}

programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
PATH="${programs:+$programs:}$PATH"
command -v initdb >/dev/null && command -v pg_ctl >/dev/null ||
    fail "PostgreSQL is not installed: cargo xtask test --only servers"

folder=$(mktemp -d /tmp/artel-postgres.XXXXXX) || fail "cannot make a temporary folder"
# What goes wrong is written there: whoever waits for our output to end must not wait for the server's.
exec 2>"$folder/log"
cd "$folder"

# PostgreSQL refuses to be run by root.
as=""
if [ "$(id -u)" = 0 ]; then
    user=nobody
    id postgres >/dev/null && user=postgres
    chown "$user" "$folder"
    as="setpriv --reuid=$user --regid=$(id -g "$user") --clear-groups --"
fi

start() {
    $as pg_ctl start --pgdata data --wait --silent --log "$folder/server-log" --options "\
        -c listen_addresses= -c unix_socket_directories='$folder' -c fsync=off -c full_page_writes=off \
        -c max_connections=500 -c shared_buffers=64MB" </dev/null >/dev/null
}

stop() {
    $as pg_ctl stop --pgdata data --wait --silent --mode immediate </dev/null >/dev/null
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

$as initdb --pgdata data --auth trust --username artel --encoding UTF8 --locale C --no-sync >/dev/null ||
    fail "initdb: $(log)"
start || fail "pg_ctl start: $(log)"
echo "postgres://artel@localhost/postgres?host=$folder"

while read -r order; do
    case "$order" in
    restart) stop && start && echo "done" || fail "restart: $(log)" ;;
    stop) stop && echo "done" || fail "stop: $(log)" ;;
    start) start && echo "done" || fail "start: $(log)" ;;
    *) fail "unknown order: $order" ;;
    esac
done
