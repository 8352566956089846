import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

/**
 * A TCP port of 127.0.0.1 that nobody listens on, and that no other call, in this process or another, is given until this
 * process ends. It is not one that the system gives to outgoing connections.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 15_000)
    if ((await reserve(port)) && (await isFree(port))) return port
  }
}

/** A UDP socket of the same number holds it: servers listen on TCP, so it is in nobody's way. */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4')
    socket.unref()
    socket.once('error', () => resolve(false))
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true))
  })
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
