/** Cookie headers that another host of the domain, another program or an attacker wrote. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { oauthServer } from '../../support/oauth-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'

const value = 'A'.repeat(43)
const https = { AUTH_API_EXTERNAL_URL: 'https://auth.example' }

suite('cookie headers', () => {
  const serverFor = sharedServers()

  /** The Set-Cookie header of the sign-in page; undefined when it knows the browser by its cookie. */
  async function setCookie(cookie: string, env: Record<string, string> = {}) {
    const { app } = await serverFor({ ...oauthServer, ...env })
    const response = await app.inject({ url: '/sign-in', headers: { cookie } })
    assert.equal(response.statusCode, 200, response.body)
    return response.headers['set-cookie']
  }

  const known: Record<string, string> = {
    'the cookie alone': `postern-session=${value}`,
    'the cookie in white space': ` postern-session = ${value} `,
    'two cookies of the name, the valid one first': `postern-session=${value}; postern-session=x`,
    'the cookie after names of properties of every object': `__proto__=x; constructor=x; postern-session=${value}`,
    'the cookie after values that are not URL-encoded': `a=%E0%A4%A; b=%; postern-session=${value}`,
    'the cookie after parts without name or value': `;;=; =x; x; postern-session=${value}`,
    'the cookie after ten thousand bytes of others': `${'a=;'.repeat(3_333)} postern-session=${value}`,
  }
  for (const [title, cookie] of Object.entries(known)) {
    test(`identifies the browser by ${title}`, async () => {
      assert.equal(await setCookie(cookie), undefined)
    })
  }

  const unknown: Record<string, string> = {
    'no cookie': '',
    'two cookies of the name, the valid one second': `postern-session=x; postern-session=${value}`,
    'another name that ends with it': `x-postern-session=${value}`,
    'another name that begins with it': `postern-session-x=${value}`,
    'the value in another cookie': `a="postern-session=${value}"`,
    'a value of another form': `postern-session=${value}A`,
    'the name in upper case': `POSTERN-SESSION=${value}`,
  }
  for (const [title, cookie] of Object.entries(unknown)) {
    test(`does not identify the browser by ${title}`, async () => {
      const pattern = /^postern-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/
      assert.match(String(await setCookie(cookie)), pattern)
    })
  }

  test('requires the prefix __Host- of the cookie where the server is reached by https', async () => {
    assert.equal(await setCookie(`__Host-postern-session=${value}`, https), undefined)
    const pattern = /^__Host-postern-session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/
    assert.match(String(await setCookie(`postern-session=${value}`, https)), pattern)
  })

  test('rejects GET /user with a cookie alone, and sets none', async () => {
    const { app } = await serverFor(oauthServer)
    for (const cookie of ['', `postern-session=${value}`, '%;;=']) {
      const response = await app.inject({ url: '/user', headers: { cookie } })
      assert.equal(response.statusCode, 401)
      assert.equal(response.headers['set-cookie'], undefined)
    }
  })
})
