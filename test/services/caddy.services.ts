/** The shipped Caddyfile with a certificate of Caddy’s own, in front of a server that restarts. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'
import { connect } from 'node:tls'

import { cloneDatabase } from '../support/database.ts'
import type { Ending } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'
import { createFolder, missing, startProgram } from './programs.ts'

const limit = 3

suite('Caddy', { skip: missing('caddy') }, () => {
  test('terminates TLS and ignores forged client addresses', async (t) => {
    const PORT = String(await freePort())
    await startServerProcess(t, {
      PORT,
      AUTH_RATE_LIMIT_VERIFY: String(limit),
      AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED: 'true',
    })
    const caddy = await startCaddy(t, PORT)
    const statuses = []
    for (let i = 1; i <= limit + 1; i++) {
      const address = `203.0.113.${i}`
      const headers = { 'proxy-forwarded-for': address, 'x-forwarded-for': address }
      statuses.push((await caddy.send('/verify?type=signup&token=x', headers)).status)
    }
    assert.deepEqual(statuses, [...Array(limit).fill(303), 429])
  })

  test('queues requests while the server restarts', async (t) => {
    const PORT = String(await freePort())
    const DATABASE_URL = (await cloneDatabase(t)).url
    const { child, ended } = await startServerProcess(t, { PORT, DATABASE_URL })
    const caddy = await startCaddy(t, PORT)
    assert.equal((await caddy.send('/health')).status, 200)
    child.kill('SIGTERM')
    await ended
    const requested = caddy.send('/health')
    await startServerProcess(t, { PORT, DATABASE_URL })
    assert.equal((await requested).status, 200)
  })

  test('returns an API error with Retry-After without a server', async (t) => {
    const caddy = await startCaddy(t, String(await freePort()), '100ms')
    const { status, headers, body } = await caddy.send('/verify?token=secret')
    assert.equal(status, 503)
    assert.equal(headers['retry-after'], '2')
    assert.equal(headers['content-type'], 'application/json')
    assert.deepEqual(Object.keys(JSON.parse(body)), ['code', 'error_code', 'msg'])
  })
})

/** In front of the server on this port, for which a request waits at most this long. */
async function startCaddy(t: Ending, serverPort: string, tryDuration = '60s') {
  const folder = createFolder(t)
  const port = await freePort()
  const own = `
    http_port ${await freePort()}
    https_port ${port}
    # HTTP/3 would want the UDP socket that reserves the port.
    servers {
      protocols h1 h2
    }
    admin off
    skip_install_trust
    storage file_system ${folder}`
  const shipped = await readFile(new URL('../../deploy/Caddyfile', import.meta.url), 'utf8')
  const settings = shipped
    .replace(/^\{$/m, `{${own}`)
    .replace('log {', `log {\n    output file ${folder}/log`)
    .replace('{$POSTERN_DOMAIN}', 'localhost')
    .replace('reverse_proxy postern:8081', `reverse_proxy 127.0.0.1:${serverPort}`)
    .replace(/lb_try_duration .*/, `lb_try_duration ${tryDuration}`)
  const file = join(folder, 'Caddyfile')
  await writeFile(file, settings)
  await startProgram(t, 'caddy', ['run', '--adapter', 'caddyfile', '--config', file], port)
  const authority = join(folder, 'pki/authorities/local/root.crt')
  const certificate = () => readFile(authority, 'utf8').catch(() => undefined)
  await until(async () => (await certificate()) !== undefined)
  const ca = (await certificate()) ?? ''
  // It listens before its authority has signed the certificate, and aborts handshakes until then.
  await until(() => shakesHands(port, ca))

  async function send(path: string, headers: Record<string, string> = {}) {
    const requested = request({ host: 'localhost', port, path, headers, ca }).end()
    const [response]: IncomingMessage[] = await once(requested, 'response')
    assert.ok(response)
    return { status: response.statusCode, headers: response.headers, body: await text(response) }
  }
  return { send }
}

/**
 * Whether a TLS handshake with `localhost` on this port succeeds with a certificate of this authority. Sends no
 * request.
 */
async function shakesHands(port: number, ca: string): Promise<boolean> {
  const socket = connect({ host: 'localhost', servername: 'localhost', port, ca })
  try {
    await once(socket, 'secureConnect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
