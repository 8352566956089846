/** The identity decides before its email; internationalized hosts are stored in ASCII. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type ProviderName, unverifiedProfile, verifiedProfile } from '../../support/external.ts'
import { nextId } from '../../support/linking.ts'
import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedExternalServers, sharedServers } from '../../support/processes/shared-servers.ts'
import { call, verify } from '../../support/requests.ts'
import { confirmedUser, password, signIn } from '../../support/users.ts'

const host = 'xn--mller-kva.example'
let count = 0
/** One email as providers write it, as the test mail server shows it and as it is stored. */
const nextIdn = () => {
  const name = `ann-x${++count}`
  return {
    written: `${name}@Müller.example`,
    shown: `${name}@müller.example`,
    stored: `${name}@${host}`,
  }
}

suite('GET /callback: a known identity', () => {
  const servers = sharedExternalServers()

  for (const provider of ['github', 'gitlab'] satisfies ProviderName[]) {
    test(`signs in when ${provider} omits the email and keeps the stored one`, async () => {
      const server = await servers()
      const who = verifiedProfile(`known-${provider}@ex.test`, nextId())
      assert.ok((await server.signInWith(provider, who)).fragment.access_token)
      const before = await server.findUserBy({ provider, id: who.id })

      const { fragment, query } = await server.signInWith(provider, { ...who, emails: [] })

      assert.ok(fragment.access_token, JSON.stringify(query))
      const after = await server.findUserBy({ provider, id: who.id })
      const [identity] = after?.identities ?? []
      assert.equal(after?.id, before?.id)
      assert.equal(identity?.identity_data.email, who.emails[0]?.email)
      assert.equal(identity?.identity_data.email_verified, true)
      assert.equal(after?.raw_user_meta_data?.email_verified, true)
      assert.equal(after?.email, who.emails[0]?.email)
    })
  }

  test('rejects a new identity without an email', async () => {
    const server = await servers()
    const { query } = await server.signInWith('github', { id: nextId(), emails: [] })
    assert.equal(query.error_code, 'unexpected_failure')
    assert.match(query.error_description ?? '', /returned no usable email address/)
  })
})

suite('emails with an internationalized host', () => {
  const servers = sharedServers()
  const external = sharedExternalServers()

  test('create an account when verified, and are stored in ASCII', async () => {
    const server = await external()
    const { written, stored } = nextIdn()
    const who = verifiedProfile(written, nextId())
    const { fragment, query } = await server.signInWith('github', who)
    assert.ok(fragment.access_token, JSON.stringify(query))
    const user = await server.findUserBy({ provider: 'github', id: who.id })
    assert.equal(user?.email, stored)
    assert.ok(user?.email_confirmed_at)
    assert.equal(user?.identities[0]?.identity_data.email, stored)
  })

  test('link to the account that signed up with the same email', async () => {
    const server = await external()
    const { written, shown, stored } = nextIdn()
    const { user } = await confirmedUser(server, shown)
    assert.equal(user.email, stored)
    const who = verifiedProfile(written, nextId())
    await server.signInWith('github', who)
    assert.equal((await server.findUserBy({ provider: 'github', id: who.id }))?.id, user.id)
  })

  test('link to no account when the provider did not verify them', async () => {
    const server = await external()
    const { written, shown } = nextIdn()
    await confirmedUser(server, shown)
    const { query } = await server.signInWith('github', unverifiedProfile(written, nextId()))
    assert.equal(query.error_code, 'provider_email_needs_verification')
  })

  test('can sign up, receive emails in ASCII and sign in with each spelling', async () => {
    const server = await servers()
    const { written, shown, stored } = nextIdn()
    const message = await emailAfter(server, shown, () =>
      call(server.app, '/signup', { email: written, password }),
    )
    assert.match(message.raw, new RegExp(`^To: <?${stored}>?\\r$`, 'm'))
    const verification = { type: 'signup', email: written, token: codeIn(message) }
    assert.equal((await verify(server.app, verification)).statusCode, 200)
    for (const email of [stored, written, shown.toUpperCase()]) {
      assert.equal((await signIn(server.app, { email })).statusCode, 200, email)
    }
  })

  test('are rejected when the host name is invalid', async () => {
    const { app } = await servers()
    for (const email of [
      'ann@x\u200dy.example',
      'ann@ü..example',
      `ann@${'ü'.repeat(70)}.example`,
    ]) {
      const response = await call(app, '/signup', { email, password })
      assert.equal(response.json().msg, 'Unable to validate email address: invalid format', email)
    }
  })
})

suite('emails with an internationalized local part', () => {
  const external = sharedExternalServers()

  test('create an account when verified', async () => {
    const server = await external()
    for (const address of ['jürgen@ex.test', 'Ünal@ex.test', 'юра@ex.test', 'ju\u0308rg@ex.test']) {
      const who = verifiedProfile(address, nextId())
      const { fragment, query } = await server.signInWith('github', who)
      assert.ok(fragment.access_token, `${address}: ${JSON.stringify(query)}`)
      const user = await server.findUserBy({ provider: 'github', id: who.id })
      assert.equal(user?.email, address.normalize('NFC').toLowerCase())
    }
  })

  test('count as unverified when their letters fold into ASCII', async () => {
    const server = await external()
    const { user } = await confirmedUser(server, 'kim-fi@ex.test')
    for (const address of ['\u212aim-fi@ex.test', 'kim-\ufb01@ex.test', '\uff4bim-fi@ex.test']) {
      const who = verifiedProfile(address, nextId())
      const { query } = await server.signInWith('github', who)
      assert.equal(query.error_code, 'provider_email_needs_verification', address)
      assert.equal(await server.findUserBy({ provider: 'github', id: who.id }), undefined)
    }
    assert.equal(user.identities?.length, 1)
  })
})
