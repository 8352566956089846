/**
 * Closes connections without a request at shutdown. Browsers and load balancers open them ahead of time, and Node
 * counts them as active, so shutdown would wait for their timeout.
 */
import type { Socket } from 'node:net'

import { defineHooksPlugin } from '../define-plugin.ts'

export default defineHooksPlugin({
  name: 'idle-connections',
  deps: ['server', 'addHook'],
  install(deps) {
    const { server } = deps
    const unused = new Set<Socket>()
    let isClosing = false

    server.on('connection', (socket: Socket) => {
      unused.add(socket)
      socket.once('close', () => unused.delete(socket))
      if (isClosing) socket.destroy()
    })
    server.on('request', ({ socket }) => unused.delete(socket))

    deps.addHook('preClose', (done) => {
      isClosing = true
      for (const socket of unused) if (socket.bytesRead === 0) socket.destroy()
      if (unused.size > 0) setTimeout(destroyAll, server.headersTimeout, unused).unref()
      done()
    })
  },
})

/** Connections with an incomplete request: after shutdown began, no other time-out ends them. */
function destroyAll(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy()
}
