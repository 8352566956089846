/** The shipped nginx.conf with a certificate of its own, in front of a server. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'

import type { Ending } from '../../support/processes/ending.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { startServerProcess } from '../../support/processes/server-process.ts'
import { createFolder, missing, startProgram } from '../programs.ts'

const limit = 3

suite('nginx', { skip: missing('nginx', 'openssl') }, () => {
  test('terminates TLS and ignores forged client addresses', async (t) => {
    const PORT = String(await freePort())
    await startServerProcess(t, {
      PORT,
      AUTH_RATE_LIMIT_VERIFY: String(limit),
      AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED: 'true',
    })
    const nginx = await startNginx(t, PORT)
    const statuses = []
    for (let i = 1; i <= limit + 1; i++) {
      const address = `203.0.113.${i}`
      const headers = { 'proxy-forwarded-for': address, 'x-forwarded-for': address }
      statuses.push((await nginx.send('/verify?type=signup&token=x', headers)).status)
    }
    assert.deepEqual(statuses, [...Array(limit).fill(303), 429])
    const { headers } = await nginx.send('/health')
    assert.equal(headers['strict-transport-security'], 'max-age=31536000')
    assert.doesNotMatch(await readFile(nginx.log, 'utf8'), /token=x/)
  })

  test('returns an API error with Retry-After without a server', async (t) => {
    const nginx = await startNginx(t, String(await freePort()))
    const { status, headers, body } = await nginx.send('/health')
    assert.equal(status, 503)
    assert.equal(headers['retry-after'], '2')
    assert.equal(headers['content-type'], 'application/json')
    assert.deepEqual(Object.keys(JSON.parse(body)), ['code', 'error_code', 'msg'])
  })
})

/** In front of the server on this port. */
async function startNginx(t: Ending, serverPort: string) {
  const folder = createFolder(t)
  const [port, plainPort] = [await freePort(), await freePort()]
  const certificates = join(folder, 'certificates')
  await mkdir(certificates)
  const log = join(folder, 'access.log')
  const ca = await makeCertificate(certificates)
  const shipped = await readFile(
    new URL('../../../deploy/nginx.conf.template', import.meta.url),
    'utf8',
  )
  const settings = shipped
    .replaceAll(/\$\{POSTERN_DOMAIN\}/g, 'localhost')
    .replace('listen 80;', `listen 127.0.0.1:${plainPort};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
    // Debian 12 has 1.22, which knows it as a parameter of listen.
    .replace(/^ *http2 on;\n/m, '')
    .replaceAll('/etc/nginx/certificates', certificates)
    .replaceAll('/dev/stdout', log)
    .replace('http://postern:8081', `http://127.0.0.1:${serverPort}`)
  const file = join(folder, 'nginx.conf')
  await writeFile(
    file,
    `${process.getuid?.() === 0 ? 'user root;' : ''}
    daemon off;
    pid ${folder}/pid;
    error_log ${folder}/error.log;
    events {}
    http {
      client_body_temp_path ${folder}/body;
      proxy_temp_path ${folder}/proxy;
      fastcgi_temp_path ${folder}/fastcgi;
      uwsgi_temp_path ${folder}/uwsgi;
      scgi_temp_path ${folder}/scgi;
      ${settings}
    }`,
  )
  await startProgram(t, 'nginx', ['-e', `${folder}/error.log`, '-c', file], port)

  async function send(path: string, headers: Record<string, string> = {}) {
    const requested = request({ host: 'localhost', port, path, headers, ca }).end()
    const [response]: IncomingMessage[] = await once(requested, 'response')
    assert.ok(response)
    return { status: response.statusCode, headers: response.headers, body: await text(response) }
  }
  return { send, log }
}

async function makeCertificate(folder: string): Promise<string> {
  const certificate = join(folder, 'fullchain.pem')
  const files = ['-keyout', join(folder, 'privkey.pem'), '-out', certificate]
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', '-x509', ...key, '-days', '2', ...name, ...files], {
    stdio: 'ignore',
  })
  return readFile(certificate, 'utf8')
}
