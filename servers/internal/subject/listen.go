package subject

import (
	"context"
	"net"
)

// Listen listens without keep-alive probes, which net.Listen turns on and gnet does not: thousands of connections that wait for their
// next round would all be probed at the same moment, every 15 seconds, and fill the host's queue of packets (softnet_stat, dropped).
func Listen(address string) (net.Listener, error) {
	config := net.ListenConfig{KeepAlive: -1}
	return config.Listen(context.Background(), "tcp", address)
}
