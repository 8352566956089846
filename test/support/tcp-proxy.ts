/** Stands between us and a server, so that a test can take that server away and give it back. */
import { connect, createServer, type Socket } from 'node:net'

import { listen } from './listening.ts'

/** Forwards a free port of 127.0.0.1 to the host and port of `url`; `proxy.url` is `url` by way of it. */
export async function startTcpProxy(url: string) {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const upstreams = new Set<Socket>()
  const state = { cut: false, refused: 0 }

  function track(socket: Socket): void {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  }

  const server = createServer((client) => {
    if (state.cut) {
      state.refused += 1
      return client.destroy()
    }
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) track(socket)
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstreams.add(upstream)
    upstream.on('close', () => {
      if (upstreams.delete(upstream)) client.destroy()
      else client.resume()
    })
  })
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  const through = new URL(url)
  through.host = `127.0.0.1:${await listen(server)}`

  return {
    url: through.href,
    /** Ends every connection and accepts none. */
    cut(): void {
      state.cut = true
      state.refused = 0
      destroyAll()
    },
    /** The server of every connection is gone and its clients are not told; new ones come to it again. */
    lose(): void {
      const lost = [...upstreams]
      upstreams.clear()
      for (const upstream of lost) {
        upstream.unpipe()
        upstream.destroy()
      }
    },
    /** How many connections have been refused since the last cut. */
    refused: () => state.refused,
    restore(): void {
      state.cut = false
    },
    async stop(): Promise<void> {
      destroyAll()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
