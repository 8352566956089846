/** The MCP project's conformance test of authorization servers, with the user at our pages. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { suite, test } from 'node:test'

import { createClient, oauthServer } from '../support/oauth-server.ts'
import { openBrowser, refreshIn } from '../support/page-browser.ts'
import { freePort } from '../support/processes/free-port.ts'
import { build } from '../support/server.ts'
import { password, signUpUser } from '../support/users.ts'

suite('MCP conformance', () => {
  test('passes for the metadata and the code grant', async (t) => {
    const [port, callbackPort] = [await freePort(), await freePort()]
    const issuer = `http://127.0.0.1:${port}`
    const { app } = await build(t, { env: { ...oauthServer, AUTH_API_EXTERNAL_URL: issuer } })
    await app.listen({ host: '127.0.0.1', port })
    const { email } = await signUpUser(app)
    const client = await createClient(app, {
      token_endpoint_auth_method: 'none',
      redirect_uris: [`http://127.0.0.1:${callbackPort}/callback`],
    })
    const options = ['--url', issuer, '--client-id', client.client_id, '-p', `${callbackPort}`]
    const program = spawn('conformance', ['authorization', ...options])
    t.after(() => void program.kill())

    async function signIn(url: string) {
      const browser = openBrowser(app)
      const page = await browser.open(url)
      const consent = await browser.submit(page, { email, password, action: 'password' })
      const done = await browser.submit(consent, { action: 'approve' })
      await fetch(refreshIn(done.html) ?? '')
    }

    let output = ''
    let isSent = false
    const read = async (chunk: Buffer) => {
      output += chunk
      const url = /http:\S+\/oauth\/authorize\?\S+/.exec(output)?.[0]
      if (!url || isSent) return
      isSent = true
      await signIn(url)
    }
    program.stdout.on('data', read)
    program.stderr.on('data', read)
    await new Promise((resolve) => program.on('close', resolve))
    assert.match(output, /Total: [1-9]\d* passed, 0 failed/, output)
  })
})
