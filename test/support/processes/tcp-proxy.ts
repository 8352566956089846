/** A proxy to a server, to disconnect and reconnect it. */
import { connect, createServer, type Socket } from 'node:net'

import { listen } from './listening.ts'

/** Forwards a free port of 127.0.0.1 to the host and port of `url`; `proxy.url` is `url` by way of it. */
export async function startTcpProxy(url: string) {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const upstreams = new Set<Socket>()
  const state = { cut: false, rejected: 0, delayMs: 0 }

  function track(socket: Socket): void {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  }

  const server = createServer((client) => {
    if (state.cut) {
      state.rejected += 1
      return client.destroy()
    }
    track(client)
    if (state.delayMs === 0) return forward(client)
    setTimeout(() => !client.destroyed && forward(client), state.delayMs).unref()
  })

  function forward(client: Socket): void {
    const upstream = connect(Number(target.port), target.hostname)
    track(upstream)
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstreams.add(upstream)
    upstream.on('close', () => {
      if (upstreams.delete(upstream)) client.destroy()
      else client.resume()
    })
  }
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  const through = new URL(url)
  through.host = `127.0.0.1:${await listen(server)}`

  return {
    url: through.href,
    /** Ends each connection and accepts none. */
    cut(): void {
      state.cut = true
      state.rejected = 0
      destroyAll()
    },
    /** New connections are accepted after so many milliseconds. */
    delay(ms: number): void {
      state.delayMs = ms
    },
    /** Each connection loses its server without notice to clients; new connections reach it. */
    lose(): void {
      const lost = [...upstreams]
      upstreams.clear()
      for (const upstream of lost) {
        upstream.unpipe()
        upstream.destroy()
      }
    },
    /** How many connections have been rejected since the last cut. */
    rejected: () => state.rejected,
    restore(): void {
      state.cut = false
    },
    async stop(): Promise<void> {
      destroyAll()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
