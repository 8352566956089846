/** A DNS server on loopback with the TXT records that a test publishes. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'

import dns from 'dns-packet'

import type { Ending } from '../processes/ending.ts'

export async function startDnsServer(t: Ending) {
  const records = new Map<string, string[]>()
  const socket = createSocket('udp4')
  socket.on('message', (message, { port, address }) => {
    const { id, questions = [] } = dns.decode(message)
    const answers = questions.flatMap(({ name, type }) =>
      type === 'TXT'
        ? (records.get(name.toLowerCase()) ?? []).map((data) => ({ type, name, ttl: 1, data }))
        : [],
    )
    socket.send(dns.encode({ type: 'response', id, questions, answers }), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(async () => {
    socket.close()
  })
  return {
    server: `127.0.0.1:${socket.address().port}`,
    publish(name: string, value: string): void {
      records.set(name.toLowerCase(), [...(records.get(name.toLowerCase()) ?? []), value])
    },
  }
}
