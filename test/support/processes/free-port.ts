import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'

/**
 * A free TCP port of 127.0.0.1 that no other call, in this process or another, gets until this process ends. It is
 * outside the range of outgoing connections.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 15_000)
    if ((await reserve(port)) && (await isFree(port))) return port
  }
}

/** A UDP socket reserves the number: servers listen on TCP, so it conflicts with none. */
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
