/** Connections opened in advance and still unused when the server stops. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

import { until } from '../../support/processes/until.ts'
import { build } from '../../support/server.ts'

test('an unused connection does not delay the shutdown, and running requests complete', async (t) => {
  const { app } = await build(t)
  const accepted: Socket[] = []
  app.server.on('connection', (socket) => accepted.push(socket))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port }: AddressInfo = Object(app.server.address())
  const [unused, slow, stuck] = [connect(port), connect(port), connect(port)]
  for (const socket of [slow, stuck]) socket.write('GET /health HTTP/1.1\r\nhost: auth.example\r\n')
  await until(
    () => accepted.length === 3 && accepted.filter(({ bytesRead }) => bytesRead > 0).length === 2,
  )
  const [response, unusedEnds, stuckEnds] = [
    text(slow),
    once(unused, 'close'),
    once(stuck, 'close'),
  ]

  app.server.headersTimeout = 1_000
  const closed = app.close()
  await unusedEnds
  slow.write('\r\n')

  assert.match(await response, /^HTTP\/1\.1 200 /)
  await Promise.all([stuckEnds, closed])
})
