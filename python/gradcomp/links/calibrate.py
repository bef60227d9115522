"""Measures the rate of a link between two nodes by a plain TCP stream: python3 calibrate.py send|receive ADDRESS SECONDS."""
import socket
import sys
import time

PORT, CHUNK = 17717, 1 << 18


def receive(address, _):
    """Prints the bits per second of one stream, without its first tenth: the token bucket is full at first."""
    with socket.create_server((address, PORT)) as server:
        print("listening", flush=True)
        peer, _ = server.accept()
        with peer:
            arrived, block = [], bytearray(CHUNK)
            while count := peer.recv_into(block):
                arrived.append((time.monotonic(), count))
    first = len(arrived) // 10
    late = arrived[first + 1:]
    print(8 * sum(count for _, count in late) / (late[-1][0] - arrived[first][0]) if late else 0)


def send(address, seconds):
    """Sends for so many seconds."""
    with socket.create_connection((address, PORT), timeout=10) as peer:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            peer.sendall(bytes(CHUNK))


if __name__ == "__main__":
    {"send": send, "receive": receive}[sys.argv[1]](sys.argv[2], float(sys.argv[3]))
