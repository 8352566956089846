/** The protected MCP server of examples/mcp, called by the published client, next to a server of `npm run dev`. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'
import { promisify } from 'node:util'

import { startDevelopmentServer } from '../support/processes/development-server.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import { serviceRole } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'

const folder = join(import.meta.dirname, '../../examples/mcp')
const password = 'correct horse battery'

suite('examples/mcp', () => {
  const ending = endingOfSuite()
  let authUrl = ''
  let mcpUrl = ''

  before(async () => {
    ;({ url: authUrl } = await startDevelopmentServer(ending))
    mcpUrl = `http://localhost:${await freePort()}/mcp`
    const child = spawn(process.execPath, [join(folder, 'server.js')], {
      env: { ...process.env, AUTH_URL: authUrl, MCP_URL: mcpUrl },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    ending.after(async () => {
      child.kill()
      await once(child, 'exit')
    })
    await once(child.stdout, 'data')
  })

  const post = (path: string, body: object) =>
    fetch(authUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  /** A user with a confirmed address. */
  async function fetchToken(email: string): Promise<string> {
    await post('/signup', { email, password })
    let link: string | undefined
    await until(async () => {
      const messages: { to: string; links: string[] }[] = JSON.parse(
        await (await fetch(`${authUrl}/dev/messages`)).text(),
      )
      link = messages.find(({ to }) => to === email)?.links[0]
      return link !== undefined
    })
    await fetch(link ?? '', { redirect: 'manual' })
    const answer = await post('/token?grant_type=password', { email, password })
    const { access_token } = JSON.parse(await answer.text())
    return access_token
  }

  async function send(token: string, ...note: string[]): Promise<string> {
    const env = { ...process.env, MCP_URL: mcpUrl, TOKEN: token }
    const program = join(folder, 'client.js')
    return (await promisify(execFile)(process.execPath, [program, ...note], { env })).stdout
  }

  test('stores notes per user, as the README shows', async () => {
    const ann = await fetchToken('ann@example.com')
    const readme = await readFile(join(folder, 'README.md'), 'utf8')
    assert.equal(await send(ann, 'buy bread'), /```\n(tools:[\s\S]*?)```/.exec(readme)?.[1])
    assert.match(await send(await fetchToken('ben@example.com')), /my_notes: There are none\./)
    assert.match(await send(ann, 'and butter'), /my_notes: buy bread\nand butter/)
  })

  test('returns 401 with the metadata URL to a request without a token', async () => {
    const answer = await fetch(mcpUrl, { method: 'POST' })
    assert.equal(answer.status, 401)
    const challenge = answer.headers.get('www-authenticate') ?? ''
    const [, url = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? []
    const metadata = JSON.parse(await (await fetch(url)).text())
    assert.equal(metadata.resource, mcpUrl)
    assert.equal('authorization_servers' in metadata, false)
  })

  test('rejects a token without a user, with a wrong signature or of another form', async () => {
    const user = await fetchToken('cyd@example.com')
    const [header = '', payload = ''] = user.split('.')
    const cut = `${header}.${payload}.${'A'.repeat(86)}`
    for (const token of [await serviceRole(), cut, 'none']) {
      const headers = { authorization: `Bearer ${token}` }
      assert.equal((await fetch(mcpUrl, { method: 'POST', headers })).status, 401)
    }
  })

  test('rejects requests of a page of another site', async () => {
    const origin = { origin: 'https://evil.example' }
    assert.equal((await fetch(mcpUrl, { method: 'POST', headers: origin })).status, 403)
    const other = mcpUrl.replace('localhost', '127.0.0.1')
    assert.equal((await fetch(other, { method: 'POST' })).status, 403)
  })
})
