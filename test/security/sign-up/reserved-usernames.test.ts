/** Usernames that a user chose with the address of another one. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import { everyFactor } from '../../support/factors/factors.ts'
import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import type { ReceivedMail } from '../../support/messages/mail-server.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode, verify } from '../../support/requests.ts'
import type { App, Built } from '../../support/server.ts'
import { autoconfirm, bodyOf200, newAddress, signUp } from '../../support/users.ts'

const usernames = { AUTH_USERNAMES_ENABLED: 'true' }
const [mine, theirs] = ['the password of the holder', 'the password of another user']

let count = 0
const newName = () => `chosen-${count++}`

const isFree = async (app: App, username: string): Promise<boolean> =>
  bodyOf200<{ available: boolean }>(await call(app, '/signup/username', { username })).available

async function assertNameless(app: App, { access_token }: Session): Promise<void> {
  const present = await call(app, '/user/username', undefined, { token: access_token })
  assert.deepEqual(present.json(), { username: null })
  const [, payload = ''] = access_token.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  assert.equal(claims.preferred_username, undefined)
}

/** A sign-up and its email. */
const received = (server: Built, email: string, more: object, password = mine) =>
  emailAfter(server, email, () => signUp(server.app, { email, password }, more))

const confirm = async ({ app }: Built, email: string, message: ReceivedMail) =>
  bodyOf200<Session>(await verify(app, { type: 'signup', email, token: codeIn(message) }))

suite('username of another user’s sign-up', () => {
  const servers = sharedServers()

  test('does not become that of the holder of the address who signs up without one', async () => {
    const server = await servers(usernames)
    const [email, username] = [newAddress(), newName()]
    await received(server, email, { username }, theirs)
    const session = await confirm(server, email, await received(server, email, {}))
    await assertNameless(server.app, session)
    assert.ok(await isFree(server.app, username))
  })

  test('is not assigned after two sign-ups with different passwords and names', async () => {
    for (const order of [0, 1]) {
      const server = await servers(usernames)
      const email = newAddress()
      const attacker = () => received(server, email, { username: newName() }, theirs)
      const holder = () => received(server, email, { username: newName() })
      const acts = order === 0 ? [attacker, holder] : [holder, attacker]
      await acts[0]?.()
      const message = await acts[1]?.()
      assert.ok(message)
      await assertNameless(server.app, await confirm(server, email, message))
    }
  })

  test('is assigned when the same user repeats the sign-up with another name', async () => {
    const server = await servers(usernames)
    const [email, username] = [newAddress(), newName()]
    await received(server, email, { username: newName() })
    const session = await confirm(server, email, await received(server, email, { username }))
    const present = await call(server.app, '/user/username', undefined, {
      token: session.access_token,
    })
    assert.equal(present.json().username, username)
  })

  test('is not assigned by a later proof of the address', async () => {
    const server = await servers(usernames)
    const { app } = server
    const [email, username] = [newAddress(), newName()]
    await received(server, email, { username }, theirs)
    const magic = await emailAfter(server, email, () => call(app, '/otp', { email }))
    const session = await openMagicLink(app, email, codeIn(magic))
    await assertNameless(app, session)
  })

  test('is removed from an autoconfirmed account when the holder proves its address', async () => {
    const server = await servers({ ...usernames, ...autoconfirm })
    const { app } = server
    const [email, username] = [newAddress(), newName()]
    bodyOf200(await signUp(app, { email, password: theirs }, { username }))
    assert.ok(!(await isFree(app, username)))
    const magic = await emailAfter(server, email, () => call(app, '/otp', { email }))
    await assertNameless(app, await openMagicLink(app, email, codeIn(magic)))
    assert.ok(await isFree(app, username))
  })

  test('is removed as well when the other user chose it after the sign-up', async () => {
    const server = await servers({ ...usernames, ...autoconfirm })
    const { app } = server
    const [email, username] = [newAddress(), newName()]
    const attacker: Session = bodyOf200(await signUp(app, { email, password: theirs }))
    const token = attacker.access_token
    bodyOf200(await call(app, '/user/username', { username }, { method: 'PUT', token }))
    const magic = await emailAfter(server, email, () => call(app, '/otp', { email }))
    await assertNameless(app, await openMagicLink(app, email, codeIn(magic)))
  })

  test('does not concern a name that an admin set, which stays', async () => {
    const server = await servers({ ...usernames, ...autoconfirm })
    const { app } = server
    const [email, username] = [newAddress(), newName()]
    const { user }: Session = bodyOf200(await signUp(app, { email, password: theirs }))
    await adminCall<object>(app, 'PUT', `/admin/users/${user.id}/username`, { username })
    const magic = await emailAfter(server, email, () => call(app, '/otp', { email }))
    const session = await openMagicLink(app, email, codeIn(magic))
    const present = await call(app, '/user/username', undefined, { token: session.access_token })
    assert.equal(present.json().username, username)
  })
})

