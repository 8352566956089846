/** Invented sign-ups exhaust the sign-up budget of one client and no other budget. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { buildWithSms, codeAfter } from '../../support/messages/phone-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { type App, type Built, build } from '../../support/server.ts'
import { newAddress, newNumber, password, phoneUser } from '../../support/users.ts'
import { insertUser, withFullQuotas } from './quota-settings.ts'

const env = {
  AUTH_RATE_LIMIT_EMAIL_SENT: '30',
  AUTH_RATE_LIMIT_HEADER: 'X-Real-IP',
  AUTH_RATE_LIMIT_OTP: '1000',
}

const from = (address: string) => ({ headers: { 'x-real-ip': address } })
const signUp = (app: App, client: string, email = newAddress()) =>
  call(app, '/signup', { email, password }, from(client))

async function inventedSignUps({ app }: Built, count: number, client: string) {
  const statuses = []
  for (let i = 0; i < count; i++) statuses.push((await signUp(app, client)).statusCode)
  return statuses
}

suite('30 sign-ups with invented emails', () => {
  // Each test has its own clients.
  const servers = sharedServers()

  test('do not throttle recovery and sign-in, also of the same client', async () => {
    const server = await withFullQuotas(await servers(env))
    const email = await insertUser(server)
    await inventedSignUps(server, 30, '203.0.113.6')
    for (const [path, subject] of [
      ['/recover', 'Reset your password'],
      ['/magiclink', 'Your sign-in link'],
    ] as const) {
      const { mail } = await emailAfter(server, email, () =>
        call(server.app, path, { email }, from('203.0.113.6')),
      )
      assert.equal(mail.subject, subject)
    }
  })

  test('throttle the sending client only', async () => {
    const server = await withFullQuotas(await servers(env))
    const statuses = await inventedSignUps(server, 30, '203.0.113.7')
    assert.deepEqual(statuses, [...Array(20).fill(200), ...Array(10).fill(429)])
    assert.equal((await signUp(server.app, '203.0.113.8')).statusCode, 200)
  })

  test('are counted per /64 IPv6 network', async () => {
    const server = await withFullQuotas(await servers(env))
    const statuses = []
    for (let i = 0; i < 21; i++) {
      statuses.push((await signUp(server.app, `2001:db8::${i.toString(16)}`)).statusCode)
    }
    assert.equal(statuses.at(-1), 429)
  })

  test('are counted by connection address without a header or proxy', async (t) => {
    const server = await build(t, { env: { AUTH_RATE_LIMIT_EMAIL_SENT: '30' } })
    const send = (remoteAddress: string, claimed: string) =>
      server.app.inject({
        method: 'POST',
        url: '/signup',
        payload: { email: newAddress(), password },
        remoteAddress,
        headers: { 'x-forwarded-for': claimed, 'x-real-ip': claimed },
      })
    const statuses = []
    for (let i = 0; i < 21; i++) {
      statuses.push((await send('203.0.113.7', `198.51.100.${i}`)).statusCode)
    }
    assert.equal(statuses.at(-1), 429)
    assert.equal((await send('203.0.113.8', '198.51.100.1')).statusCode, 200)
  })

  test('for one email are throttled across clients', async () => {
    const server = await withFullQuotas(await servers(env))
    const email = newAddress()
    const statuses = []
    for (let i = 0; i < 21; i++) {
      statuses.push((await signUp(server.app, `198.51.100.${i}`, email)).statusCode)
    }
    assert.deepEqual(statuses, [...Array(20).fill(200), 429])
  })
})

suite('30 SMS codes to invented numbers', () => {
  test('do not throttle sign-ins by phone, and reveal no account', async (t) => {
    const limits = { AUTH_RATE_LIMIT_SMS_SENT: '3', AUTH_SMS_MAX_FREQUENCY: '0' }
    const server = await buildWithSms(t, { env: limits })
    const { user } = await phoneUser(server)
    for (let i = 0; i < 5; i++) {
      const { statusCode } = await call(server.app, '/otp', { phone: newNumber() })
      assert.equal(statusCode, 200)
    }
    const send = () => call(server.app, '/otp', { phone: user.phone })
    assert.match(await codeAfter(server, user.phone, send), /^\d{6}$/)
  })
})
