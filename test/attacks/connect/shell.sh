# Programs that connect for somebody.
exec 2>/dev/null
bash -c "exec 3<>/dev/tcp/127.0.0.1/$A_PORT && echo hello >&3"
bash -c "echo hello >/dev/udp/127.0.0.1/$A_PORT"
python3 -c "import socket; socket.create_connection(('localhost', $A_PORT)).send(b'x')"
perl -MIO::Socket::INET -e 'IO::Socket::INET->new("127.0.0.1:'"$A_PORT"'")'
curl -s -m 2 "http://127.0.0.1:$A_PORT/"
true