async function openMagicLink(app: App, email: string, token: string): Promise<Session> {
  return bodyOf200(await verify(app, { type: 'magiclink', email, token }))
}

suite('usernames held by unverified sign-ups', () => {
  const servers = sharedServers()
  const limits = {
    ...usernames,
    AUTH_USERNAMES_MAX_UNVERIFIED: '2',
    AUTH_RATE_LIMIT_HEADER: 'X-Forwarded-For',
    AUTH_RATE_LIMIT_OTP: '10000',
  }
  let network = 0
  const newNetwork = () => ({ 'x-forwarded-for': `203.0.113.${++network}` })
  const sign = (app: App, headers: Record<string, string>, email = newAddress()) =>
    call(app, '/signup', { email, password: mine, username: newName() }, { headers })

  test('are limited for each network, also for addresses in use', async () => {
    const server = await servers(limits)
    const { app } = server
    const [headers, other] = [newNetwork(), newNetwork()]
    const [taken, second] = [newAddress(), newAddress()]
    for (const email of [taken, second]) {
      await adminCall(app, 'POST', '/admin/users', { email, email_confirm: true })
    }
    assert.equal((await sign(app, headers, taken)).statusCode, 200)
    assert.equal((await sign(app, headers)).statusCode, 200)
    for (const email of [newAddress(), second]) {
      const refused = await sign(app, headers, email)
      assert.deepEqual(statusAndCode(refused), [429, 'over_request_rate_limit'])
      assert.ok(Number(refused.headers['retry-after']) > 80_000)
    }
    assert.equal((await sign(app, other)).statusCode, 200)
    const without = { email: newAddress(), password: mine }
    assert.equal((await call(app, '/signup', without, { headers })).statusCode, 200)
  })

  test('are counted until the address is confirmed', async () => {
    const server = await servers(limits)
    const { app } = server
    const headers = newNetwork()
    await sign(app, headers)
    const email = newAddress()
    const message = await emailAfter(server, email, () => sign(app, headers, email))
    assert.equal((await sign(app, headers)).statusCode, 429)
    await confirm(server, email, message)
    assert.equal((await sign(app, headers)).statusCode, 200)
  })

  test('include those of autoconfirmed accounts', async () => {
    const { app } = await servers({ ...limits, ...autoconfirm, ...everyFactor })
    const headers = newNetwork()
    bodyOf200(await sign(app, headers))
    const user = { email: newAddress(), password: mine }
    const session: Session = bodyOf200(await call(app, '/signup', user, { headers }))
    const choose = ({ access_token: token }: Session) =>
      call(app, '/user/username', { username: newName() }, { method: 'PUT', token, headers })
    bodyOf200(await choose(session))
    const third: Session = bodyOf200(
      await call(app, '/signup', { ...user, email: newAddress() }, { headers }),
    )
    assert.deepEqual(statusAndCode(await choose(third)), [429, 'over_request_rate_limit'])
    assert.equal((await sign(app, headers)).statusCode, 429)
  })
})
