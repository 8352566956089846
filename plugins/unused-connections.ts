/**
 * Connections on which nothing has been asked yet. Browsers and balancers open them ahead; Node takes them for busy,
 * so that a server that stops would wait for them until they time out.
 */
import type { Socket } from 'node:net'

import { defineExtension } from './define-plugin.ts'

export default defineExtension({
  name: 'unused-connections',
  needs: ['server', 'addHook'],
  install(house) {
    const { server } = house
    const unused = new Set<Socket>()
    let isClosing = false

    server.on('connection', (socket: Socket) => {
      unused.add(socket)
      socket.once('close', () => unused.delete(socket))
      if (isClosing) socket.destroy()
    })
    server.on('request', ({ socket }) => unused.delete(socket))

    house.addHook('preClose', (done) => {
      isClosing = true
      for (const socket of unused) if (socket.bytesRead === 0) socket.destroy()
      if (unused.size > 0) setTimeout(destroyAll, server.headersTimeout, unused).unref()
      done()
    })
  },
})

/** Of those who had begun to ask and did not come to an end: from now on nobody else looks at how long they take. */
function destroyAll(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy()
}
