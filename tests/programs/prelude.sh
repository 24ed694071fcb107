# What the scripts of programs share, after prelude.sh of tests/defects. $DIR is the program's directory, $PORT a free port.

# as_user NAME: the words before a command that runs as this user, and may write to $DIR; none where we are not root.
as_user() {
    [ "$(id -u)" = 0 ] || return 0
    chmod 755 "$DIR"
    echo "setpriv --reuid=$1 --regid=$1 --clear-groups --"
}

# with_client COMMANDS COMMAND...: runs the command, a server, and each time that it listens on $PORT these commands beside it, which end it.
# The client is no child of the server, and not watched.
with_client() {
    client=$1
    shift
    (
        trap 'exit 0' TERM
        while sleep 0.1; do
            listens || continue
            eval "$client"
            for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do listens && sleep 0.1 || break; done
        done
    ) </dev/null >"$DIR/client.log" 2>&1 &
    "$@" >"$DIR/server.log" 2>&1
}

# Whether a server listens on $PORT of 127.0.0.1, or of any address, without connecting to it. A JVM does so by IPv6.
listens() {
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
        grep -qE ": (0100007F|0+(FFFF00000100007F)?):$(printf %04X "$PORT") [0:]+ 0A "
}

# end NAME: ends the server whose process id is in this file of $DIR.
end() { kill -TERM "$(cat "$DIR/$1")"; }
