/** Ids in forms of the pages become parts of API paths: none may name another path. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { accountPage, accountUser, addApp } from '../../support/account-pages.ts'
import { everyFactor } from '../../support/factors/factors.ts'
import { passkeysOn } from '../../support/factors/passkeys.ts'
import { openBrowser, type PageResponse, titleIn } from '../../support/page-browser.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { getUser } from '../../support/requests.ts'
import { password, signIn } from '../../support/users.ts'

const env = {
  ...everyFactor,
  ...passkeysOn,
  ...accountPage,
  AUTH_USER_SELF_DELETE_ENABLED: 'true',
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: 'true',
}

/** What resolves to another path, and what is empty or too long. */
const ids = [
  '..',
  '.',
  '',
  '%2e%2e',
  '../..',
  '..%2f..',
  '..\\..',
  '../../user',
  '//',
  '?x',
  '#',
  `${crypto.randomUUID()}/..`,
  `${crypto.randomUUID()}/../..`,
  'a'.repeat(5000),
]

/** Every action of the account page that names an object by its id. */
const actions: [page: string, fields: Record<string, string>, id: string][] = [
  ['linked', { action: 'unlink' }, 'identity_id'],
  ['devices', { action: 'revoke' }, 'session_id'],
  ['factors', { action: 'remove' }, 'factor_id'],
  ['factors', { action: 'verify', code: '123456' }, 'factor_id'],
  ['factors', { action: 'verify', code: '123456', challenge_id: 'x' }, 'factor_id'],
  ['factors', { action: 'register', challenge_id: 'x', credential: '{}' }, 'factor_id'],
  ['passkeys', { action: 'rename', name: 'x' }, 'passkey_id'],
  ['passkeys', { action: 'remove' }, 'passkey_id'],
]

function tokenIn({ html }: PageResponse): string {
  const token = /name="form_token" value="([^"]+)"/.exec(html)?.[1]
  assert.ok(token, html)
  return token
}

suite('ids in the forms of the pages', () => {
  const serverFor = sharedServers()

  test('reach no other endpoint by the account page', async () => {
    const { app } = await serverFor(env)
    const { browser, email, ...user } = await accountUser(app)
    const form_token = tokenIn(await browser.open('/account/profile'))
    for (const [page, fields, name] of actions) {
      for (const id of ids) {
        const title = `${page} ${fields.action} ${id.slice(0, 60)}`
        const sent = { ...fields, form_token, [name]: id }
        const { status } = await browser.send('POST', `/account/${page}`, sent)
        assert.equal(status, 400, title)
        assert.equal((await getUser(app, user)).statusCode, 200, title)
      }
    }
    assert.equal((await signIn(app, { email, password })).statusCode, 200)
  })

  test('reach no other endpoint by the page of the second factor', async () => {
    const { app } = await serverFor(env)
    const { browser, email } = await accountUser(app)
    await addApp(browser)
    const limited = openBrowser(app)
    const page = await limited.open('/account')
    const factor = await limited.submit(page, { email, password, action: 'password' })
    assert.equal(titleIn(factor), 'Second factor')
    const form_token = tokenIn(factor)
    for (const action of ['totp', 'challenge', 'key', 'code']) {
      for (const factor_id of ids) {
        const sent = { form_token, action, factor_id, code: '123456', challenge_id: 'x' }
        const { status } = await limited.send('POST', '/sign-in/factor', sent)
        assert.equal(status, 400, `${action} ${factor_id.slice(0, 60)}`)
      }
    }
    assert.equal((await signIn(app, { email, password })).statusCode, 200)
  })
})
