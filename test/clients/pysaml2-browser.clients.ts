/** A browser between this server and an identity provider made of pysaml2: sign-in and single logout. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'

import { createFolder, missing, startProgram } from '../services/programs.ts'
import { freePort } from '../support/processes/free-port.ts'
import { call, refresh } from '../support/requests.ts'
import { createIdp } from '../support/saml/idp.ts'
import { addIdp, samlOn } from '../support/saml/server.ts'
import { build } from '../support/server.ts'
import { bodyOf200 } from '../support/users.ts'
import { installPysaml2, writeKeys } from './pysaml2.ts'

const redirect_to = 'http://app.example/signed-in'
const entities: Record<string, string> = { amp: '&', quot: '"', '#34': '"', lt: '<', gt: '>' }
const decode = (text: string) =>
  text.replace(/&(\w+|#\d+);/g, (entity, name: string) => entities[name] ?? entity)

/** Follows redirects and submits the form of each page, until the app is reached or a page has no form. */
async function browse(start: string, cookies = new Map<string, string>()): Promise<URL> {
  let [action, fields]: [string, URLSearchParams | undefined] = [start, undefined]
  for (let step = 0; step < 10; step += 1) {
    const response = await fetch(action, {
      ...(fields && { method: 'POST', body: fields }),
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      redirect: 'manual',
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    const page = await response.text()
    assert.ok(response.status < 400, `${action}: ${response.status} ${page.slice(0, 500)}`)
    if (location?.startsWith('http://app.example/')) return new URL(location)
    const target = location ?? /<form[^>]* action="([^"]+)"/.exec(page)?.[1]
    if (target === undefined) return new URL(action)
    action = new URL(location ?? decode(target), action).href
    const inputs = [...page.matchAll(/<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g)]
    const named = inputs.map(([, name = '', value = '']) => [name, decode(value)] as const)
    fields = location ? undefined : new URLSearchParams(Object.fromEntries(named))
  }
  throw new Error(`too many steps at ${action}`)
}

const skip = missing('xmlsec1', 'python3')

test('pysaml2 as an identity provider signs users in and out', { skip }, async (t) => {
  const [port, idpPort] = [await freePort(), await freePort()]
  const [base, idp] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${idpPort}`]
  const env = { ...samlOn, AUTH_API_EXTERNAL_URL: base, AUTH_EXTERNAL_BIND_BROWSER: 'always' }
  const { app } = await build(t, { env })
  await app.listen({ host: '127.0.0.1', port })
  const folder = createFolder(t)
  const keys = createIdp()
  await writeKeys(folder, 'idp', keys)
  const script = join(import.meta.dirname, 'pysaml2_server.py')
  const args = ['-W', 'ignore', script, folder, String(idpPort), `${base}/sso/saml/metadata`]
  await startProgram(t, installPysaml2(folder), args, idpPort)
  const metadata = await (await fetch(`${idp}/metadata`)).text()
  const { id } = await addIdp(app, {}, { ...keys, entityId: `${idp}/metadata`, metadata })

  async function signIn() {
    const body = { provider_id: id, skip_http_redirect: true, redirect_to }
    const { url } = bodyOf200<{ url: string }>(await call(app, '/sso', body))
    const landed = await browse(url)
    assert.ok(landed.href.startsWith(redirect_to), landed.href)
    const session = Object.fromEntries(new URLSearchParams(landed.hash.slice(1)))
    assert.ok(session.access_token, landed.href)
    return { token: session.access_token, refreshToken: session.refresh_token ?? '' }
  }
  const received = async (): Promise<string> => (await fetch(`${idp}/received`)).text()
  const isSignedIn = async (token: string) => (await refresh(app, token)).statusCode === 200

  async function logOut(token: string): Promise<URL> {
    const target = { redirect_to: 'http://app.example/goodbye' }
    const answer = await call(app, '/logout/sso', target, { token })
    return browse(bodyOf200<{ url: string }>(answer).url)
  }

  await t.test('sign-in that starts here, bound to the browser', async () => {
    const { refreshToken } = await signIn()
    assert.ok(await isSignedIn(refreshToken))
    assert.equal(await received(), '["AuthnRequest by redirect"]')
  })

  await t.test('logout that starts here, with a signed response', async () => {
    const { token, refreshToken } = await signIn()
    assert.equal((await logOut(token)).href, 'http://app.example/goodbye')
    assert.equal(await isSignedIn(refreshToken), false)
    assert.ok((await received()).includes('LogoutRequest of ann'))
  })

  await t.test('logout that starts there, with our signed response', async () => {
    const { refreshToken } = await signIn()
    const landed = await browse(`${idp}/start-logout`)
    assert.equal(landed.href, `${idp}/done`)
    assert.equal(await isSignedIn(refreshToken), false)
    assert.ok((await received()).includes('LogoutResponse ok'))
  })

  await t.test('logout that starts here, with a response without a signature', async () => {
    await fetch(`${idp}/unsigned`)
    const { token, refreshToken } = await signIn()
    assert.equal((await logOut(token)).href, 'http://app.example/goodbye')
    assert.equal(await isSignedIn(refreshToken), false)
  })
})
